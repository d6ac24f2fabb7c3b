"""Rows of sums by a key, such as a token's number: added up by key, and only those that are kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

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

    def state(self, name: str) -> dict[str, Any]:
        """Arrays by name, from which `of_state` makes the table again."""
        return {f"{name}_keys": self.keys, f"{name}_about": self.about, f"{name}_heads": self.heads}

    @classmethod
    def of_state(cls, name: str, state: Mapping[str, Any]) -> Self:
        """The table from the arrays that `state` gave."""
        return cls(*(state[f"{name}_{part}"] for part in ("keys", "about", "heads")))
