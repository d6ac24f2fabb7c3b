"""The penalty on entropy: its value and its gradient, against the formula written out for autograd."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from bertviz_core.errors import SettingsError
from training.model import HIDDEN_SCORE, written_out_attention
from training.penalty import EntropyPenalty

BATCH, HEADS, LENGTH, SIZE = 2, 3, 7, 4
REAL = torch.tensor([[True] * LENGTH, [True] * 4 + [False] * 3])
PENALTY = EntropyPenalty((0.0, 0.5), low=1.2, high=1.5)


def literal(scores: Tensor, weight: float, low: float, high: float) -> Tensor:
    """The mean, over heads and real queries, of the distance of -sum p log p from the band: one query at a time."""
    distances = []
    for b in range(BATCH):
        for h in range(HEADS):
            for q in range(LENGTH):
                if not REAL[b, q]:
                    continue
                row = scores[b, h, q][REAL[b]]
                p = row.exp() / row.exp().sum()
                entropy = -sum(x * torch.log(x) for x in p)
                if entropy > high:
                    distances.append(entropy - high)
                elif entropy < low:
                    distances.append(low - entropy)
                else:
                    distances.append(entropy * 0)
    return weight * torch.stack(distances).mean()


def scores(kind: torch.dtype = torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return (torch.randn(BATCH, HEADS, LENGTH, LENGTH, dtype=torch.float64, generator=generator) * 1.2).to(kind)


def hidden(kind: torch.dtype = torch.float64) -> Tensor:
    return torch.where(REAL, 0.0, HIDDEN_SCORE).to(kind)[:, None, None]


@pytest.mark.parametrize("band", [(1.2, 1.5), (0.0, 0.3), (1.9, 2.0), (0.0, 9.0)])
def test_value_and_gradient_are_those_of_the_formula(band: tuple[float, float]) -> None:
    theirs = scores().requires_grad_()
    expected = literal(theirs, 0.5, *band)
    expected.backward()
    ours = scores().requires_grad_()
    found = EntropyPenalty((0.0, 0.5), *band).term(1, (ours + hidden()).softmax(-1), REAL)
    found.backward()
    assert found.item() == pytest.approx(expected.item(), rel=1e-6)
    assert theirs.grad is not None
    assert ours.grad is not None
    torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-9, rtol=1e-6)
    assert bool(ours.grad.any()) == (band != (0.0, 9.0))


def test_both_sides_of_the_band_are_at_work() -> None:
    attention = (scores() + hidden()).softmax(-1)
    both = PENALTY.term(1, attention, REAL)
    above = EntropyPenalty((0.0, 0.5), 0.0, PENALTY.high).term(1, attention, REAL)
    below = EntropyPenalty((0.0, 0.5), PENALTY.low, math.inf).term(1, attention, REAL)
    assert above > 0
    assert below > 0
    torch.testing.assert_close(both, above + below)


def test_bfloat16_comes_close() -> None:
    exact, rough = scores().requires_grad_(), scores(torch.bfloat16).requires_grad_()
    PENALTY.term(1, (exact + hidden()).softmax(-1), REAL).backward()
    PENALTY.term(1, (rough + hidden(torch.bfloat16)).softmax(-1), REAL).backward()
    assert exact.grad is not None
    assert rough.grad is not None
    cosine = torch.nn.functional.cosine_similarity(exact.grad.flatten(), rough.grad.double().flatten(), dim=0)
    assert cosine > 0.99


def test_attention_hands_its_layers_to_the_penalty_in_order() -> None:
    generator = torch.Generator().manual_seed(2)
    query, key, value = (torch.randn(BATCH, HEADS, LENGTH, SIZE, generator=generator) for _ in range(3))
    terms: list[Tensor] = []
    for _ in range(2):
        written_out_attention(
            torch.nn.Module(), query, key, value, hidden(torch.float32), 0.5, penalty=PENALTY, terms=terms
        )
    expected = literal((query * 0.5) @ key.transpose(2, 3), 0.5, PENALTY.low, PENALTY.high)
    assert terms[0] == 0
    assert terms[1].item() == pytest.approx(expected.item(), rel=1e-5)


def test_a_band_or_weights_that_do_not_fit_are_refused() -> None:
    with pytest.raises(SettingsError, match="2 weights, the model has 3"):
        PENALTY.check(3)
    with pytest.raises(SettingsError, match="no band"):
        EntropyPenalty((0.0, 0.5), 2.0, 1.0).check(2)
