"""Figures 2 and 4 and the map of heads: the points are the numbers, clicks carry labels, the chosen is ringed."""

import numpy as np
import pytest

from bertviz_core.analyses.base.averages import HeadAverages
from bertviz_core.analyses.entropy import figure as entropy
from bertviz_core.analyses.entropy.result import Entropy
from bertviz_core.analyses.surface_patterns import figure as surface_patterns
from bertviz_core.analyses.surface_patterns.result import SurfacePatterns
from bertviz_core.exports import paper_figure
from bertviz_core.heads import counting_from
from bertviz_core.plotting.head_map import map_figure, value_map
from tests.support import shipped


def test_figure_2_draws_every_head_of_every_quantity():
    result: HeadAverages = shipped.result("surface_patterns")
    figure = surface_patterns.paper_figure(result)
    dots = {trace.name: trace for trace in figure.data if trace.mode == "markers" and trace.name}
    np.testing.assert_allclose(dots["[CLS]"].y, result["to_cls"].reshape(-1))
    np.testing.assert_allclose(dots["the next token"].y, result["next"].reshape(-1))
    assert list(dots["[CLS]"].customdata[12][:1]) == ["2-1"]  # after the 12 heads of layer 1
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert len(lines) == 8
    np.testing.assert_allclose(lines[0].y, result["to_cls"].mean(1))


def test_figure_4_has_the_uniform_line_and_units():
    result: Entropy = shipped.result("entropy")
    figure = entropy.paper_figure(result)
    assert {shape.y0 for shape in figure.layout.shapes} == {result.uniform}
    assert figure.layout.yaxis.title.text == "entropy, nats"


def test_a_quantity_that_no_segment_has_is_not_drawn():
    full: HeadAverages = shipped.result("surface_patterns")
    keep = [i for i, name in enumerate(full.quantities) if "cls" not in name and "sep" not in name]
    per_quantity = ("mean", "error", "segments", "units", "effective_units", "top", "top_values")
    part = {name: getattr(full, name)[keep] for name in per_quantity}
    quantities = [full.quantities[i] for i in keep]
    bare = SurfacePatterns(full.provenance, quantities, unit=full.unit, texts=full.texts, **part)
    names = {trace.name for trace in paper_figure(bare).data if trace.name}
    assert names == {
        "full stops and commas",
        "the token itself",
        "the previous token",
        "the next token",
        "the first token",
    }


@pytest.mark.parametrize(("layers", "heads"), [(6, 8), (24, 16), (1, 1)])
def test_the_map_has_layers_across_heads_down(layers, heads):
    values = np.random.default_rng(0).random((layers, heads))
    with counting_from(0):
        (squares,) = map_figure(value_map(values, "x")).data
    np.testing.assert_allclose(squares.z, values.T)
    assert (squares.x[-1], squares.y[-1]) == (str(layers - 1), str(heads - 1))
    assert squares.text[-1][-1].startswith(f"{layers - 1}-{heads - 1}: ")
