"""Attention heads: indices from 0, keys from 1, and labels that count as the reader does, from 1 or 0."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bertviz_core.errors import SettingsError

HOW_TO_WRITE = "Write layer-head, counted from 1, as in 5-4, or L4H3, counted from 0."
FROM_ONE = re.compile(r"\s*\(?\s*([0-9]{1,9})\s*[-,]\s*([0-9]{1,9})\s*\)?\s*")  # 5-4, and (5, 4) as a text
FROM_ZERO = re.compile(r"\s*(?:L([0-9]{1,9})[ .]?H([0-9]{1,9})|([0-9]{1,9})\.([0-9]{1,9}))\s*", re.IGNORECASE)
LABEL = re.compile(r"\d+-\d+")
NAMED = re.compile(r"((?:(?<=\b[Hh]ead )|(?<=\b[Hh]eads ))\d+-\d+(?:(?:, | and | to )\d+-\d+)*)")  # in sentences
_first = ContextVar("first", default=1)  # of a thread: another thread counts from 1 until it is told otherwise


def first_number() -> int:
    """The number of the first layer and of the first head in labels: 1 as in the paper, 0 as in arrays."""
    return _first.get()


def count_from(first: int) -> None:
    """Let labels that this thread prints count from 1 or 0 from now on."""
    _first.set(first)


@contextmanager
def counting_from(first: int) -> Iterator[None]:
    """Let labels count from 1 or 0 in a `with` block."""
    token = _first.set(first)
    try:
        yield
    finally:
        _first.reset(token)


class Head(NamedTuple):
    """One attention head, an index of (layer, head) arrays.

    >>> Head(7, 9).key()
    '8-10'
    >>> with counting_from(0):
    ...     Head(7, 9).label()
    '7-9'
    >>> Head.parse("8-10")
    Head(layer=7, head=9)

    Attributes:
        layer: The layer, from 0, as arrays count.
        head: The head in its layer, from 0.
    """

    layer: int
    head: int

    def key(self) -> str:
        """`layer-head`, always counted from 1: in files, addresses, commands and what programs compare."""
        return f"{self.layer + 1}-{self.head + 1}"

    def label(self) -> str:
        """`layer-head` for a reader, counted from `first_number()`."""
        return f"{self.layer + first_number()}-{self.head + first_number()}"

    def full_label(self) -> str:
        """The label, and beside it the name that other libraries use, from 0: `5-10 · L4H9`."""
        return f"{self.label()} · L{self.layer}H{self.head}"

    @classmethod
    def parse(cls, value: "HeadLike") -> "Head":
        """Read a head in any form in which people write one.

        >>> {Head.parse(value) for value in ("5-4", (5, 4), "(5, 4)", "L4H3", "4.3", Head(4, 3))}
        {Head(layer=4, head=3)}

        Args:
            value: A key such as "5-4", or a tuple (5, 4), counted from 1; "L4H3" or "4.3", as other libraries and
                papers write, counted from 0; or a Head.

        Raises:
            SettingsError: It is anything else.
        """
        if isinstance(value, str):
            layer, head = _numbers(value)
        elif isinstance(value, cls):
            layer, head = value
        elif type(value) in (tuple, list) and len(value) == 2 and all(type(number) is int for number in value):
            layer, head = (number - 1 for number in value)
        else:
            raise SettingsError(f"{value!r} is not a head.", hint=_remedy(value))
        if min(layer, head) < 0:
            raise SettingsError(f"{value!r} is not a head.", hint=HOW_TO_WRITE)
        return cls(int(layer), int(head))

    @classmethod
    def of_label(cls, label: str) -> "Head":
        """The head of a `label`; raises SettingsError for anything else."""
        layer, _, head = label.partition("-")
        if not (layer.isdecimal() and head.isdecimal()):
            raise SettingsError(f"{label!r} is not a head.", hint="Write layer-head, as in 3-5.")
        return cls(int(layer) - first_number(), int(head) - first_number())

    def check(self, layers: int, heads: int) -> None:
        """Raises SettingsError for a head that a model of this size does not have."""
        if not (0 <= self.layer < layers and 0 <= self.head < heads):
            hint = f"Choose one of 1-1 to {layers}-{heads}."
            raise SettingsError(f"This model has no head {self.key()}.", hint=hint)


HeadLike = str | tuple[int, int] | Head  # what `Head.parse` reads


def _numbers(text: str) -> tuple[int, int]:
    """(layer, head) from 0 of a head that is written as text; negative, or an error, for what is none."""
    if match := FROM_ONE.fullmatch(text):
        return int(match[1]) - 1, int(match[2]) - 1
    if match := FROM_ZERO.fullmatch(text):
        return int(match[1] or match[3]), int(match[2] or match[4])
    raise SettingsError(f"{text!r} is not a head.", hint=HOW_TO_WRITE)


def _remedy(value: object) -> str:
    """How to write what is no head; two numbers of numpy are an index, which might be counted from 0 or from 1."""
    numbers = list(value) if isinstance(value, tuple | list | np.ndarray) else []
    if len(numbers) == 2 and all(isinstance(number, np.integer) for number in numbers):
        layer, head = map(int, numbers)
        return f"Numbers of numpy are an array's index, counted from 0: write Head({layer}, {head}) or L{layer}H{head}."
    return HOW_TO_WRITE


class DirectedHead(NamedTuple):
    """A head read in one direction.

    Attributes:
        direction: An index of DIRECTIONS.
    """

    direction: int
    head: Head

    @property
    def at(self) -> tuple[int, int, int]:
        """Index of (direction, layer, head) arrays."""
        return self.direction, *self.head


def link_heads(text: str, link: Callable[[str], str], other: Callable[[str], str]) -> str:
    """A text with a `link` in place of each label of a head that it names, as in "heads 3-1 and 5-4", and the rest as
    `other` writes it."""
    parts = NAMED.split(text)  # every other one has labels
    return "".join(
        LABEL.sub(lambda label: link(label[0]), part) if index % 2 else other(part) for index, part in enumerate(parts)
    )


def arrow(direction: str) -> str:
    """A direction such as "dependent->governor" for display."""
    return direction.replace("->", " → ")


@lru_cache(16)
def all_heads(layers: int, heads: int) -> tuple[Head, ...]:
    """All heads, layer by layer."""
    return tuple(Head(layer, head) for layer in range(layers) for head in range(heads))


@lru_cache(16)
def all_keys(layers: int, heads: int) -> tuple[str, ...]:
    """The keys of all heads, layer by layer."""
    return tuple(head.key() for head in all_heads(layers, heads))


def all_labels(layers: int, heads: int) -> tuple[str, ...]:
    """The labels of all heads, layer by layer."""
    return tuple(head.label() for head in all_heads(layers, heads))


def highest(values: np.ndarray) -> Head:
    """The head with the highest of (layer, head) values, the first of equals; NaN where a head has no value."""
    index = int(np.nanargmax(values))
    return Head(*divmod(index, values.shape[1]))


def layer_means(values: np.ndarray) -> np.ndarray:
    """(layer,) means of (layer, head) values over the heads that have one; NaN where none of a layer has."""
    known = (~np.isnan(values)).sum(1)
    return np.where(known, np.nansum(values, axis=1) / known.clip(min=1), np.nan)


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks of all heads, (layer, head) int: 1 more than the heads with a higher value, equal ones alike, NaN last."""
    known = np.sort(values[~np.isnan(values)])
    return 1 + known.size - np.searchsorted(known, values, side="right") * ~np.isnan(values)
