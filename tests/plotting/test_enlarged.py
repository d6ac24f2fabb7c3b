"""What a room sees: no letter of any figure is below 16 pixels, and nothing of the shared drawing changes."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from bertviz_core.analyses.registry import ANALYSES, BUILT_IN
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import find
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.engine.store import Store
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import DEMO
from bertviz_core.models.checkpoint import find as find_model
from bertviz_core.plotting.drawing import PROJECTED, Drawing, enlarged


def sizes(value: Any, name: str = "") -> Iterator[float]:
    """Every size of a font in a figure."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from sizes(part, f"{name}.{key}")
    elif isinstance(value, list | tuple):
        for part in value:
            yield from sizes(part, name)
    elif name.endswith("font.size"):
        yield value


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_no_letter_of_the_paper_s_figures_is_too_small_for_a_room(name: str, tmp_path: Path) -> None:
    analysis = ANALYSES[name]
    corpus = next(iter(SAMPLES[analysis.corpus]))
    result = find(Store(tmp_path / "store"), Request(name, find_model(DEMO), sample(corpus)))
    if result is None:
        pytest.skip("no result of this analysis ships")
    spec = Drawing.of(analysis.figure(result)).spec(Head(0, 0), "made of this, and of that")
    before = copy.deepcopy(spec)
    grown = enlarged(spec)
    assert spec == before
    assert min(sizes(grown)) >= PROJECTED == 16
    assert grown["layout"]["font"]["size"] >= PROJECTED
    assert grown["layout"]["height"] == pytest.approx(1.4 * spec["layout"]["height"])
    assert "<br>" in grown["layout"]["title"]["text"]


def test_lines_markers_and_margins_grow_and_data_stays() -> None:
    figure = go.Figure(layout={"height": 300, "margin": {"t": 10}, "xaxis": {"tickfont": {"size": 9}}})
    figure.add_scatter(x=[1, 2], y=[3, 4], line={"width": 2}, marker={"size": 5})
    grown = enlarged(Drawing.of(figure).spec())
    trace = grown["data"][0]
    assert (trace["x"], trace["y"]) == ([1, 2], [3, 4])
    assert (trace["line"]["width"], trace["marker"]["size"]) == (2.8, 7)
    assert (grown["layout"]["margin"]["t"], grown["layout"]["xaxis"]["tickfont"]["size"]) == (14, 16)
