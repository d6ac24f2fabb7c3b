"""The pictures of the gradients hold the result's numbers."""

from typing import Any

import numpy as np
import pytest

from bertviz_core.analyses.base.registry import BUILT_IN
from bertviz_core.analyses.sep_gradients.figure import no_op_figure, paper_figure
from bertviz_core.analyses.sep_gradients.result import CLASSES, QUANTITIES, SepGradients, sink
from bertviz_core.heads import counting_from

LAYERS, HEADS = 3, 2


@pytest.fixture
def result() -> SepGradients:
    """Random values, most attention to SEP; the classes' shares add up to 1; no first token is a class of its own."""
    draw = np.random.default_rng(0)
    mean = draw.random((len(QUANTITIES), LAYERS, HEADS)) * 1e-3
    mean[-len(CLASSES) : -1] = draw.dirichlet([9, 1, 1, 1], (LAYERS, HEADS)).transpose(2, 0, 1)
    present = np.array(["first" not in name for name in QUANTITIES])
    mean[~present] = np.nan
    return _result(mean, 7 * present)


def _result(mean: np.ndarray, segments: np.ndarray) -> SepGradients:
    none = np.zeros((*mean.shape, 0))
    return SepGradients(
        {}, list(QUANTITIES), mean, mean / 10, segments, segments, segments, "documents", none, none, {}, 2.5, 3, 12
    )


def _without(result: SepGradients, token: str) -> SepGradients:
    """A result of a corpus in which no segment has the class."""
    absent = [place for place, name in enumerate(QUANTITIES) if token in name]
    mean, segments = result.mean.copy(), result.segments.copy()
    mean[absent], segments[absent] = np.nan, 0
    return _result(mean, segments)


def traces(figure: Any, mode: str) -> dict[str, Any]:
    return {t.legendgroup: t for t in figure.data if t.type == "scatter" and t.mode == mode and t.legendgroup}


def test_figure_3_has_a_dot_for_each_head_and_a_line_through_the_means(result: SepGradients) -> None:
    figure = paper_figure(result)
    dots, lines = traces(figure, "markers"), traces(figure, "lines")
    assert list(dots) == ["1-to_sep", "1-to_punct", "1-to_cls", "1-to_other"]
    for key in dots:
        np.testing.assert_array_equal(dots[key].y, result[key[2:]].reshape(-1))
        np.testing.assert_allclose(lines[key].y, result[key[2:]].mean(1))
    assert figure.layout.yaxis.type == "log"


def test_the_no_op_picture_has_attention_over_gradient(result: SepGradients) -> None:
    with counting_from(0):
        figure = no_op_figure(result)
    dots = traces(figure, "markers")
    np.testing.assert_array_equal(dots["1-attention_to_sep"].y, result["attention_to_sep"].reshape(-1))
    np.testing.assert_array_equal(dots["2-to_sep"].y, result["to_sep"].reshape(-1))
    assert (figure.layout.yaxis.type, figure.layout.yaxis2.type) == (None, "log")
    assert list(dots["2-to_sep"].customdata[2]) == ["2-1", "1-0", dots["2-to_sep"].customdata[2][2]]
    (ratio,) = [trace for trace in figure.data if trace.mode == "lines+text"]
    layer = int(result["attention_to_sep"].mean(1).argmax())
    sep, other = result["to_sep"][layer].mean(), result["to_other"][layer].mean()
    np.testing.assert_allclose([ratio.y[0], ratio.y[2]], [sep, other])
    assert ratio.text[1] == f"{sep / other:.2f} times"
    assert not [trace for trace in no_op_figure(result, with_ratio=False).data if trace.mode == "lines+text"]


def test_a_class_that_no_segment_has_is_missing_not_zero(result: SepGradients) -> None:
    """A model without SEP: its quantities are absent."""
    without = _without(result, "sep")
    assert list(traces(paper_figure(without), "markers")) == ["1-to_punct", "1-to_cls", "1-to_other"]
    assert "to_sep" not in without.arrays()


def test_there_is_no_sink_where_every_token_is_punctuation_or_special(result: SepGradients) -> None:
    without = _without(result, "other")
    assert sink(result) and sink(without) is None
    assert [finding.state for finding in BUILT_IN["sep_gradients"].findings(without)] == ["absent"]
