"""What is shown of a result whose numbers are columns of all heads: the blocks of which its page is made."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn
from bertviz_core.analyses.base.blocks import Block, Card, Map, Say
from bertviz_core.analyses.base.result import Result, head_frame
from bertviz_core.analyses.base.shown_inputs import Example, Opened
from bertviz_core.analyses.base.table_blocks import Heads, Inputs, Table
from bertviz_core.heads import Head, first_number, ranks
from bertviz_core.inputs.tokens import joined_pieces
from bertviz_core.numbers import number, plural


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


def column_map(name: str, result: Result, column: HeadColumn) -> Map:
    """The map of a column; `name` is that of the analysis."""
    alt = f"Map of all heads, layer by head, colored by {column.label}"
    return Map(name=f"{name}-map", title=column.label, build=HeadColumn.map, arguments=(column, result), alt=alt)


def head_note(result: Result, column: HeadColumn, head: Head) -> Say:
    """The chosen head's number and its rank, in a sentence for files: the screen has them in a table."""
    rank = ranks(column.values(result))
    text = f"Head {head.label()}: {column.with_interval(result, head)}, rank {rank[head]} of {rank.size}"
    return Say(f"{text} in {column.label}.", chosen=True, on_screen=False)


def head_numbers(result: Result, column: HeadColumn, columns: Iterable[HeadColumn], head: Head) -> Table:
    """The head's number and rank in each of the columns that the result has, that of the chosen column first."""
    rows = []
    for each in [column, *(each for each in columns if each != column)]:
        values = each.read(result)
        if values is not None:
            rank = f"{ranks(values)[head]} of {values.size}"
            rows.append({"quantity": each.short, "value": each.with_interval(result, head), "rank": rank})
    has_units = isinstance(result, HeadAverages) and result.units_text
    over = f", with 95% intervals over {result.units_text}" if has_units else ""
    return Table("head", f"Head {head.label()}{over}", pd.DataFrame(rows), is_folded=True)


def highest_inputs(result: Result, column: HeadColumn, head: Head) -> Iterator[Block]:
    """The inputs in which the column is highest for the head, if any are kept."""
    if not isinstance(result, HeadAverages) or not result.texts or column.quantity not in result:
        return
    rows: list[dict[str, Any]] = []
    examples = []
    for segment in result.highest_segments(column.quantity, head):
        tokens = " ".join(segment.tokens)
        row = {"passage": segment.number + 1, "where": segment.where, column.quantity: segment.value, "tokens": tokens}
        rows.append(row)
        title = f"{number(segment.value)}, {segment.place}"
        examples.append(Example(title, joined_pieces(tokens), opened=Opened(segment.number)))
    yield Inputs(
        name="passages",
        title=f"{plural(len(rows), 'segments')} in which head {head.label()} shows it most",
        table=pd.DataFrame(rows),
        note=f"Those with the highest value: {column.short}.",
        examples=tuple(examples),
    )


def all_heads_table(result: Result, columns: Iterable[HeadColumn]) -> Heads:
    """The table of all heads with the columns that the result has."""
    present = tuple(column for column in columns if column.read(result) is not None)
    return Heads(
        columns=tuple(column.quantity for column in present),
        titles={column.quantity: column.short for column in present},
        build=frame_of,
        arguments=(result, present),
    )


def frame_of(result: Result, columns: tuple[HeadColumn, ...]) -> pd.DataFrame:
    """A row for each head with these columns."""
    return head_frame({column.quantity: column.values(result) for column in columns})
