"""Batches and attention made of nothing but random numbers, as a layer would show them."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import numpy as np
import torch
from hypothesis import strategies as st

from bertviz_core.inputs.encoding import Batch, Encoded, collate
from bertviz_core.models.attention import LayerAttention

IDS = {"cls": 1, "sep": 2, "punct": 3, "other": 4}
KINDS = {number: kind for kind, number in IDS.items()}
TOKENS = SimpleNamespace(pad=0, cls=1, sep=2, punctuation=np.array([3]), structural=np.array([1, 2]))

segment_kinds = st.lists(st.sampled_from(list(IDS)), min_size=1, max_size=9)
corpora = st.lists(segment_kinds, min_size=1, max_size=8)


def encode(number: int, kinds: list[str]) -> Encoded:
    ids = np.array([IDS[kind] for kind in kinds], dtype=np.int64)
    return Encoded(number, f"line {number + 1}", ids, np.zeros(len(ids), dtype=np.int64))


def numbered(numbers: Sequence[int], documents: Sequence[int]) -> Batch:
    """A batch of which only the numbers of its segments and of their documents are known."""
    examples = [SimpleNamespace(number=n, document_number=d) for n, d in zip(numbers, documents, strict=True)]
    return cast(Batch, SimpleNamespace(examples=examples, numbers=torch.tensor(numbers)))


def scores(number: int, n: int, layers: int = 1, heads: int = 2, scale: float = 3.0) -> np.ndarray:
    """(layer, head, query, key) float32 logits, the same for a number wherever and with whomever it is batched."""
    rng = np.random.default_rng(number)
    return (rng.standard_normal((layers, heads, n, n)) * scale).astype(np.float32)


def show(
    examples: list[Encoded],
    logits: list[np.ndarray],
    layer: int = 0,
    causal: bool = False,
    pad: int = 0,
    full: bool = True,
) -> tuple[Batch, LayerAttention]:
    """The batch and the layer's attention: padding keys hold 0, padding queries whole distributions of noise.

    pad: more columns than the longest example needs.   full: logits are shown too.
    """
    batch = collate(examples, TOKENS, "cpu")
    if pad:
        grown = {name: torch.nn.functional.pad(getattr(batch, name), (0, pad)) for name in MASKS}
        batch = Batch(batch.examples, **grown)
    width, heads = batch.ids.shape[1], logits[0].shape[1]
    seen = torch.randn(len(examples), heads, width, width, generator=torch.Generator().manual_seed(width))
    for row, one in enumerate(logits):
        n = one.shape[-1]
        seen[row, :, :n, :n] = torch.from_numpy(one[layer])
    hidden = ~batch.mask[:, None, None, :].expand_as(seen)
    if causal:
        hidden = hidden | torch.ones(width, width, dtype=torch.bool).triu(1)
    seen = seen + hidden * torch.finfo(torch.float32).min
    return batch, LayerAttention(layer, seen.softmax(-1), seen if full else None, causal)


def literal(logits: np.ndarray, causal: bool = False) -> np.ndarray:
    """(layer, head, query, key) float64 softmax of one example alone."""
    seen = logits.astype(np.float64)
    if causal:
        seen = np.where(np.triu(np.ones(seen.shape[-2:], dtype=bool), 1), -np.inf, seen)
    powers = np.exp(seen - seen.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


MASKS = ("ids", "types", "mask", "cls", "sep", "punctuation", "special")
