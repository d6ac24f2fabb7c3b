"""Tables as LaTeX (booktabs)."""

from __future__ import annotations

import pandas as pd


def tabular(frame: pd.DataFrame) -> str:
    """A whole tabular with the frame's columns, numbers with one decimal; every text is escaped."""
    shown = frame.style.hide(axis="index").format_index(escape="latex", axis=1)
    shown = shown.format(escape="latex", precision=1, thousands=",", na_rep="--")
    return str(shown.to_latex(hrules=True)).replace("->", r" $\to$ ")
