"""Results as plotly figures: each analysis's own module `figure` has `paper_figure(result)`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import plotly.graph_objects as go


def paper_figure(result: Any) -> go.Figure:
    """The paper's figure for this result."""
    package = result.analysis if result.analysis == "emergence" else f"analyses.{result.analysis}"
    figure: go.Figure = import_module(f"bertviz_core.{package}.figure").paper_figure(result)
    return figure
