"""A window of a long input's tokens, which is drawn in place of all of them, and a search in its words."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from bertviz_core.heads import Head
from bertviz_core.inputs.labels import Units
from bertviz_core.viewer.input_attention import InputAttention

SIZE = 40  # tokens of a window at first
LONG = 50  # the most tokens that are all drawn at first


@dataclass(frozen=True)
class TokenRange:
    """Consecutive tokens of an input.

    Attributes:
        first: The position of the first one, from 1.
        last: The position of the last one, from 1.
        total: The number of tokens of the input.
    """

    first: int
    last: int
    total: int

    @classmethod
    def of(cls, total: int, first: int = 1, last: int | None = None) -> Self:
        """The window from a position to another, as far as the input has them; by default the whole of a short input,
        and SIZE tokens of a long one."""
        first = min(first, total)
        if last is None:
            last = total if total <= LONG else first + SIZE - 1
        return cls(first, min(max(first, last), total), total)

    @property
    def is_whole(self) -> bool:
        """Whether it has all tokens of the input."""
        return self.last - self.first + 1 >= self.total

    def moved(self, steps: int) -> Self:
        """The window of the same size that many windows further, within the input."""
        return self._from(self.first + steps * (self.last - self.first + 1))

    def around(self, position: int) -> Self:
        """The window of the same size with a position, from 0, in its middle."""
        return self._from(position + 1 - (self.last - self.first) // 2)

    def _from(self, first: int) -> Self:
        beyond = self.last - self.first
        first = max(1, min(first, self.total - beyond))
        return type(self)(first, first + beyond, self.total)

    def has(self, units: Units) -> np.ndarray:
        """(unit,) bool: whether a unit begins in the window."""
        return np.asarray((self.first <= units.start + 1) & (units.start < self.last))

    def cut(self, attention: InputAttention, pinned: frozenset[int] = frozenset()) -> InputAttention:
        """The attention between the units of the window and those that stay in sight: special tokens and the first
        token, at which heads look from everywhere, and `pinned` positions, from 0. Weights are not rescaled."""

        def shown(units: Units) -> np.ndarray:
            return np.asarray(self.has(units) | units.special | np.isin(units.start, [0, *pinned]))

        return attention.keep(shown(attention.queries), shown(attention.keys))

    def beyond(self, attention: InputAttention, drawn: InputAttention, head: Head) -> float:
        """The share of a head's attention from the window's units that goes to those that `cut` has not drawn."""
        total = attention.weights[head][self.has(attention.queries)].sum()
        seen = drawn.weights[head][self.has(drawn.queries)].sum()
        return float(1 - seen / total) if total else 0.0


def matches(words: Units, text: str) -> list[int]:
    """The positions, from 0, at which words in sequence contain the parts of a text, whatever their case."""
    parts = text.casefold().split()
    labels = [label.casefold() for label in words.labels]
    return [
        int(start)
        for word, start in enumerate(words.start)
        if parts and _contain(labels[word : word + len(parts)], parts)
    ]


def _contain(labels: list[str], parts: list[str]) -> bool:
    return len(labels) == len(parts) and all(part in label for part, label in zip(parts, labels, strict=True))
