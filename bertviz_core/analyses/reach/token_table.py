"""Rows of sums by a key, such as a token's number: added up by key, and only those that are kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True)
class TokenTable:
    """Sums by key.

    Attributes:
        keys: (row,) int64, in order, each once.
        about: (row, ...) float64 sums that heads share.
        heads: (row, ...) float64 sums of every head.
    """

    keys: np.ndarray
    about: np.ndarray
    heads: np.ndarray

    @classmethod
    def empty(cls, about: tuple[int, ...], heads: tuple[int, ...]) -> Self:
        """No rows, of arrays of these shapes."""
        return cls(np.zeros(0, np.int64), np.zeros((0, *about)), np.zeros((0, *heads)))

    def __add__(self, other: "TokenTable") -> "TokenTable":
        if not len(other.keys) or not len(self.keys):
            return self if len(self.keys) else other
        keys = np.union1d(self.keys, other.keys)
        about = np.zeros((len(keys), *self.about.shape[1:]))
        heads = np.zeros((len(keys), *self.heads.shape[1:]))
        for each in (self, other):
            rows = np.searchsorted(keys, each.keys)
            about[rows] += each.about
            heads[rows] += each.heads
        return TokenTable(keys, about, heads)

    def where(self, is_kept: np.ndarray) -> "TokenTable":
        """The rows for which (row,) `is_kept` is true."""
        return self if is_kept.all() else TokenTable(self.keys[is_kept], self.about[is_kept], self.heads[is_kept])

    def of(self, keys: np.ndarray) -> "TokenTable":
        """The rows of these (key,) keys."""
        return self.where(np.isin(self.keys, keys))

    def state(self) -> dict[str, np.ndarray]:
        """`keys` (row,), `about` (row, ...) and `heads` (row, ...), from which `of_state` makes the table again."""
        return {"keys": self.keys, "about": self.about, "heads": self.heads}

    @classmethod
    def of_state(cls, state: Mapping[str, np.ndarray]) -> Self:
        """The table whose `state` these arrays (row, ...) are."""
        return cls(state["keys"], state["about"], state["heads"])
