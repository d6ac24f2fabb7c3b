"""The first items of a corpus with every head's guess, and their documents: what a page draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bertviz_core.corpora.coreference.head_words import TYPES, mention_type

if TYPE_CHECKING:
    from torch import Tensor

    from bertviz_core.analyses.coreference_heads.guesses import Questions
    from bertviz_core.models.windows import Window

KEPT = 1000  # items: about 0.4 MB for 48 heads
NO_GUESS = np.iinfo(np.uint16).max


@dataclass(frozen=True, slots=True)
class Guess:
    """A mention, the mention guessed for it (places in the document's list), the attention, and whether it is right."""

    mention: int
    guessed: int
    weight: float
    right: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """The guesses of one batch among the preceding mentions.

    rows: (batch, item) bool, which items are kept.   numbers: (kept,) their places in the corpus.
    mention: (kept, word) the mention that each word of the window heads.
    guess, weight: (layer, direction, head, kept) the guessed mention in its document, and the attention to it.
    """

    rows: np.ndarray
    numbers: np.ndarray
    mention: np.ndarray
    guess: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, items: Questions, layers: int, heads: int) -> Self:
        rows = (items.numbers >= 0) & (items.numbers < KEPT)
        shape = (layers, 2, heads, int(rows.sum()))
        guess, weight = np.full(shape, NO_GUESS, dtype=np.uint16), np.zeros(shape, dtype=np.float16)
        return cls(rows, items.numbers[rows], items.mention[rows], guess, weight)

    def take(self, layer: int, guess: Tensor, weight: Tensor) -> None:
        """One layer's guesses (batch, direction, head, item): words of the window."""
        batch, item = np.nonzero(self.rows)
        words = guess.cpu().numpy()[batch, :, :, item]  # (kept, direction, head)
        mentions = self.mention[np.arange(len(batch))[:, None, None], words]
        self.guess[layer] = np.minimum(mentions, NO_GUESS).transpose(1, 2, 0)
        self.weight[layer] = weight.cpu().numpy()[batch, :, :, item].transpose(1, 2, 0)

    @staticmethod
    def joined(parts: list[Kept], count: int) -> tuple[np.ndarray, np.ndarray]:
        """(direction, layer, head, item) guesses and weights of the corpus's first `count` items."""
        layers, directions, heads, _ = parts[0].guess.shape
        guess = np.full((directions, layers, heads, count), NO_GUESS, dtype=np.uint16)
        weight = np.zeros(guess.shape, dtype=np.float16)
        for part in parts:
            guess[..., part.numbers] = part.guess.transpose(1, 0, 2, 3)
            weight[..., part.numbers] = part.weight.transpose(1, 0, 2, 3)
        return guess, weight


def shown_documents(windows: Sequence[Window]) -> tuple[list[dict[str, Any]], np.ndarray]:
    """The documents of the first KEPT items, all of which are in these windows, and (item, 2): document and mention of
    each of those items.

    A document is `{"number", "name", "words", "sentences", "mentions"}`, a mention [start, end, cluster, head, type].
    """
    documents: list[dict[str, Any]] = []
    items: list[tuple[int, int]] = []
    for window in windows:
        if len(items) >= KEPT:
            break
        if not documents or documents[-1]["number"] != window.document.number:
            documents.append(_document(window))
        items += [(len(documents) - 1, item.mention) for item in window.items]
    return documents, np.array(items[:KEPT], dtype=np.uint32).reshape(-1, 2)


def _document(window: Window) -> dict[str, Any]:
    document = window.document
    mentions = [
        [mention.start, mention.end, mention.cluster, head, TYPES[mention_type(document, head)]]
        for mention, head in zip(document.mentions, window.heads, strict=True)
    ]
    return {
        "number": document.number,
        "name": document.name,
        "words": list(document.words),
        "sentences": list(document.sentences),
        "mentions": mentions,
    }
