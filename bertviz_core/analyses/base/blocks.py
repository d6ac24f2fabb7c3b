"""What is shown of a result: a small closed set of blocks, in the order of its page.

An analysis yields them once. Screen, HTML, JSON, CSV and printed text each draw every kind of block in their own way,
so that a page and its files have the same by construction. A report draws some of them, and a notebook's cell says what
the page says first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.base.table_blocks import Facts, Heads, InputList, Inputs, Table
from bertviz_core.heads import Head
from bertviz_core.plotting.head_map import HeadMap, map_figure

Card = tuple[str, str, str]  # a key number: its name, its value as it is shown, and a note beside it


@dataclass(frozen=True)
class Claim:
    """What a statement of the paper, or of an analysis, comes to.

    Attributes:
        first: Whether it is what the page says first.
    """

    finding: Finding
    first: bool = False


@dataclass(frozen=True)
class Say:
    """Sentences.

    Attributes:
        chosen: Whether they follow what a reader has chosen, so that files begin with them.
        on_screen: Whether the screen says them too, which shows some of them otherwise.
        in_files: Whether files say them here, which have some of them among the notes at their beginning.
        markdown: The same in Markdown, where words stand out, without words of a file; empty where none do.
        subject: Words of a file with which the Markdown begins.
        stands_out: Whether a reader has to see them before any number.
        first: Whether they are what is said first, of a result that decides no statement.
    """

    text: str
    chosen: bool = False
    on_screen: bool = True
    in_files: bool = True
    markdown: str = ""
    subject: str = ""
    stands_out: bool = False
    first: bool = False


@dataclass(frozen=True)
class Numbers:
    """Key numbers, side by side.

    Attributes:
        title: The heading; the screen has none where it is empty.
        name: In a ZIP.
        are_stacked: Whether they stand in a narrow column on the screen, one under the other, without a heading.
    """

    cards: tuple[Card, ...]
    title: str = ""
    name: str = "numbers"
    are_stacked: bool = False

    @cached_property
    def table(self) -> "Table":
        """The same as a table."""
        return Table(
            self.name, self.title or "Key numbers", pd.DataFrame(self.cards, columns=["name", "value", "note"])
        )


@dataclass(frozen=True)
class Chart:
    """A figure.

    Attributes:
        name: In the keys of the screen and in names of files, as "offsets".
        title: Its heading in files, and on the screen where it is not the page's first figure.
        build: Draws it.
        arguments: What `build` takes, so that it is drawn once for the same: results, arrays, tables, and values with a
            hash.
        alt: A description for those who cannot see it.
        note: What is under it; may be empty.
        is_main: Whether the screen draws it without a heading, as the page's first figure, whose heading is the page's.
        has_heads: Whether its dots are heads, of which a click chooses one: `customdata` of each begins with its
            `Head.key()`.
        follows: Whether it follows what a reader has chosen, so that a report, which chooses nothing, leaves it out.
        choose: What a click on a dot with this `customdata` chooses, by field; None where dots are heads or nothing.
        hint: What a click does, after the heading on the screen; may be empty.
        is_folded: Whether the screen draws it when it is asked for.
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
    choose: Callable[[Sequence[Any]], dict[str, Any]] | None = None
    hint: str = ""
    is_folded: bool = False

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
        subject: What it is of, before the title.
        detail: The rest of the title in files, which the screen says elsewhere.
        run: Where its numbers come from, where that is not what the reader has chosen.
        preview: Makes what pointing at a head shows, as `head_preview.encoded` does; None for the lines on the reader's
            short sentence.
        preview_arguments: What `preview` takes.
        height: In pixels; None for one that fits.
    """

    name: str
    title: str
    build: Callable[..., HeadMap]
    arguments: tuple[Any, ...]
    alt: str
    subject: str = "Head map"
    detail: str = ""
    run: Provenance | None = None
    preview: Callable[..., bytes] | None = None
    preview_arguments: tuple[Any, ...] = ()
    height: int | None = None

    @property
    def heading(self) -> str:
        """Its heading in files."""
        return ": ".join(filter(None, (self.subject, self.title + self.detail)))

    @property
    def figure(self) -> go.Figure:
        """The map as a figure."""
        return map_figure(self.build(*self.arguments))


@dataclass(frozen=True)
class Offer:
    """The way to a head that does better than the chosen one: a button; nothing in files.

    Attributes:
        text: On the button.
    """

    text: str
    head: Head


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
        middle: In a column between both; without any there is none.
        lower: Under those of the column that has more room.
        widths: Of the columns, in relation to each other; empty for equal ones.
        title: The heading above them; may be empty.
        are_sections: Whether headings in them are those of the page's sections, which are not small.
    """

    left: "tuple[Block, ...]"
    right: "tuple[Block, ...]"
    middle: "tuple[Block, ...]" = ()
    lower: "tuple[Block, ...]" = ()
    widths: tuple[int, ...] = ()
    title: str = ""
    are_sections: bool = False


@dataclass(frozen=True)
class Tabs:
    """Blocks of which the screen shows some at a time; its last tabs, "Method" and "Export", end the page.

    Attributes:
        tabs: Their names, and the blocks of each.
    """

    tabs: "tuple[tuple[str, tuple[Block, ...]], ...]"


Block = (
    Claim | Say | Numbers | Chart | Map | Table | Inputs | InputList | Facts | Offer | Heads | Control | Columns | Tabs
)
