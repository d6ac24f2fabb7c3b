"""Rows of sums by a key, such as a token's number: added up by key, and only those that are kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Self

import numpy as np

ADDED_ROWS = 256  # at a time, as numpy copies what it adds


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
        return add_up([self, other], np.union1d(self.keys, other.keys))

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


def add_up(tables: Sequence[TokenTable], keys: np.ndarray) -> TokenTable:
    """The sums of one or more tables, in their order, of the rows of these (key,) keys alone; it needs little memory
    besides that of the sums."""
    first, *others = [each for each in tables if len(each.keys)] or tables
    if not others:
        return first.of(keys)
    present = reduce(np.union1d, (each.keys for each in tables))
    present = present[np.isin(present, keys)]
    sums = TokenTable(present, *(np.zeros((len(present), *each.shape[1:])) for each in (first.about, first.heads)))
    for each in tables:
        _add_rows(sums, each)
    return sums


def _add_rows(sums: TokenTable, table: TokenTable) -> None:
    """Add, in place, the rows of a table whose keys are there."""
    (common,) = np.isin(table.keys, sums.keys).nonzero()
    for start in range(0, len(common), ADDED_ROWS):
        rows = common[start : start + ADDED_ROWS]
        places = np.searchsorted(sums.keys, table.keys[rows])
        sums.about[places] += table.about[rows]
        sums.heads[places] += table.heads[rows]
