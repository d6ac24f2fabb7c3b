"""What surface patterns store: shares of attention for every head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bertviz_core.analyses.head_averages import HeadAverages

QUANTITIES = ("current", "previous", "next", "to_cls", "to_sep", "to_punct", "sep_to_sep", "other_to_sep")


@dataclass(frozen=True, slots=True)
class SurfacePatterns(HeadAverages):
    """Shares of attention, 0 to 1, for every quantity in QUANTITIES."""

    analysis: ClassVar[str] = "surface_patterns"
