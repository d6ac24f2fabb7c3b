"""What the page of minimal pairs shows of sets of heads: one set beside its controls, or a matrix of several."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.blocks import Block, Chart, Columns
from bertviz_core.analyses.base.table_blocks import Table
from bertviz_core.analyses.minimal_pairs.figure import matrix_figure, set_figure
from bertviz_core.analyses.minimal_pairs.head_sets import head_names
from bertviz_core.analyses.minimal_pairs.pair_blocks import flipped_inputs
from bertviz_core.analyses.minimal_pairs.result import QUANTITIES, MinimalPairs, SetRecord, against_others, points_text
from bertviz_core.analyses.minimal_pairs.set_statements import controls_name, heads_of, span
from bertviz_core.numbers import nats


def set_blocks(result: MinimalPairs) -> Iterator[Block]:
    """The blocks of the sets that are removed; none where there are none."""
    if head_set := result.head_set:
        left, right = (_set_chart(result, head_set, quantity) for quantity in QUANTITIES)
        yield Columns(left=(left,), right=(right,))
        yield set_table(result, head_set)
        yield flipped_inputs(result, None)
    elif result.sets:
        yield _matrix_chart(result)
        yield matrix_table(result)


def _set_chart(result: MinimalPairs, head_set: SetRecord, quantity: str) -> Chart:
    """The change of a quantity by phenomenon, beside the controls."""
    what = {"accuracy_change": "Change of accuracy", "margin_change": "Change of the margin"}[quantity]
    heads = head_names(heads_of(head_set))
    return Chart(
        name=f"minimal_pairs-set-{quantity.split('_', maxsplit=1)[0]}",
        title=f"{what} without {heads}",
        build=set_figure,
        arguments=(result, quantity),
        alt=f"{what} without {heads} by phenomenon, with intervals, beside the changes without random sets",
    )


def set_table(result: MinimalPairs, head_set: SetRecord) -> Table:
    """The change without a set in every phenomenon, beside its controls and the change in the others."""
    specificity = against_others(result.set_changes[:-1, 0, 0])
    rows = []
    for place, name in enumerate(result.phenomena):
        against = specificity[place]
        rows.append(
            {
                "phenomenon": name,
                "pairs": int(result.pairs[place]),
                "accuracy": f"{result.accuracy[place]:.0%}",
                "points": _change(result, place, 0),
                "points, controls": _control_span(result, place, 0),
                "against the others": "–" if np.isnan(against) else f"{100 * against:+.1f}",
                "margin, nats": _change(result, place, 1),
                "margin, controls": _control_span(result, place, 1),
            }
        )
    controls = f", and the range of those without each of {controls_name(result)}" if result.controls else ""
    note = (
        f"Accuracy with all heads; the changes without the set with 95% intervals{controls}; the change of accuracy "
        "minus its mean in the other phenomena. Where no pair turns, an interval has no width."
    )
    return Table("set", f"Without {head_names(heads_of(head_set))}, by phenomenon", pd.DataFrame(rows), note)


def _change(result: MinimalPairs, row: int, quantity: int) -> str:
    """The change of a quantity without the set: points, or nats."""
    change = float(result.set_changes[row, quantity, 0])
    half = float(result.set_intervals(QUANTITIES[quantity])[row, 0])
    text = nats if quantity else points_text
    return text(change, half, result.unit, unit="")


def _control_span(result: MinimalPairs, row: int, quantity: int) -> str:
    factor, form = ((100, "+.1f"), (1, "+.2f"))[quantity]
    return span(factor * result.control_changes[row, quantity], form) if result.controls else "–"


def _matrix_chart(result: MinimalPairs) -> Chart:
    return Chart(
        name="minimal_pairs-matrix",
        title="Points of accuracy without the heads of each relation",
        build=matrix_figure,
        arguments=(result,),
        alt="Change of accuracy for each phenomenon without the heads of each relation, in points",
        note="In brackets how many heads are removed.",
    )


def matrix_table(result: MinimalPairs) -> Table:
    """A row for each relation: its heads, and the change in every phenomenon; a click removes them with controls."""
    columns = {
        "relation": [each["name"] for each in result.sets],
        "heads": [head_names(heads_of(each)) for each in result.sets],
        "found": ["yes" if each["is_found"] else "no" for each in result.sets],
    }
    halves = result.set_intervals("accuracy_change")
    for row, name in enumerate(result.phenomena):
        cells = zip(result.set_changes[row, 0].tolist(), halves[row].tolist(), strict=True)
        title = f"{name} (phenomenon)" if name in columns else name
        columns[title] = [points_text(change, half, result.unit, unit="") for change, half in cells]
    note = (
        "The heads that are the best at a relation on one half of a corpus, removed together: the change of accuracy "
        "in points, with 95% intervals. “Found” are relations whose heads are above every baseline on the other half. "
        "Cells decide nothing: they are many, and have no random sets beside them."
    )
    return Table(
        "matrix",
        "Relations by phenomena",
        pd.DataFrame(columns),
        note,
        decimals=1,
        choose=lambda row: {"heads": result.sets[row]["name"]},
        hint="a click removes the heads of a relation alone, with random sets",
    )
