"""`attention`: the attention lines of one input, to be looked at in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from bertviz_core.exports import input_svg, write_bytes
from bertviz_core.heads import Head, all_heads
from bertviz_core.library.analyze import Model, checkpoint_of, lent
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.loading import LoadedModels
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import attention as maps_of
from bertviz_core.models.single_input import from_text
from bertviz_core.settings import Settings
from bertviz_core.viewer.lines_page import MIN_WEIGHT, in_frame, lines_html
from bertviz_core.viewer.view import InputAttention, View, look


@dataclass(frozen=True, slots=True)
class AttentionLines:
    """Attention of every head on one input; in a notebook's cell, lines to hover over and to pin.

    Attributes:
        attention: Labels and weights.
        head: The one that is shown first.
        heads: Heads that can be chosen.
        model: Name of the model.
        caption: What was computed, and what did not fit.
    """

    attention: InputAttention
    head: Head
    heads: tuple[Head, ...]
    model: str
    caption: str

    @property
    def tokens(self) -> tuple[str, ...]:
        """Labels of the tokens or words that attend."""
        return self.attention.queries.labels

    @property
    def weights(self) -> np.ndarray:
        """(layer, head, query, key) float32."""
        return self.attention.weights

    def to_html(self, path: str | Path | None = None) -> str:
        """The interactive lines as an HTML page that needs no network; also written to `path` where it is given."""
        page = lines_html(self.attention, self.heads, self.head, model=self.model, caption=self.caption)
        if path is not None:
            write_bytes(Path(path), page.encode())
        return page

    def to_svg(self, path: str | Path | None = None, head: str | None = None) -> str:
        """The lines of one head, as "3-5" counted from 1, as an SVG drawing; also written to `path`. Raises
        BertvizError without kaleido."""
        shown = Head.parse(head) if head else self.head
        shown.check(*self.weights.shape[:2])
        drawing = input_svg(self.attention, shown, self.model, MIN_WEIGHT)
        if path is not None:
            write_bytes(Path(path), drawing)
        return drawing.decode()

    def _repr_html_(self) -> str:
        return in_frame(self.to_html(), self.attention)


def attention(
    model: Model,
    text: str | Sequence[str],
    second: str = "",
    *,
    head: str | None = None,
    heads: Sequence[str] | None = None,
    words: bool = False,
    special: bool = True,
    max_length: int = 128,
    device: str = "auto",
    dtype: str = "float32",
) -> AttentionLines:
    """Run a model on one input and show its attention.

    Args:
        model: "demo", a folder, a hub name, or a pair `(model, tokenizer)` of transformers objects, left unchanged.
        text: A sentence, or its words.
        second: Another text, as segment B.
        head: The one that is shown first, as "3-5", counted from 1; None for the one that attends most to the previous
            token.
        heads: Heads that can be chosen; all where it is None.
        words: Whether wordpieces are joined to words.
        special: Whether special tokens, such as [CLS] and [SEP], are shown; without them the other weights sum to 1.
        max_length: Maximum tokens, special ones included; the rest of the text is cut off.
        device: "auto", "cpu" or "cuda".
        dtype: "float32" or "bfloat16".

    Raises:
        BertvizError: The model or the text cannot be used; the message says what to do.

    Examples:
        >>> import bertviz_core as bv
        >>> bv.attention("demo", "The cat sat on the mat.", head="3-5").tokens[:3]
        ('[CLS]', 'the', 'cat')
    """
    checkpoint = checkpoint_of(model)
    settings = Settings(max_length=min(max_length, checkpoint.max_length or max_length), dtype=dtype)
    settings.check(checkpoint.max_length)
    with _loaded(model, checkpoint, device, dtype) as loaded:
        has_words = not isinstance(text, str)
        single = from_text(
            " ".join(text) if has_words else str(text), second, loaded.tokens, settings, pre_split=has_words
        )
        shown = look(single.layout, maps_of(loaded, single.example), View(words=words, special=special))
    first, offered = _heads(shown, head, heads)
    cut = f" {single.cut:,} tokens at the end did not fit." if single.cut else ""
    caption = f"{checkpoint.name}; weights from left to right sum to 1. Layers and heads count from 1.{cut}"
    return AttentionLines(shown, first, offered, checkpoint.name, caption)


def _heads(attention: InputAttention, head: str | None, heads: Sequence[str] | None) -> tuple[Head, tuple[Head, ...]]:
    """The head that is shown first, and those that can be chosen, among them the first."""
    shape = attention.weights.shape[:2]
    offered = tuple(Head.parse(label) for label in heads) if heads else tuple(all_heads(*shape))
    first = Head.parse(head) if head else _to_previous(attention, offered)
    for chosen in (*offered, first):
        chosen.check(*shape)
    return first, offered if first in offered else (*offered, first)


def _loaded(model: Model, checkpoint: Checkpoint, device: str, dtype: str) -> AbstractContextManager[AttentionModel]:
    if isinstance(model, str | Path):
        return nullcontext(_models(device).get(checkpoint, dtype))
    return lent(model, checkpoint, device, dtype)


@cache
def _models(device: str) -> LoadedModels:
    """Models that stay loaded between two calls."""
    return LoadedModels(device=device)


def _to_previous(attention: InputAttention, heads: Sequence[Head]) -> Head:
    """The head that puts most of its attention on the previous token."""
    means = np.diagonal(attention.weights, -1, -2, -1).sum(-1)  # (layer, head)
    return max(heads, key=lambda head: float(means[head.layer, head.head]))
