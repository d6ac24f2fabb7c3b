"""Attention within repeated sequences of random tokens."""

from pathlib import Path

import numpy as np
import pytest
from transformers import AutoModel

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.induction.result import CONTROL_QUANTITY, KINDS, Induction
from bertviz_core.analyses.run.compute import compute
from bertviz_core.corpora.files import sample
from bertviz_core.errors import SettingsError
from bertviz_core.inputs.segments import RandomSequences
from bertviz_core.models import checkpoint
from bertviz_core.models.loading import load_tokens
from bertviz_core.settings import Execution, Settings
from tests.oracles import induction as oracle
from tests.support import families

SETTINGS = Settings(max_length=30, limit=12, seed=3)


def computed(folder: Path, settings: Settings = SETTINGS) -> Induction:
    request = Request("induction", checkpoint.find_checkpoint(str(folder)), sample("random"), settings)
    return compute(request, None, Execution("cpu"))


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama"])
def test_equals_loops_over_the_maps_of_each_input(family: str, tmp_path: Path) -> None:
    folder = families.save(families.FAMILIES[family], tmp_path)
    result = computed(folder)
    eager = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokens = load_tokens(checkpoint.find_checkpoint(str(folder)))
    found: dict[bool, list[np.ndarray]] = {True: [], False: []}
    before, after = map(len, tokens.single)
    n = (30 - before - after) // 2
    for example in RandomSequences(sample("random"), tokens, SETTINGS):
        ids = example.ids.tolist()
        inside = ids[before : before + 2 * n]
        repeated = inside[:n] == inside[n:]
        assert len(set(inside)) == (n if repeated else 2 * n)
        found[repeated].append(oracle.of_input(eager, ids, before, n))
    assert result.length == n and result.segments[0] == len(found[True]) == len(found[False]) == 6
    for repeated, form in ((True, "{}"), (False, CONTROL_QUANTITY)):
        for name, values in zip(KINDS, np.mean(found[repeated], axis=0), strict=True):
            np.testing.assert_allclose(result[form.format(name)], values, atol=1e-6)


def test_inputs_too_short_for_a_repetition_are_refused(tmp_path: Path) -> None:
    tokens = load_tokens(checkpoint.find_checkpoint(str(families.save(families.FAMILIES["bert"], tmp_path))))
    with pytest.raises(SettingsError, match="too short"):
        RandomSequences(sample("random"), tokens, Settings(max_length=7))
