"""Sums by name over a treebank, and over its units, documents or sentences (docs/methods.md, uncertainty)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from bertviz_core.engine.packing import pack, unpack

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

    def merge(self, other: "NamedSums") -> None:
        """Add the sums of another part, name by name."""
        rows = self.rows(other.names)
        for name, sums in self.sums.items():
            sums[rows] += other.sums[name]

    def restore(self, names: Iterable[Sequence[str]], sums: Mapping[str, np.ndarray]) -> None:
        """Continue from stored names, (scheme, label) of each row, and their sums (row, ...) by name."""
        self.names = {(scheme, label): row for row, (scheme, label) in enumerate(names)}
        self.sums = {name: sums[name] for name in self.sums}


class OpenUnits:
    """The sums of units that are not complete yet; `close` gets those of each unit once it is.

    Chunks come in the order of the treebank, but sentences within a chunk in any order. So units wait until their chunk
    is counted; then only its first and last one are incomplete, which may continue in another chunk.

    Attributes:
        new: Makes empty sums of a unit.
        close: Gets the number and the sums of a unit that is complete.
        units: The sums of the incomplete units, by number.
    """

    def __init__(self, new: Callable[[], NamedSums], close: Callable[[int, NamedSums], None]) -> None:
        self.new = new
        self.close = close
        self.units: dict[int, NamedSums] = {}

    def of(self, unit: int) -> NamedSums:
        """The sums of a unit, to add to."""
        return self.units.setdefault(unit, self.new())

    def merge(self, other: Self) -> None:
        """Merge the next chunk of the treebank."""
        self.close_inner()
        other.close_inner()
        for unit, sums in other.units.items():
            self.units.setdefault(unit, self.new()).merge(sums)
        self.close_inner()

    def close_inner(self) -> None:
        """Close all units of a chunk but its first and last one."""
        for unit in sorted(self.units)[1:-1]:
            self.close(unit, self.units.pop(unit))

    def close_all(self) -> None:
        """Close the units that are left, at the end of the treebank."""
        for unit in sorted(self.units):
            self.close(unit, self.units.pop(unit))

    def to_bytes(self) -> bytes:
        """The sums of the incomplete units, for `restore`."""
        return pack({str(unit): pack(each.sums | {"names": list(each.names)}) for unit, each in self.units.items()})

    def restore(self, data: bytes) -> None:
        """Continue with the incomplete units that `to_bytes` wrote."""
        for unit, packed in unpack(data).items():
            state: dict[str, Any] = unpack(packed)
            sums = self.new()
            sums.restore(state["names"], state)
            self.units[int(unit)] = sums
