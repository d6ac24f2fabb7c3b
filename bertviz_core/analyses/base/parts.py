"""What a page shows under its figures of what is chosen of a result, for the result's files: tables about the chosen
head, and inputs with what it does in them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn
from bertviz_core.analyses.base.head_facts import HeadFacts
from bertviz_core.analyses.base.result import Result
from bertviz_core.heads import Head, first_number, ranks
from bertviz_core.inputs.tokens import joined_pieces
from bertviz_core.numbers import number, plural


class Example(NamedTuple):
    """An input as a page shows it.

    Attributes:
        title: Where it is, and what is shown of it.
        text: Its words.
        svg: The drawing; empty where the text is all that is shown.
        notes: A line for each thing that is pointed out in it.
    """

    title: str
    text: str
    svg: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """A table under a heading, and the inputs that it is about.

    Attributes:
        name: Of the table in a ZIP, as "sentences".
        title: The heading.
        table: All rows.
        note: What is under the heading; may be empty.
        examples: The inputs that are shown in place of the table where files are read by people.
        legend: What the signs of their drawings mean.
        decimals: Those of its numbers where people read them; None for as many as they need.
        signed: Columns of whole numbers that are read with their sign.
    """

    name: str
    title: str
    table: pd.DataFrame
    note: str = ""
    examples: tuple[Example, ...] = ()
    legend: str = ""
    decimals: int | None = None
    signed: tuple[str, ...] = ()


Card = tuple[str, str, str]  # name, value, and a note such as the paper's number


def cards_part(cards: Iterable[Card]) -> Part:
    """The key numbers of a page as a table."""
    return table_part(
        "numbers", "Key numbers", [dict(zip(("name", "value", "note"), card, strict=True)) for card in cards]
    )


def column_cards(result: Result, column: HeadColumn) -> list[Card]:
    """The highest layer of a column, and the mean over all heads beside the baseline."""
    values = column.values(result)
    baselines, name = column.baselines(result)
    means = np.nanmean(values, axis=1)
    layer = int(means.argmax())
    highest_mean = f"mean of its heads: {column.text(means[layer])}"
    beside = f"{name}: {column.text(float(np.mean(baselines)))}" if name else ""
    return [
        ("Highest layer", str(layer + first_number()), highest_mean),
        ("Mean over heads", column.text(np.nanmean(values)), beside),
    ]


def table_part(name: str, title: str, rows: Sequence[dict[str, Any]], note: str = "") -> Part:
    """The part of a table given as rows."""
    return Part(name, title, pd.DataFrame(rows), note)


def head_rows(result: Result, head: Head, columns: Iterable[HeadColumn]) -> list[dict[str, str]]:
    """The head's number and rank in each of the columns that the result has."""
    rows = []
    for column in columns:
        values = column.read(result)
        if values is not None:
            rank = f"{ranks(values)[head]} of {values.size}"
            rows.append({"quantity": column.short, "value": column.with_interval(result, head), "rank": rank})
    return rows


def head_title(result: Result, head: Head) -> str:
    """The heading of `head_rows`."""
    over = f", with 95% intervals over {result.units_text}" if isinstance(result, HeadAverages) else ""
    return f"Head {head.label()}{over}"


def head_part(result: Result, column: HeadColumn, columns: Iterable[HeadColumn]) -> Part:
    """The numbers of the chosen head, that of the chosen column first."""
    head = Head.parse(result.choices["head"])
    ordered = [column, *(each for each in columns if each != column)]
    return table_part("head", head_title(result, head), head_rows(result, head, ordered))


def segments_parts(result: Result, column: HeadColumn) -> list[Part]:
    """The inputs in which the chosen column is highest for the chosen head, if any are kept."""
    if isinstance(result, HeadAverages) and result.texts and column.quantity in result:
        return [segments_part(result, column, Head.parse(result.choices["head"]))]
    return []


def segments_part(result: HeadAverages, column: HeadColumn, head: Head) -> Part:
    """The inputs in which a head's value is highest, the highest first."""
    rows = []
    examples = []
    for segment in result.highest_segments(column.quantity, head):
        tokens = " ".join(segment.tokens)
        row = {"passage": segment.number + 1, "where": segment.where, column.quantity: segment.value, "tokens": tokens}
        rows.append(row)
        examples.append(Example(f"{number(segment.value)}, {segment.place}", joined_pieces(tokens)))
    title = segments_title(len(rows), head)
    return Part("passages", title, pd.DataFrame(rows), segments_note(column), tuple(examples))


def segments_title(count: int, head: Head) -> str:
    """The title of so many segments with a high value of a head."""
    return f"{plural(count, 'segments')} in which head {head.label()} shows it most"


def segments_note(column: HeadColumn) -> str:
    """The note above the segments with the highest values of a column."""
    return f"Those with the highest value: {column.short}."


def fact_parts(facts: Iterable[HeadFacts]) -> list[Part]:
    """Tables about a head, each named after its first column."""
    return [
        Part(
            f"by_{table.columns[0].title.replace(' ', '_')}",
            f"{each.title}, by {table.columns[0].title}{each.detail}",
            pd.DataFrame({column.title: column.values for column in table.columns}),
            each.caption,
            decimals=1,
        )
        for each in facts
        for table in each.tables
    ]
