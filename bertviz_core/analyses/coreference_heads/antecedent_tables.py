"""Table 2's rows, the claim, and the tables of every head and system that are exported with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bertviz_core.analyses.coreference_heads.groups import BIN_NAMES, GENDERS, TYPE_ROWS, by_distance, by_gender
from bertviz_core.analyses.coreference_heads.guesses import DIRECTIONS
from bertviz_core.analyses.proportions import share, wilson
from bertviz_core.analyses.results import tidy

if TYPE_CHECKING:
    import pandas as pd

BREAKDOWNS: tuple[tuple[Callable[[np.ndarray], np.ndarray], Sequence[str]], ...] = (
    (by_distance, BIN_NAMES),
    (by_gender, GENDERS),
)


def table_row(system: str, kind: str, right: float, total: int, heldout: float, direction: str = "") -> dict[str, Any]:
    """A row of Table 2: a system's accuracy on mentions of one kind, with its interval.

    Args:
        system: Its name: a baseline, or a head.
        kind: One of TYPE_ROWS.
        right: Its right guesses, of `total`.
        total: Items of that kind.
        heldout: Accuracy in the other half of the documents, NaN where there is none.
        direction: One of DIRECTIONS for a head.
    """
    low, high = wilson(right, total)
    return {
        "system": system,
        "type": kind,
        "n": int(total),
        "accuracy": right / total if total else np.nan,
        "low": float(low),
        "high": float(high),
        "heldout_accuracy": float(heldout),
        "direction": direction,
    }


def claim_of(best: dict[str, Any], systems: dict[str, float], other: dict[str, Any] | None) -> str:
    """One sentence that sums up the rows of Table 2 on all mentions.

    Args:
        best: The best head, mention → antecedent.
        systems: Name of a chance level or baseline -> its accuracy.
        other: The best head of the other direction, where it finds more.
    """
    heldout = "" if np.isnan(best["heldout_accuracy"]) else f"; {best['heldout_accuracy']:.1%} held out"
    more = f" Read antecedent → mention, {_head(other)} finds more: {other['accuracy']:.1%}." if other else ""
    others = ", ".join(f"{name} {accuracy:.1%}" for name, accuracy in systems.items())
    return (
        f"{_head(best).capitalize()}, mention → antecedent, finds an antecedent of {best['accuracy']:.1%} of "
        f"{best['n']:,} mentions (95% interval {best['low']:.1%} to {best['high']:.1%}{heldout}); {others}.{more}"
    )


def _head(row: dict[str, Any]) -> str:
    """The name of a row's head, without its direction."""
    return str(row["system"]).partition(",")[0]


def heads_table(names: list[str], right: np.ndarray, n: np.ndarray) -> pd.DataFrame:
    """Every head on every type of mention.

    Args:
        names: The heads' labels.
        right: (direction, type, head) right guesses.
        n: (type,) items.
    """
    items = np.broadcast_to(n[:, None], right.shape)
    low, high = wilson(right, items)
    columns = {"n": items, "right": right, "accuracy": share(right, items), "low": low, "high": high}
    return tidy({"direction": DIRECTIONS, "type": TYPE_ROWS, "head": names}, columns)


def groups_table(
    names: list[str], correct: np.ndarray, systems: list[str], system_correct: np.ndarray, group_n: np.ndarray
) -> pd.DataFrame:
    """Every system and every head by distance, then by gender.

    Args:
        names: The heads' labels.
        correct: (direction, group, head) right guesses.
        systems: Names of the systems.
        system_correct: (system, group) right guesses.
        group_n: (group,) items.
    """
    import pandas as pd

    tables = []
    for by, groups in BREAKDOWNS:
        of_heads = np.moveaxis(by(np.moveaxis(correct, 1, -1)), -1, 1)
        tables += [
            _counts_table({"system": systems, "group": groups}, by(group_n), by(system_correct)),
            _counts_table(
                {"direction": DIRECTIONS, "group": groups, "system": [f"head {name}" for name in names]},
                by(group_n)[:, None],
                of_heads,
            ),
        ]
    table = pd.concat(tables, ignore_index=True)
    return table.assign(accuracy=share(table["right"], table["n"].to_numpy()))


def _counts_table(axes: dict[str, Sequence[str]], n: np.ndarray, right: np.ndarray) -> pd.DataFrame:
    return tidy(axes, {"n": np.broadcast_to(n, right.shape), "right": right})
