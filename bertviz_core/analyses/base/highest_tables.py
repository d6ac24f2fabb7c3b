"""The highest head and layer of each column of a result, and the means of its layers beside the paper's."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn
from bertviz_core.analyses.base.result import Result, cached_on_result
from bertviz_core.analyses.base.table_blocks import Table
from bertviz_core.heads import first_number, highest, layer_means
from bertviz_core.paper import READ_OFF

BERT = "BERT-base in the paper"


@cached_on_result
def highest_tables(result: Result, columns: tuple[HeadColumn, ...]) -> list[Table]:
    """The highest head and layer of each column, a row of which chooses the head; then the means of layers."""
    present = [each for each in columns if (values := each.read(result)) is not None and not np.isnan(values).all()]
    if not present:
        return []
    rows = pd.DataFrame([_highest(result, column) for column in present])
    heads = [highest(column.values(result)) for column in present]
    table = Table(
        name="highest",
        title="The highest head and layer of each quantity",
        table=rows.loc[:, rows.ne("").any()],
        note=f"Intervals are over {result.units_text}." if result.units_text else "",
        decimals=2,
        choose=lambda row: {"head": heads[row]},
        hint="click a row to choose its head",
        in_report=True,
    )
    return [table, *_means(result, present)]


def _papers(result: Result, column: HeadColumn) -> tuple[float, ...]:
    """(layer,) means of the column in the paper; empty where they are not of the same language or kind of model."""
    return column.paper_means if isinstance(result, HeadAverages) and result.counts_as_paper else ()


def _highest(result: Result, column: HeadColumn) -> dict[str, str]:
    values, papers = column.values(result), _papers(result, column)
    head, means = highest(values), layer_means(values)
    layer = int(np.nanargmax(means))
    levels, name = column.baselines(result)
    return {
        "quantity": column.label,
        "highest head": head.label(),
        "its value ± 95%": column.with_interval(result, head),
        "highest layer mean": f"layer {layer + first_number()}: {column.text(float(means[layer]))}",
        BERT: f"layer {int(np.argmax(papers)) + 1}: {max(papers):g}" if papers else "",
        "baseline": f"{name}: {column.text(float(levels[head]))}" if name else "",
    }


def _means(result: Result, columns: Sequence[HeadColumn]) -> list[Table]:
    """A row for each layer of this model or of the paper's; nothing where the paper has none of the columns."""
    of_columns: dict[str, Any] = {}
    for column in columns:
        if papers := _papers(result, column):
            of_columns |= {column.short: layer_means(column.values(result)), f"{column.short}, paper": papers}
    if not of_columns:
        return []
    rows = pd.DataFrame([*zip_longest(*of_columns.values(), fillvalue=np.nan)], columns=[*of_columns])
    rows.insert(0, "layer", range(first_number(), first_number() + len(rows)))
    printed = tuple(name for name in of_columns if name.endswith(", paper"))
    return [
        Table(
            name="layer_means",
            title="Means of each layer's heads",
            table=rows,
            note=f"{BERT} has {len(of_columns[printed[0]])} layers ({READ_OFF}).",
            decimals=2,
            as_printed=printed,
            in_report=True,
        )
    ]
