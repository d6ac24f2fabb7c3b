"""What an analysis says of one head beside its columns, in a form that any page can draw."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Format = Literal["text", "bar", "percent", "times"]  # a bar is of a percentage, with its number


@dataclass(frozen=True)
class FactColumn:
    """A column of a table about a head.

    Attributes:
        values: (row,) texts, or numbers in percent or as factors, by `format`.
        format: How the values are drawn.
        width: In pixels; None for one that fits.
        help: What the numbers mean, beside the header.
    """

    title: str
    values: Sequence[Any]
    format: Format = "text"
    width: int | None = None
    help: str = ""


@dataclass(frozen=True)
class FactTable:
    """A table about a head.

    Attributes:
        columns: Its columns, all of the same length.
        alt: A description of the table, for those who cannot see it.
    """

    columns: tuple[FactColumn, ...]
    alt: str


@dataclass(frozen=True)
class HeadFacts:
    """What one analysis says of one head under one title.

    Attributes:
        detail: Text that continues the title, as " (of words): 1-2, 3-4".
        tables: Tables under it, side by side where there is room.
        caption: A note under the tables.
    """

    title: str
    detail: str = ""
    tables: tuple[FactTable, ...] = ()
    caption: str = ""
