"""Each name that is used of plotly beyond its documented interface still does what is expected of it."""

import json
import re
from pathlib import Path

import plotly.graph_objects as go
import plotly.io as pio
import plotly.tools
import pytest
from plotly.offline import get_plotlyjs

from bertviz_core.plotting import ON_PAGES
from bertviz_core.plotting.plotly_internals import SVG_PARTS, PrevalidatedFigure, set_template

APPEARANCE = Path(__file__).parents[2] / "pages/shared/frame/appearance.css"


def test_a_template_is_set_as_plotly_sets_one_and_later_values_are_validated() -> None:
    figure, expected = go.Figure(), go.Figure(layout={"template": ON_PAGES})
    set_template(figure, ON_PAGES)
    assert json.loads(figure.to_json()) == json.loads(expected.to_json())
    with pytest.raises(ValueError):
        figure.layout.height = "nonsense"


def test_a_figure_that_was_validated_is_passed_on_as_it_is() -> None:
    spec = {"data": [{"type": "scatter", "y": [1, 2], "no attribute": 1}], "layout": {}}
    figure = PrevalidatedFigure(spec)
    accepted = plotly.tools.return_figure_from_figure_or_data(figure, validate_figure=True)  # as Streamlit does
    assert json.loads(pio.to_json(accepted, validate=False)) == spec


def test_the_style_sheet_uses_the_listed_parts_of_drawings_and_no_others() -> None:
    rules = [line for line in APPEARANCE.read_text().splitlines() if "js-plotly-plot" in line]
    used = set(re.findall(r"\.([a-z-]+)", " ".join(rules))) | set(re.findall(r'class[$^]="(\w+)"', " ".join(rules)))
    assert used == set(SVG_PARTS)
    script = get_plotlyjs()
    assert all(name in script for name in used)
