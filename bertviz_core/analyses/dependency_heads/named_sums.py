"""Sums by name over a treebank, or over one of its units, documents or sentences (docs/methods.md, Uncertainty)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

Name = tuple[str, str]  # scheme (a view of the trees, say) and label


class NamedSums:
    """Sums with a row for each name.

    Attributes:
        names: From a name to its row.
        sums: The sums by quantity, each (row, ...).
    """

    def __init__(self, shapes: Mapping[str, Sequence[int]], dtype: type) -> None:
        self.names: dict[Name, int] = {}
        self.sums: dict[str, np.ndarray] = {name: np.zeros((0, *shape), dtype) for name, shape in shapes.items()}

    def rows(self, names: Iterable[Name]) -> list[int]:
        """Rows of names; new ones are added."""
        rows = [self.names.setdefault(name, len(self.names)) for name in names]
        for name, sums in self.sums.items():
            if new := len(self.names) - len(sums):
                self.sums[name] = np.concatenate([sums, np.zeros((new, *sums.shape[1:]), sums.dtype)])
        return rows

    def __iadd__(self, other: Self) -> Self:
        """Add the sums of another part, name by name."""
        rows = self.rows(other.names)
        for name, sums in self.sums.items():
            sums[rows] += other.sums[name]
        return self

    def state(self) -> dict[str, Any]:
        """The sums and the names, for `restore`."""
        return self.sums | {"names": list(self.names)}

    def restore(self, state: Mapping[str, Any]) -> Self:
        """Continue from a `state`, which may have been packed."""
        self.names = {(scheme, label): row for row, (scheme, label) in enumerate(state["names"])}
        self.sums = {name: sums for name, sums in state.items() if name != "names"}
        return self

    @staticmethod
    def of_state(state: Mapping[str, Any]) -> "NamedSums":
        """The sums whose `state` this is."""
        return NamedSums({}, float).restore(state)
