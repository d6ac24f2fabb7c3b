"""Word-level maps of the sentences that one pass reads, as they go from a worker to `Features`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from bertviz_core.engine.packing import pack, unpack
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.encoding import Batch, Encoded
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.words import membership, word_of

ROOT_ROWS = 4  # A[j,CLS], A[CLS,j], A[j,SEP], A[SEP,j]


@dataclass
class WordMaps:
    """An accumulator of maps; `merge` joins them, nothing is summed.

    Attributes:
        model: Whose maps they are.
        first_piece: Whether a split word is its first piece, as in mode paper.
        maps: By the number of the sentence, (n, n, head) float16, heads of all layers in one axis.
        root: Likewise, (ROOT_ROWS, n, head) float16.
    """

    model: AttentionModel
    first_piece: bool
    maps: dict[int, np.ndarray] = field(default_factory=dict)
    root: dict[int, np.ndarray] = field(default_factory=dict)
    _open: Batch | None = None

    def fresh(self) -> Self:
        return type(self)(self.model, self.first_piece)

    def merge(self, other: Self) -> None:
        self.maps |= other.maps
        self.root |= other.root

    def update(self, batch: Batch, attention: LayerAttention) -> None:
        if self._open is not batch:
            self._begin(batch)
        maps = self._words.maps(attention.weights).half().permute(0, 2, 3, 1).cpu().numpy()
        first = attention.layer * self.model.heads
        heads = slice(first, first + self.model.heads)
        for row, (example, (words, cls, sep)) in enumerate(zip(batch.examples, self._owners, strict=True)):
            self.maps[example.number][:, :, heads] = maps[row][np.ix_(words, words)]
            for at, special in ((0, cls), (2, sep)):
                if special is not None:  # a model without it has no such feature: zeros
                    self.root[example.number][at, :, heads] = maps[row, words, special]
                    self.root[example.number][at + 1, :, heads] = maps[row, special, words]

    def to_bytes(self) -> bytes:
        arrays = {name: np.concatenate([each.reshape(-1) for each in getattr(self, name).values()])
                  for name in ("maps", "root")}  # fmt: skip
        return pack({"numbers": list(self.maps), "lengths": [len(each) for each in self.maps.values()], **arrays})

    def from_bytes(self, data: bytes) -> Self:
        state, full = unpack(data), self.fresh()
        heads, at, root = self.model.layers * self.model.heads, 0, 0
        for number, n in zip(state["numbers"], state["lengths"], strict=True):
            size, rows = n * n * heads, ROOT_ROWS * n * heads
            full.maps[number] = state["maps"][at : at + size].reshape(n, n, heads)
            full.root[number] = state["root"][root : root + rows].reshape(ROOT_ROWS, n, heads)
            at, root = at + size, root + rows
        return full

    def _begin(self, batch: Batch) -> None:
        self._open = batch
        self._words = membership(batch.examples, self.model.device, first_piece=self.first_piece, special=True)
        self._owners = [_owners(example, self.model) for example in batch.examples]
        heads = self.model.layers * self.model.heads
        for example, (words, _, _) in zip(batch.examples, self._owners, strict=True):
            self.maps[example.number] = np.zeros((len(words), len(words), heads), dtype=np.float16)
            self.root[example.number] = np.zeros((ROOT_ROWS, len(words), heads), dtype=np.float16)


def _owners(example: Encoded, model: AttentionModel) -> tuple[np.ndarray, int | None, int | None]:
    """Places of the words, of CLS and of SEP on the axis where special tokens stand as words of their own."""
    owner, words = word_of(example, special=True), np.asarray(example.words)
    cls, sep = (
        next((int(index) for index in owner[(example.ids == token) & (words < 0)]), None)
        for token in (model.tokens.cls, model.tokens.sep)
    )
    return np.unique(owner[words >= 0]), cls, sep
