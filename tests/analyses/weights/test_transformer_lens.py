"""Compositions and eigenvalues are those of TransformerLens; skipped where it is not installed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run.compute import compute
from bertviz_core.analyses.weights.result import HeadWeights
from bertviz_core.corpora.files import sample
from bertviz_core.models import checkpoint
from bertviz_core.settings import Execution, Settings
from tests.support import predicting

SETTINGS = Settings(max_length=30, limit=25)


def hooked(family: str, folder: Path) -> Any:
    """The same model in TransformerLens, its norms folded and its matrices centered, as it does by default; the biases
    of values stay with the heads."""
    bridges = pytest.importorskip("transformer_lens.model_bridge")
    model, tokenizer = predicting.eager(family, folder).float(), transformers.AutoTokenizer.from_pretrained(folder)
    name = {"gpt2": "gpt2", "llama": "meta-llama/Llama-3.2-1B"}[family]
    found = bridges.TransformerBridge.boot_transformers(name, hf_model=model, tokenizer=tokenizer, device="cpu")
    found.enable_compatibility_mode(disable_warnings=True, fold_value_biases=False)
    return found


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_compositions_and_eigenvalues_are_those_of_its_factored_matrices(family: str, tmp_path: Path) -> None:
    folder = predicting.save(family, tmp_path)
    model = hooked(family, folder)
    request = Request("weights", checkpoint.find_checkpoint(str(folder)), sample("vocabulary"), SETTINGS)
    result = compute(request, None, Execution("cpu"))
    assert isinstance(result, HeadWeights)
    for part, mode in (("query", "Q"), ("key", "K"), ("value", "V")):
        path = next(each for each in result.paths if each.partition("_")[0] == part)
        scores = model.all_composition_scores(mode).scores[0, :, 1].T.detach().numpy()  # of offset 0
        np.testing.assert_allclose(result.composition[result.paths.index(path), 1, :, 0], scores, atol=1e-5)
    values = (model.W_E @ model.OV @ model.W_U).eigenvalues.detach()
    shares = (values.sum(-1).real / values.abs().sum(-1)).numpy()
    np.testing.assert_allclose(result.eigenvalues, shares, atol=1e-4)
