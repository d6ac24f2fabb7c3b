"""Results as plotly figures: pure functions, never torch. A module for each analysis has `paper_figure(result)`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import plotly.graph_objects as go


def paper_figure(result: Any) -> go.Figure:
    """The paper's figure for this result."""
    figure: go.Figure = import_module(f"bertviz_core.figures.{result.analysis}").paper_figure(result)
    return figure
