"""What an analysis says of one head beside its columns, in a form that any page can draw."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bertviz_core.analyses.base.findings import Finding
from bertviz_core.heads import Head

Format = Literal["text", "bar", "percent", "times"]  # a bar is of a percentage, with its number


@dataclass(frozen=True)
class FactColumn:
    """A column of a table about a head.

    Attributes:
        title: Its header.
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
        title: What it is about.
        detail: Text that continues the title, as " (of words): 1-2, 3-4".
        tables: Tables under it, side by side where there is room.
        caption: A note under the tables.
    """

    title: str
    detail: str = ""
    tables: tuple[FactTable, ...] = ()
    caption: str = ""


@dataclass(frozen=True)
class ExampleDrawing:
    """An input that shows what a head does.

    Attributes:
        title: Where the input is.
        svg: The drawing.
        words: Of the input.
        marked: The words that it is about, numbered from 0.
    """

    title: str
    svg: str
    words: tuple[str, ...]
    marked: tuple[int, ...]


@dataclass(frozen=True)
class HeadExamples:
    """Inputs that show what the best head of a target does.

    Attributes:
        finding: What the head finds.
        target: What the head is best at, on which the page of the analysis opens.
        head: The head.
        direction: 0 where the marked words are queries, 1 where they are keys.
        drawings: The examples.
        more: A link to all of them.
    """

    finding: Finding
    target: str
    head: Head
    direction: int
    drawings: tuple[ExampleDrawing, ...]
    more: str
