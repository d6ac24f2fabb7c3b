"""What heads add to the logit of the next token is what TransformerLens decomposes it into; skipped where it is not
installed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.next_token.result import NextToken
from bertviz_core.analyses.run.compute import compute
from bertviz_core.corpora.source import from_bytes
from bertviz_core.inputs.segments import Segments
from bertviz_core.settings import Execution
from tests.analyses.next_token.test_measure import perturbed
from tests.analyses.weights.test_transformer_lens import hooked
from tests.support import predicting
from tests.support.predicting import SETTINGS, TEXT

SOURCE = from_bytes(TEXT.encode(), "text.txt")


def attribution(model: Any, ids: torch.Tensor) -> tuple[np.ndarray, float]:
    """The mean over predictions of (layer, head) contributions and of the logit, above the vocabulary's mean, from the
    cache of one input, (token,) ids: its norms are folded and its unembedding centered over words."""
    logits, cache = model.run_with_cache(ids[None])
    results = cache.stack_head_results(apply_ln=True, pos_slice=(0, len(ids) - 1))[:, 0]  # (head, token, width)
    words = model.W_U - model.W_U.mean(-1, keepdim=True)
    added = torch.einsum("htw,wt->h", results, words[:, ids[1:]]) / (len(ids) - 1)
    own = logits[0, :-1].gather(-1, ids[1:, None])[:, 0]
    return added.reshape(model.cfg.n_layers, -1).numpy(), float((own - logits[0, :-1].mean(-1)).mean())


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_contributions_are_those_of_its_cache(family: str, tmp_path: Path) -> None:
    folder = perturbed(predicting.save(family, tmp_path))
    model = predicting.load(folder)
    request = Request("next_token", model.checkpoint, SOURCE, SETTINGS)
    result = compute(request, None, Execution("cpu"), model=model)
    assert isinstance(result, NextToken)
    inputs = [torch.from_numpy(each.ids) for each in Segments(SOURCE, model.tokens, SETTINGS) if len(each) > 1]
    taken_apart = hooked(family, folder)
    with torch.no_grad():
        found = [attribution(taken_apart, ids) for ids in inputs]
    np.testing.assert_allclose(result["to_next_token"], np.mean([heads for heads, _ in found], 0), atol=1e-4)
    assert result.logit == pytest.approx(np.mean([logit for _, logit in found]), rel=1e-3)
