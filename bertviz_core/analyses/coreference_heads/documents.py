"""The first items of a corpus with every head's guess, and their documents: what a page draws."""

from __future__ import annotations

from dataclasses import dataclass, field
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

    def placed(self, guess: np.ndarray, weight: np.ndarray) -> None:
        """Write them into arrays (layer, direction, head, item) of the corpus's first items."""
        guess[..., self.numbers], weight[..., self.numbers] = self.guess, self.weight


@dataclass
class Shown:
    """The documents of the corpus's first KEPT items, and their items.

    Attributes:
        documents: By number: `{"number", "name", "words", "sentences", "mentions"}`, a mention being
            [start, end, cluster, head, type].
        items: By number of the item: [number of the document, mention].
    """

    documents: dict[int, dict[str, Any]] = field(default_factory=dict)
    items: dict[int, list[int]] = field(default_factory=dict)

    def add(self, window: Window) -> None:
        """Take in a window's items that are among the first."""
        for number, item in enumerate(window.items, start=window.item_number):
            if number < KEPT:
                document = window.document.number
                self.items[number] = [document, item.mention]
                if document not in self.documents:
                    self.documents[document] = _document(window)

    def merge(self, other: Shown) -> None:
        """Take in what was shown elsewhere."""
        self.documents |= other.documents
        self.items |= other.items

    def in_order(self) -> tuple[list[dict[str, Any]], np.ndarray]:
        """The documents, and (item, 2): the place of its document in that list, and its mention."""
        numbers = sorted(self.documents)
        items = [(numbers.index(document), mention) for _, (document, mention) in sorted(self.items.items())]
        return [self.documents[number] for number in numbers], np.array(items, dtype=np.uint32).reshape(-1, 2)


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
