"""Table 2 as LaTeX: systems and best heads by type of mention."""

from __future__ import annotations

import numpy as np

from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.groups import TYPE_ROWS
from bertviz_core.plotting.latex import escaped, tabular


def latex(result: AntecedentCounts) -> str:
    """A row for each system and each best head, a column for each type, percent (booktabs)."""
    table = result.to_frame().pivot_table("accuracy", ["system"], "type", aggfunc="first", sort=False, dropna=False)
    rows = [
        (
            escaped(name),
            *("--" if np.isnan(values.get(kind, np.nan)) else f"{100 * values[kind]:.1f}" for kind in TYPE_ROWS),
        )
        for name, values in table.iterrows()
    ]
    counts = [rf"{kind.capitalize()} ($n$ = {n:,})" for kind, n in zip(TYPE_ROWS, result.n, strict=True)]
    return tabular("l" + "r" * len(TYPE_ROWS), ("Model", *counts), rows)
