"""Everything that is used of plotly beyond its documented interface, one name for each.

The next version of plotly may change any of it. tests/plotting/test_plotly_internals.py has a test for each name here;
tests/test_imports.py fails where another module uses what is not documented. `SVG_PARTS` are the parts of its drawings
that appearance.css styles.
"""

from typing import Any

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

SVG_PARTS = {  # classes in plotly's SVG -> what appearance.css does with them
    "js-plotly-plot": "a figure",
    "tick": 'labels of an axis ("xtick", "ytick"), in the color of the page\'s text',
    "title": 'titles of axes ("xtitle", "ytitle"), the same',
    "annotation": "annotations, the same",
    "legend": "the legend, the same",
    "bartext": "numbers in bars, the same where they are not white",
    "gtitle": "the origin of a figure, light",
    "traces": "traces that the legend has turned off, of more contrast",
    "textpoint": "names beside dots, with a halo",
}


def set_template(figure: go.Figure, template: go.layout.Template) -> None:
    """Give a figure a template that is known to be valid, as plotly does with its own: validating it takes longer than
    all the rest of a figure."""
    figure.layout._validate = False
    figure.layout.template = template
    figure.layout._validate = True


class PrevalidatedFigure(BaseFigure):
    """A figure that was validated when it was built: plotly would validate a plain dict again."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec

    def to_dict(self) -> dict[str, Any]:
        """The figure as it was built."""
        return self._spec
