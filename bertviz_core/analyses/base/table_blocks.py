"""Blocks that files have as tables: tables themselves, inputs and lists of them, facts of one head, all heads."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from bertviz_core.analyses.base.head_facts import HeadFacts
from bertviz_core.analyses.base.shown_inputs import Example


@dataclass(frozen=True)
class Table:
    """A table under a heading.

    Attributes:
        name: In a ZIP, as "head".
        table: All rows.
        note: What is under the heading; may be empty.
        decimals: Those of its numbers where people read them; None for as many as they need.
        signed: Columns of whole numbers that are read with their sign.
        as_printed: Columns of numbers that have the decimals with which the paper prints them.
        searched: For each row the words that a link searches in the corpus; empty for no links.
        is_folded: Whether it is small print beside a map: no heading of its own, texts alone.
        choose: What a click on a row chooses, by field, of the number of the row; None for nothing.
        hint: What a click does, after the heading on the screen; may be empty.
        widths: Of columns on the screen, in pixels.
        titles: Of columns on the screen, where those are not the names.
        height: The most pixels of the screen that it takes; None for all that it needs.
        in_files: Whether files have it; not of one that is the table of the result.
        in_report: Whether a report has it, as those of the paper with this run's numbers.
    """

    name: str
    title: str
    table: pd.DataFrame
    note: str = ""
    decimals: int | None = None
    signed: tuple[str, ...] = ()
    as_printed: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    is_folded: bool = False
    choose: Callable[[int], dict[str, Any]] | None = None
    hint: str = ""
    widths: Mapping[str, int] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    height: int | None = None
    in_files: bool = True
    in_report: bool = False


@dataclass(frozen=True)
class Inputs(Table):
    """Inputs under a heading, which people see in place of the table that is about them.

    Attributes:
        legend: What the signs of their drawings mean.
    """

    examples: tuple[Example, ...] = ()
    legend: str = ""


class ListPage(NamedTuple):
    """A page of a list of inputs.

    Attributes:
        title: What the list has, in few words.
        detail: The rest of the title, as " in 78 of all 200 sentences".
        total: The number of inputs of the list.
        examples: Those of the page.
        note: How the list was chosen.
        legend: What the signs of the drawings mean.
        hint: What a click does, after the legend on the screen; may be empty.
    """

    title: str
    detail: str
    total: int
    examples: tuple[Example, ...]
    note: str = ""
    legend: str = ""
    hint: str = ""


@dataclass(frozen=True)
class InputList:
    """A list of inputs under a heading, of which a reader chooses which there are, and which page of them is drawn.

    Attributes:
        name: In the keys of the screen and in a ZIP, as "sentences".
        result: The stored result of which `page` and `rows` list inputs.
        view: What a reader has chosen, resolved. The screen draws the list alone where only this changes.
        page: The page of the list of `result` that a view chooses.
        rows: The table about it in files.
        size: The most inputs of a page.
        fields: Of the view, beside the searched words, `search`, and the number of the page, `page`.
        folded: Those that seldom change.
    """

    name: str
    result: Any
    view: Any
    page: Callable[[Any, Any], ListPage]
    rows: Callable[[Any, Any], pd.DataFrame]
    size: int
    fields: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()

    @cached_property
    def inputs(self) -> Inputs:
        """The inputs of the page, with the table of all."""
        page = self.page(self.result, self.view)
        table = self.rows(self.result, self.view)
        title = f"{page.title}{page.detail}"
        return Inputs(self.name, title, table, note=page.note, examples=page.examples, legend=page.legend)


@dataclass(frozen=True)
class Facts:
    """What is said of one head in tables, which stand side by side on the screen.

    Attributes:
        facts: What is said, each under a title.
    """

    facts: tuple[HeadFacts, ...]

    @property
    def tables(self) -> list[Table]:
        """The tables, each named after its first column."""
        return fact_tables(self.facts)


@dataclass(frozen=True)
class Heads:
    """The table of all heads, a row of which chooses a head; in files it is the table of the result.

    Attributes:
        columns: Columns beside layer and head, by name.
        titles: Their titles, where those are not the names.
        build: Makes the table with these columns.
        arguments: What `build` takes.
        decimals: Of columns that have their own number of decimals.
        name: In a ZIP, where the table of the result is another; empty otherwise.
    """

    columns: tuple[str, ...]
    titles: dict[str, str]
    build: Callable[..., pd.DataFrame]
    arguments: tuple[Any, ...]
    title: str = "All heads"
    decimals: Mapping[str, int] = field(default_factory=dict)
    name: str = ""

    @property
    def table(self) -> Table:
        """The same as a table, of a result whose table is another."""
        return Table(self.name, self.title, self.build(*self.arguments), decimals=1)


def fact_tables(facts: Iterable[HeadFacts]) -> list[Table]:
    """Tables about a head, each named after its first column."""
    return [
        Table(
            name=f"by_{table.columns[0].title.replace(' ', '_')}",
            title=f"{each.title}, by {table.columns[0].title}{each.detail}",
            table=pd.DataFrame({column.title: column.values for column in table.columns}),
            note=each.caption,
            decimals=1,
        )
        for each in facts
        for table in each.tables
    ]
