"""Attention within repeated sequences of random tokens."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoModelForCausalLM

from bertviz_core.analyses.base.findings import ABSENT, NOT_SHOWN, SHOWN, UNDECIDED
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.table_blocks import Table
from bertviz_core.analyses.induction.measure import measure
from bertviz_core.analyses.induction.result import CONTROL_QUANTITY, KINDS, Induction
from bertviz_core.analyses.run.compute import compute
from bertviz_core.corpora.files import sample
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head
from bertviz_core.inputs.encoding import Encoded, collate
from bertviz_core.inputs.segments import RandomSequences
from bertviz_core.models import checkpoint
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.checkpoint import DEMO_DECODER, find_checkpoint
from bertviz_core.models.loading import load_tokens
from bertviz_core.published import Paper, PublishedHead
from bertviz_core.settings import Execution, Settings
from tests.oracles import induction as oracle
from tests.support import families, maps, shipped

SETTINGS = Settings(max_length=30, limit=12, seed=3)


def computed(folder: Path, settings: Settings = SETTINGS) -> Induction:
    request = Request("induction", checkpoint.find_checkpoint(str(folder)), sample("random"), settings)
    return compute(request, None, Execution("cpu"))


@pytest.mark.parametrize("second", [(5, 6, 7), (8, 9, 10)])
def test_worked_example(second: tuple[int, ...]) -> None:
    """[CLS] x y z x y z [SEP], positions 0 to 7: the rows of the second half are 4, 5 and 6. A head gives

        from 4, x:  0.1 to 1 (the first x),  0.6 to 2 (y, which followed it),  0.3 to 3 (the token before)
        from 5, y:  0.2 to 2,                0.5 to 3,                         0.3 to 4
        from 6, z:  0.1 to 3,                0.4 to 4,                         0.5 to 5

    Prefix matching, to what followed the first occurrence, is (0.6 + 0.5 + 0.4) / 3 = 0.5, the duplicate token
    (0.1 + 0.2 + 0.1) / 3 = 0.4 / 3, the previous token (0.3 + 0.3 + 0.5) / 3 = 1.1 / 3. Where another sequence follows
    the first one the same means are those of the controls.
    """
    ids = np.array([1, 5, 6, 7, *second, 2], dtype=np.int64)
    example = Encoded(0, "sequence 1", ids, np.zeros_like(ids), np.array([-1, 0, 1, 2, 0, 1, 2, -1]))
    weights = torch.zeros(8, 8)
    for row, values in ((4, (0.1, 0.6, 0.3)), (5, (0.2, 0.5, 0.3)), (6, (0.1, 0.4, 0.5))):
        weights[row, row - 3 : row] = torch.tensor(values)
    batch = collate([example], maps.TOKENS, "cpu")
    values = measure(batch, LayerAttention(0, weights[None, None], None, False))[0, 0].tolist()
    means, absent = [0.5, 0.4 / 3, 1.1 / 3], [np.nan] * 3
    expected = [*means, *absent] if second == (5, 6, 7) else [*absent, *means]
    assert values == pytest.approx(expected, nan_ok=True)


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


def test_losses_equal_loops_over_both_copies_of_each_input() -> None:
    found = find_checkpoint(DEMO_DECODER)
    result = compute(Request("induction", found, sample("random"), SETTINGS), None, Execution("cpu", batch_tokens=90))
    eager = AutoModelForCausalLM.from_pretrained(found.folder, dtype=torch.float32).eval()
    inputs = list(RandomSequences(sample("random"), load_tokens(found), SETTINGS))
    losses = np.array([oracle.losses_of_input(eager, each.ids.tolist(), 1, 14) for each in inputs[::2]])
    np.testing.assert_allclose(result.copy_losses, losses.mean(0), atol=1e-4)
    savings = losses[:, 0].mean(1) - losses[:, 1].mean(1)
    assert result.saving_error == pytest.approx(savings.std(ddof=1) / len(savings) ** 0.5, abs=1e-5)
    again = Induction.from_bytes(result.to_bytes())
    assert again.losses == result.losses and again.losses == pytest.approx(losses.mean((0, 2)), abs=1e-4)


def test_a_model_without_the_head_that_predicts_has_no_losses(tmp_path: Path) -> None:
    result = computed(families.save(families.FAMILIES["gpt2"], tmp_path))
    assert not result.has_losses
    (finding,) = (each for each in ANALYSES["induction"].findings(result) if each.id == "induction.copies")
    assert finding.state == ABSENT


@pytest.mark.parametrize(("saving", "state"), [(2.0, SHOWN), (0.5, NOT_SHOWN), (-2.0, NOT_SHOWN)])
def test_the_second_copy_is_cheaper_by_a_nat_or_it_is_not_shown(saving: float, state: str) -> None:
    """Losses of 8 and 10 nats in the first copy, mean 9; the second costs `saving` less, the error is 0.01."""
    first = np.array([8.0, 10.0])
    result = replace(
        shipped.result("induction"), copy_losses=np.stack([first, first - saving]), saving_error=0.01, length=3
    )
    (finding,) = (each for each in ANALYSES["induction"].findings(result) if each.id == "induction.copies")
    assert finding.state == state
    assert f"{abs(saving):.3f} ± 0.020 nats {'less' if saving > 0 else 'more'}" in finding.sentence


def test_the_loss_of_a_single_sequence_has_no_interval() -> None:
    request = Request("induction", find_checkpoint(DEMO_DECODER), sample("random"), replace(SETTINGS, limit=1))
    result = compute(request, None, Execution("cpu"))
    assert result.saving_text.replace(".", "").split()[0].isdecimal() and "±" not in result.saving_text
    (finding,) = (each for each in ANALYSES["induction"].findings(result) if each.id == "induction.copies")
    assert finding.state == UNDECIDED and "nan" not in finding.sentence


def test_inputs_too_short_for_a_repetition_are_refused(tmp_path: Path) -> None:
    tokens = load_tokens(checkpoint.find_checkpoint(str(families.save(families.FAMILIES["bert"], tmp_path))))
    with pytest.raises(SettingsError, match="too short"):
        RandomSequences(sample("random"), tokens, Settings(max_length=7))


def test_published_heads_stand_beside_those_of_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result = computed(families.save(families.FAMILIES["gpt2"], tmp_path))
    analysis = ANALYSES["induction"]
    assert not [block for block in analysis.shown(result) if getattr(block, "name", "") == "published"]
    row = PublishedHead(
        Head(1, 0), "induction", Paper("Ada et al. 2020", "Heads", "https://example.org"), "induction.prefix", 0.9
    )
    monkeypatch.setattr("bertviz_core.analyses.induction.analysis.published_heads", lambda model: (row,))
    (table,) = [block for block in analysis.shown(result) if getattr(block, "name", "") == "published"]
    assert isinstance(table, Table)
    assert table.table.loc[0, ["head", "published"]].tolist() == ["2-1", 0.9]
    assert table.table.loc[0, "here"] == result["prefix"][1, 0]
