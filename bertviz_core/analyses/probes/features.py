"""Word-level maps of all heads, computed once: what the attention probes read (docs/methods.md, sections 5 and 8).

Sentences of exactly the same number of words share an array, so nothing is padded. Maps are float16, in a
`ScratchArray` that is removed at the end of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from bertviz_core.analyses.probes.scratch_array import ScratchArray
from bertviz_core.engine import stream
from bertviz_core.engine.progress import Progress
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.encoding import Batch, Encoded
from bertviz_core.models.sentences import EncodedSentence
from bertviz_core.models.words import membership, word_of

if TYPE_CHECKING:
    from bertviz_core.models.model import AttentionModel

ROOT_ROWS = 4  # A[j,CLS], A[CLS,j], A[j,SEP], A[SEP,j]


@dataclass(frozen=True, slots=True)
class Group:
    """Sentences of n words. Axes (sentence, query, key, head), heads of all layers in one axis of features.

    Attributes:
        indices: (sentence,) their places among all sentences, in order.
        maps: (sentence, n, n, head) float16.
        root: (sentence, 4, n, head) float16, see ROOT_ROWS.
        governors: (sentence, n) int64, 0 is ROOT.
        words: (sentence, n) int64 rows of the word vectors.
    """

    indices: np.ndarray
    maps: np.ndarray
    root: np.ndarray
    governors: np.ndarray
    words: np.ndarray

    @property
    def length(self) -> int:
        return self.governors.shape[1]


class Features:
    """The groups of all sentences, shortest first; a context that removes its file when left.

    The sentences' numbers are their places in the list: 0, 1, 2.
    """

    def __init__(self, sentences: Sequence[EncodedSentence], rows: Sequence[np.ndarray], heads: int) -> None:
        lengths = np.array([len(sentence.sentence) for sentence in sentences])
        sizes = [(int(n), np.flatnonzero(lengths == n)) for n in np.unique(lengths)]
        total = sum(len(members) * n * (n + ROOT_ROWS) * heads for n, members in sizes)
        self._room = ScratchArray(total, "maps")
        flat = self._room.flat
        self.groups: list[Group] = []
        self.row: dict[int, tuple[int, int]] = {}
        start = 0
        for n, members in sizes:
            cut = start + len(members) * n * n * heads
            end = cut + len(members) * n * ROOT_ROWS * heads
            maps, root = (
                flat[start:cut].reshape(-1, n, n, heads),
                flat[cut:end].reshape(-1, ROOT_ROWS, n, heads),
            )
            governors = np.array([sentences[i].sentence.governors for i in members.tolist()])
            self.row |= {i: (len(self.groups), row) for row, i in enumerate(members.tolist())}
            self.groups.append(Group(members, maps, root, governors, np.stack([rows[i] for i in members.tolist()])))
            start = end

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.groups = []
        self._room.__exit__(kind, error, trace)

    def fill(
        self,
        model: AttentionModel,
        sentences: Sequence[EncodedSentence],
        progress: Progress,
        batch_tokens: int | None,
        first_piece: bool,
    ) -> None:
        """One pass of the model over the sentences writes every map; a second pass, of another model, replaces them."""
        stream.run(model, sentences, [_Writer(self, model, first_piece)], progress, batch_tokens)


@dataclass
class _Writer:
    """An accumulator that writes maps to their places; writing twice does no harm, so there is nothing to merge."""

    features: Features
    model: AttentionModel
    first_piece: bool
    open: Batch | None = None

    def fresh(self) -> Self:
        return type(self)(self.features, self.model, self.first_piece)

    def merge(self, other: Self) -> None:
        """Nothing: what the other has seen is written."""

    def update(self, batch: Batch, attention: LayerAttention) -> None:
        if self.open is not batch:
            self.open = batch
            self.words = membership(batch.examples, self.model.device, first_piece=self.first_piece, special=True)
            self.owners = [_owners(example, self.model) for example in batch.examples]
        maps = self.words.maps(attention.weights).half().permute(0, 2, 3, 1).cpu().numpy()
        first = attention.layer * self.model.heads
        heads = slice(first, first + self.model.heads)
        for row, (example, (words, cls, sep)) in enumerate(zip(batch.examples, self.owners, strict=True)):
            group, index = self.features.row[example.number]
            target = self.features.groups[group]
            target.maps[index, :, :, heads] = maps[row][np.ix_(words, words)]
            for at, special in ((0, cls), (2, sep)):
                if special is not None:  # a model without it has no such feature: zeros
                    target.root[index, at, :, heads] = maps[row, words, special]
                    target.root[index, at + 1, :, heads] = maps[row, special, words]


def _owners(example: Encoded, model: AttentionModel) -> tuple[np.ndarray, int | None, int | None]:
    """Places of the words, of CLS and of SEP on the axis where special tokens stand as words of their own."""
    owner, words = word_of(example, special=True), np.asarray(example.words)
    cls, sep = (
        next((int(index) for index in owner[(example.ids == token) & (words < 0)]), None)
        for token in (model.tokens.cls, model.tokens.sep)
    )
    return np.unique(owner[words >= 0]), cls, sep
