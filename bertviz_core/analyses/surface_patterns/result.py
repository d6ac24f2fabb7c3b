"""What surface patterns store: shares of attention for every head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bertviz_core.analyses.head_averages import HeadAverages

QUANTITIES = ("current", "previous", "next", "to_cls", "to_sep", "to_punct", "sep_to_sep", "other_to_sep")
CLASSES = ("cls", "sep", "punct", "other")
NORM_QUANTITIES = (*(f"norm_{name}" for name in CLASSES), "norm_correlation")


@dataclass(frozen=True, slots=True)
class SurfacePatterns(HeadAverages):
    """Shares of attention, 0 to 1, for every quantity in QUANTITIES.

    Where norms were read, these are shares of norms, and NORM_QUANTITIES follow: the mean length |f(x_j)| of what the
    tokens of each class pass on, and Spearman's correlation, over the tokens of a segment, of that length with the mean
    attention weight that the token receives (docs/methods.md, section 11).
    """

    analysis: ClassVar[str] = "surface_patterns"
