"""What is shown of a result: a small closed set of blocks, in the order of its page.

An analysis yields them once. Screen, HTML, JSON, CSV and printed text each draw every kind of block in their own way,
so that a page and its files have the same by construction.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go

from bertviz_core.analyses.base.findings import Finding
from bertviz_core.plotting.head_map import HeadMap, map_figure

Card = tuple[str, str, str]  # a key number: its name, its value as it is shown, and a note beside it


class Opened(NamedTuple):
    """An input of the text corpus as the attention viewer opens it.

    Attributes:
        segment: Its number, from 0.
        query: The position of the query that is pinned, from 0; None for none.
        key: That of the key.
    """

    segment: int
    query: int | None = None
    key: int | None = None


class Example(NamedTuple):
    """An input as it is shown.

    Attributes:
        title: Where it is, and what is shown of it.
        text: Its words.
        svg: The drawing; empty where the text is all that is shown.
        notes: A line for each thing that is pointed out in it.
        opened: Where the attention viewer opens it; None where that is not known.
        marked: The characters of the text that it is about, as start and end; None for all of it.
    """

    title: str
    text: str
    svg: str = ""
    notes: tuple[str, ...] = ()
    opened: Opened | None = None
    marked: tuple[int, int] | None = None


@dataclass(frozen=True)
class Claim:
    """What a statement of the paper, or of an analysis, comes to.

    Attributes:
        finding: With its verdict.
        first: Whether it is what the page says first.
    """

    finding: Finding
    first: bool = False


@dataclass(frozen=True)
class Say:
    """Sentences.

    Attributes:
        text: The sentences.
        chosen: Whether they follow what a reader has chosen, so that files begin with them.
        on_screen: Whether the screen says them too, which shows some of them otherwise.
    """

    text: str
    chosen: bool = False
    on_screen: bool = True


@dataclass(frozen=True)
class Numbers:
    """Key numbers, side by side.

    Attributes:
        cards: The numbers.
    """

    cards: tuple[Card, ...]

    @cached_property
    def table(self) -> "Table":
        """The same as a table."""
        return Table("numbers", "Key numbers", pd.DataFrame(self.cards, columns=["name", "value", "note"]))


@dataclass(frozen=True)
class Chart:
    """A figure.

    Attributes:
        name: In the keys of the screen and in names of files, as "offsets".
        title: Its heading in files, and on the screen where it is not the page's first figure.
        build: Draws it.
        arguments: What `build` takes, so that it is drawn once for the same.
        alt: A description for those who cannot see it.
        note: What is under it; may be empty.
        is_main: Whether it is the page's first figure, whose heading is the page's.
        has_heads: Whether its dots are heads, of which a click chooses one.
        follows: Whether it follows what a reader has chosen, so that a report, which chooses nothing, leaves it out.
    """

    name: str
    title: str
    build: Callable[..., go.Figure]
    arguments: tuple[Any, ...]
    alt: str
    note: str = ""
    is_main: bool = False
    has_heads: bool = False
    follows: bool = False

    @property
    def figure(self) -> go.Figure:
        """The figure, drawn anew."""
        return self.build(*self.arguments)


@dataclass(frozen=True)
class Map:
    """A map of heads, on which a click chooses one.

    Attributes:
        name: In the keys of the screen and in names of files.
        title: What its colors are.
        build: Makes the map.
        arguments: What `build` takes.
        alt: A description for those who cannot see it.
    """

    name: str
    title: str
    build: Callable[..., HeadMap]
    arguments: tuple[Any, ...]
    alt: str

    @property
    def heading(self) -> str:
        """Its heading in files."""
        return f"Head map: {self.title}"

    @property
    def figure(self) -> go.Figure:
        """The map as a figure."""
        return map_figure(self.build(*self.arguments))


@dataclass(frozen=True)
class Table:
    """A table under a heading.

    Attributes:
        name: In a ZIP, as "head".
        title: The heading.
        table: All rows.
        note: What is under the heading; may be empty.
        decimals: Those of its numbers where people read them; None for as many as they need.
        signed: Columns of whole numbers that are read with their sign.
        searched: For each row the words that a link searches in the corpus; empty for no links.
        is_folded: Whether it is small print beside a map: no heading of its own, texts alone.
    """

    name: str
    title: str
    table: pd.DataFrame
    note: str = ""
    decimals: int | None = None
    signed: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    is_folded: bool = False


@dataclass(frozen=True)
class Inputs(Table):
    """Inputs under a heading, which people see in place of the table that is about them.

    Attributes:
        examples: The inputs that are shown.
        legend: What the signs of their drawings mean.
    """

    examples: tuple[Example, ...] = ()
    legend: str = ""


@dataclass(frozen=True)
class Heads:
    """The table of all heads, a row of which chooses a head; in files it is the table of the result.

    Attributes:
        columns: Columns beside layer and head, by name.
        titles: Their titles, where those are not the names.
        build: Makes the table with these columns.
        arguments: What `build` takes.
        title: The heading.
    """

    columns: tuple[str, ...]
    titles: dict[str, str]
    build: Callable[..., pd.DataFrame]
    arguments: tuple[Any, ...]
    title: str = "All heads"


@dataclass(frozen=True)
class Control:
    """The widgets of choices, at the place of what they change; nothing in files, which say what is chosen.

    Attributes:
        fields: Of the view.
        on_line: Whether they stand in the line under the title, since they change all of the page.
        folded: The name of the popover that has them, since they seldom change; empty for none.
        note: What is said above them in the popover; may be empty.
    """

    fields: tuple[str, ...]
    on_line: bool = False
    folded: str = ""
    note: str = ""


@dataclass(frozen=True)
class Columns:
    """Blocks side by side.

    Attributes:
        left: In the left column.
        right: In the right one.
        lower: Under those of the column that has more room.
        widths: Of both columns, in relation to each other.
    """

    left: "tuple[Block, ...]"
    right: "tuple[Block, ...]"
    lower: "tuple[Block, ...]" = ()
    widths: tuple[int, int] = (1, 1)


Block = Claim | Say | Numbers | Chart | Map | Table | Inputs | Heads | Control | Columns


def flat(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks in the order in which they are read, those of columns one after the other."""
    for block in blocks:
        if isinstance(block, Columns):
            yield from flat((*block.left, *block.right, *block.lower))
        else:
            yield block


def tables(blocks: Iterable[Block]) -> list[Table]:
    """The tables of blocks, key numbers among them."""
    read = (block.table if isinstance(block, Numbers) else block for block in flat(blocks))
    return [block for block in read if isinstance(block, Table)]


def figures(blocks: Iterable[Block]) -> dict[str, go.Figure]:
    """The figures of blocks by their headings, maps among them."""
    drawn = {}
    for block in flat(blocks):
        if isinstance(block, Chart):
            drawn[block.title] = block.figure
        elif isinstance(block, Map):
            drawn[block.heading] = block.figure
    return drawn


def first_claim(blocks: Iterable[Block]) -> Finding | None:
    """What is said first; None where nothing is."""
    return next((block.finding for block in flat(blocks) if isinstance(block, Claim) and block.first), None)


def chosen_texts(blocks: Iterable[Block]) -> list[str]:
    """The sentences that follow what a reader has chosen."""
    return [block.text for block in flat(blocks) if isinstance(block, Say) and block.chosen]


def table_of(name: str, title: str, rows: Sequence[dict[str, Any]], note: str = "") -> Table:
    """A table given as rows."""
    return Table(name, title, pd.DataFrame(rows), note)
