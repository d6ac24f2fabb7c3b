"""A table of the paper with this run's numbers beside the paper's, as a report shows it."""

from typing import NamedTuple

import numpy as np

ABSENT = "–"


class PaperTable(NamedTuple):
    """A table of texts.

    Attributes:
        header: A name for each column.
        rows: Texts, as many in each row as in the header.
        latex: The same numbers as LaTeX.
    """

    title: str
    header: list[str]
    rows: list[list[str]]
    latex: str


def percent_text(share: float, low: float = np.nan, high: float = np.nan) -> str:
    """A share in percent, with its interval if that is known, as "37.0 (35.1 to 38.9)"; ABSENT for NaN."""
    interval = "" if np.isnan(low) else f" ({100 * low:.1f} to {100 * high:.1f})"
    return ABSENT if np.isnan(share) else f"{100 * share:.1f}{interval}"
