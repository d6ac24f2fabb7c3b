"""What heads add to the logit of the next token, against the library's own model taken apart with loops."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.next_token.measure import measure
from bertviz_core.analyses.run.compute import compute, passes
from bertviz_core.corpora.source import from_bytes
from bertviz_core.errors import ModelError
from bertviz_core.inputs.segments import Segments
from bertviz_core.models.residual import FrozenNorm, ResidualStream, Written
from bertviz_core.settings import Execution
from tests.oracles import uncertainty
from tests.oracles.next_token import FAMILIES, Literal
from tests.support import predicting
from tests.support.predicting import SETTINGS, TEXT

SOURCE = from_bytes(TEXT.encode(), "text.txt")


def test_worked_example():
    """One layer with one head of width 2, an RMS norm with gain 1, and three words, u = (1, 0), (0, 2), (-1, 1), with
    the mean (0, 1). The input is word 0, word 1, word 2; at its first token the head writes (2, 0) and the stream is
    (3, 4), at its second (0, 4) and (0, 5). So sigma is sqrt((9 + 16) / 2) = 3.536, then sqrt((0 + 25) / 2) = 3.536.

    The head adds (2, 0) . ((0, 2) - (0, 1)) / 3.536 = 0 to the logit of word 1, and
    (0, 4) . ((-1, 1) - (0, 1)) / 3.536 = 0 to that of word 2, whose logits are 4 / 3.536 = 1.131 and 0. With (1, 1)
    instead of (2, 0) it adds 1 / 3.536 = 0.283 to the first: the mean over predictions is (0.283 + 0) / 2 = 0.141.
    """
    norm = torch.nn.RMSNorm(2, eps=1e-6)
    stream = ResidualStream(
        first=norm,
        projections=(norm,),
        matrices=(torch.eye(2),),
        offsets=(torch.zeros(2),),
        norms={},
        mlps=(),
        final=FrozenNorm.of(norm, torch.zeros(2)),
        unembedding=torch.tensor([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]]),
        unembedding_bias=torch.zeros(3),
        mean=torch.tensor([0.0, 1.0]),
        heads=1,
    )
    states = torch.tensor([[[3.0, 4.0], [0.0, 5.0], [1.0, 1.0]]])
    batch = SimpleNamespace(ids=torch.tensor([[0, 1, 2]]), examples=[[0, 1, 2]])
    for head, expected in (([2.0, 0.0], 0.0), ([1.0, 1.0], 0.141)):
        heads = torch.tensor([[head, [0.0, 4.0], [9.0, 9.0]]])
        with torch.no_grad():
            values = measure(batch, Written(heads=[heads], final=(states, norm(states))), stream)
        assert values[0, 0, 0].tolist() == pytest.approx([expected, 1.131 / 2], abs=1e-3)


def perturbed(folder):
    """The model with gains and biases that are not 1 and 0, as it is after a training."""
    import safetensors.torch

    path = folder / "model.safetensors"
    weights = safetensors.torch.load_file(path)
    generator = torch.Generator().manual_seed(3)
    for name, weight in weights.items():
        if weight.dim() == 1:
            weights[name] = weight + 0.3 * torch.randn(weight.shape, generator=generator)
    safetensors.torch.save_file(weights, path, {"format": "pt"})
    return folder


@pytest.mark.parametrize("family", FAMILIES)
def test_equals_the_formula_word_for_word(family, tmp_path):
    model = predicting.load(perturbed(predicting.save(family, tmp_path)))
    literal = Literal(family, predicting.eager(family, tmp_path))
    documents: dict[int, list] = {}
    for segment in Segments(SOURCE, model.tokens, SETTINGS):
        if len(segment) > 1:
            documents.setdefault(segment.document_number, []).append(literal.to_next(segment.ids.tolist()))
    every = [each for found in documents.values() for each in found]
    request = Request("next_token", model.checkpoint, SOURCE, SETTINGS)
    for batch_tokens in (1, 40, 512):
        result = compute(request, None, Execution("cpu", batch_tokens), model=model)
        expected = np.mean([heads for heads, _ in every], axis=0)
        np.testing.assert_allclose(result["to_next_token"], expected, atol=2e-5, rtol=1e-4)
        assert result.logit == pytest.approx(np.mean([logit for _, logit in every]), rel=1e-4)
    of_head = [[heads[0, 1] for heads, _ in found] for found in documents.values()]
    _, error, effective = uncertainty.by_document(of_head)
    half = uncertainty.t_quantile(effective - 1) * error
    assert result.interval("to_next_token")[0, 1] == pytest.approx(half, rel=1e-3)


def test_shares_the_pass_of_surface_patterns(tmp_path):
    model = predicting.load(predicting.save("gpt2", tmp_path))
    requests = [Request(name, model.checkpoint, SOURCE, SETTINGS) for name in ("surface_patterns", "next_token")]
    assert passes(requests) == [requests]


def test_an_encoder_is_refused_in_a_sentence(masked):
    request = Request("next_token", masked.checkpoint, SOURCE, SETTINGS)
    with pytest.raises(ModelError, match="was not saved with a head that predicts the next word"):
        compute(request, None, model=masked)
