"""Sums over documents of squares and products of each document's sums, for standard errors by document (methods,
uncertainty)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from bertviz_core.engine.packing import pack, unpack

if TYPE_CHECKING:
    from torch import Tensor


class DocumentSums(ABC):
    """Each segment adds a row of numbers; the rows of a document are added up, and of these sums `moments` are summed.

    Within a chunk the segments come in any order, and chunks come in the order of the corpus. So a chunk's rows wait
    for its end; then all its documents are complete but the first and the last, which may continue in another chunk.
    The stored state has a fixed size.
    """

    def __init__(self, layers: int, *shape: int) -> None:
        self.numbers = np.zeros(0, dtype=np.int64)  # (document,) of the incomplete ones
        self.sums = np.zeros((0, layers, *shape))  # theirs
        self.total = np.stack([self.moments(self.sums[:, 0])] * layers)  # (layer, ...) moments of the complete ones
        # Of each layer what has not been added up: documents (segment,) and rows (segment, ...) of each batch
        self.rows: list[list[tuple[np.ndarray, Tensor]]] = [[] for _ in range(layers)]
        self.is_batch = False  # whether it was given rows itself, which may be of any part of a chunk

    @staticmethod
    def expanded(rows: np.ndarray) -> np.ndarray:
        """Rows as they are added to (segment, ...) as they are summed."""
        return rows

    @staticmethod
    @abstractmethod
    def moments(sums: np.ndarray) -> np.ndarray:
        """What is summed over documents, from their own sums (document, ...) of one layer."""

    def add(self, layer: int, documents: np.ndarray, rows: Tensor) -> None:
        """Take in rows (segment, ...) of one layer, of segments of these documents (segment,)."""
        self.rows[layer].append((documents, rows))
        self.is_batch = True

    def merge(self, other: DocumentSums) -> None:
        """Merge a batch of the same chunk, in any order, or the next chunk of the corpus."""
        if other.is_batch:
            self.rows = [[*ours, *others] for ours, others in zip(self.rows, other.rows, strict=True)]
            return
        self._complete()
        other._complete()
        self.total = self.total + other.total
        self._join(np.concatenate([self.numbers, other.numbers]), np.concatenate([self.sums, other.sums]))

    def whole(self) -> np.ndarray:
        """(layer, ...) the moments of all documents."""
        self._complete()
        return self.total + np.stack([self.moments(sums) for sums in self.sums.swapaxes(0, 1)])

    def to_bytes(self) -> bytes:
        self._complete()
        return pack({"total": self.total, "numbers": self.numbers, "sums": self.sums})

    def restore(self, data: bytes) -> None:
        vars(self).update(unpack(data))

    def _complete(self) -> None:
        """Add up the rows of a chunk."""
        self.is_batch = False
        if not any(self.rows):
            return
        import torch

        every = np.unique(np.concatenate([numbers for rows in self.rows for numbers, _ in rows]))
        ends = np.unique(every[[0, -1]])
        sums = np.zeros((len(ends), *self.sums.shape[1:]))
        for layer, rows in enumerate(self.rows):
            if rows:
                values = self.expanded(torch.cat([each for _, each in rows]).cpu().numpy())
                numbers, each = _summed(np.concatenate([documents for documents, _ in rows]), values)
                is_end = np.isin(numbers, ends)
                sums[np.searchsorted(ends, numbers[is_end]), layer] = each[is_end]
                self.total[layer] += self.moments(each[~is_end])
        self.rows = [[] for _ in self.rows]
        self._join(np.concatenate([self.numbers, ends]), np.concatenate([self.sums, sums]))

    def _join(self, numbers: np.ndarray, sums: np.ndarray) -> None:
        """Add up incomplete documents; those between the first and the last are complete."""
        if not len(numbers):
            return
        numbers, sums = _summed(numbers, sums)
        if len(numbers) > 2:
            self.total = self.total + np.stack([self.moments(each) for each in sums[1:-1].swapaxes(0, 1)])
            numbers, sums = numbers[[0, -1]], sums[[0, -1]]
        self.numbers, self.sums = numbers, sums


def _summed(numbers: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct numbers in order, and for each the sum of its rows."""
    order = np.argsort(numbers, kind="stable")
    distinct, starts = np.unique(numbers[order], return_index=True)
    return distinct, np.add.reduceat(rows[order], starts, axis=0)
