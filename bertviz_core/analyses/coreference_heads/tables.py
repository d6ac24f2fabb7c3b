"""Tables of coreference heads: Table 2, every head by type, and all by distance and gender."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from bertviz_core.analyses.coreference_heads.counts import ItemCounts
from bertviz_core.analyses.coreference_heads.document_counts import COLUMNS, interval_by_document
from bertviz_core.analyses.coreference_heads.guesses import BREAKDOWNS, DIRECTIONS, TYPE_ROWS, by_type
from bertviz_core.analyses.proportions import share
from bertviz_core.analyses.results import tidy
from bertviz_core.heads import all_heads


def table_2(counts: ItemCounts) -> pd.DataFrame:
    """The systems, the head that is best on all types, and the head that is best on each type, all by the paper's
    measure; last the head that is best in the other direction, where there is one."""
    return pd.DataFrame([*_systems(counts), *_heads(counts)])


def _systems(counts: ItemCounts) -> Iterator[dict[str, Any]]:
    for name, right in zip(counts.systems, by_type(counts.system_correct).sum(-1), strict=True):
        for kind, correct, accuracy in zip(TYPE_ROWS, right, counts.of_system(name), strict=True):
            yield counts.row(name, name, kind, correct, accuracy)


def _heads(counts: ItemCounts) -> Iterator[dict[str, Any]]:
    best = counts.best()
    yield from (counts.head_row(best, kind) for kind in TYPE_ROWS)
    for kind, n in zip(TYPE_ROWS[1:], counts.n[1:], strict=True):
        if n and counts.best(kind) != best:
            yield counts.head_row(counts.best(kind), kind, picked_on=kind)
    for other in [counts.best(direction=direction) for direction in range(1, len(counts.directions))]:
        yield from (counts.head_row(other, kind) for kind in TYPE_ROWS)


def heads_table(counts: ItemCounts) -> pd.DataFrame:
    """Every head on every type of mention, with its interval over documents."""
    right, n = counts.typed.sum(-1), counts.n[:, None, None]
    ends = [interval_by_document(*counts.sums_of(direction)) for direction in range(len(DIRECTIONS))]
    low, high = (np.stack([np.moveaxis(each[end][..., COLUMNS["type"]], -1, 0) for each in ends]) for end in (0, 1))
    columns = {
        "n": np.broadcast_to(n, right.shape),
        "right": right,
        "accuracy": counts.accuracy,
        "low": low,
        "high": high,
    }
    names = [head.label() for head in all_heads(*right.shape[2:])]
    flat = {name: values.reshape(*values.shape[:2], -1) for name, values in columns.items()}
    return tidy({"direction": DIRECTIONS, "type": TYPE_ROWS, "head": names}, flat)


def groups_table(counts: ItemCounts) -> pd.DataFrame:
    """Every head and every system by distance and by gender."""
    known = counts.known.reshape(*counts.correct.shape[:2], -1)
    heads = [f"head {head.label()}" for head in all_heads(*counts.correct.shape[2:])]
    tables = []
    for part, groups in BREAKDOWNS.values():
        n = counts.group_n[part]
        of_systems, of_heads = counts.system_correct[:, part], known[:, part]
        columns = {"n": np.broadcast_to(n, of_systems.shape), "right": of_systems}
        tables.append(tidy({"system": counts.systems, "group": groups}, columns))
        columns = {"n": np.broadcast_to(n[:, None], of_heads.shape), "right": of_heads}
        tables.append(tidy({"direction": DIRECTIONS, "group": groups, "system": heads}, columns))
    by_group = pd.concat(tables, ignore_index=True)
    return by_group.assign(accuracy=share(by_group["right"], by_group["n"].to_numpy()))
