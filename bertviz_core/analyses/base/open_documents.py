"""Documents that the next chunk of a corpus may continue (docs/methods.md, Uncertainty)."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, Self, TypeVar
from weakref import WeakMethod

from bertviz_core.engine.packing import PackedValues, pack, unpack

S = TypeVar("S")


class OpenDocuments(Generic[S]):
    """The sums of documents that are not complete yet.

    Chunks come in the order of the corpus, but inputs within a chunk in any order. So documents wait until their chunk
    is summed; then only its first and last one are open, which may continue in another chunk.

    Attributes:
        sums: Those of the open documents, by number; `+=` adds two of them.
    """

    def __init__(self, close: Callable[[dict[int, S]], None]) -> None:
        """Begin without documents.

        Args:
            close: A method of the owner, which gets the sums of documents that are complete, by number and in order.
        """
        # Owner and documents would else be a circle, which is freed late: the sums of chunks would pile up.
        self._close = WeakMethod(close)
        self.sums: dict[int, S] = {}

    def merge(self, other: Self) -> None:
        """Merge the next chunk of the corpus, whose sums are then these."""
        self.close_inner()
        other.close_inner()
        self.add(other.sums)

    def add(self, sums: dict[int, S]) -> None:
        """Add sums of documents, and close those that are now complete."""
        total: dict[int, Any] = self.sums
        for number, each in sums.items():
            if number in total:
                total[number] += each
            else:
                total[number] = each
        self.close_inner()

    def close_inner(self) -> None:
        """Close all documents of a chunk but its first and last one."""
        if inner := sorted(self.sums)[1:-1]:
            self.close(inner)

    def close_all(self) -> None:
        """Close the documents that are left, at the end of the corpus."""
        self.close(sorted(self.sums))

    def close(self, numbers: list[int]) -> None:
        """Give the owner the sums of these documents, which are complete."""
        close = self._close()
        assert close, "the owner is still there"
        close({number: self.sums.pop(number) for number in numbers})

    def to_bytes(self, values: Callable[[S], Mapping[str, Any]]) -> bytes:
        """The sums of the open documents, each as the values that are packed."""
        return pack({str(number): pack(values(each)) for number, each in sorted(self.sums.items())})

    def restore(self, data: bytes, sums_of: Callable[[PackedValues], S]) -> None:
        """Continue with what `to_bytes` wrote, of which each document's values become sums again."""
        self.sums = {int(number): sums_of(unpack(each)) for number, each in unpack(data).items()}
