"""Figure 6 and the matrix: heads are drawn once in each panel, as the result says."""

import math

import numpy as np
import pytest

from bertviz_core.analyses.base.findings import ABSENT, NOT_SHOWN
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.behaviors import Thresholds
from bertviz_core.analyses.clustering.embedding import dendrogram, embed
from bertviz_core.analyses.clustering.figure import by_behavior, by_distance, by_layer, matrix, places
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.heads import Head, counting_from
from bertviz_core.numbers import number
from bertviz_core.plotting import BEHAVIORS
from bertviz_core.plotting.drawing import FigureSpec
from tests.support.clusterings import clustering_of


@pytest.fixture
def result() -> Clustering:
    """2 layers of 3 heads; 1-1 next, 1-2 broad, 1-3 [SEP], 2-1 previous, 2-2 none, 2-3 found best at objects."""
    space = np.random.default_rng(0).normal(size=(6, 3))
    divergence = np.linalg.norm(space[:, None] - space, axis=-1) / 20
    averages = np.zeros((6, 6))
    averages[[0, 2, 4, 1], [0, 1, 2, 3]] = [0.9, 4.5, 0.8, 0.7]
    return clustering_of(divergence, averages.reshape(6, 2, 3)).labeled(Thresholds(), {"2-3": "objects"})


def clickable(figure) -> dict[str, tuple[float, float, str]]:
    """label -> x, y and what hovering says, of everything that a click can choose."""
    traces = [t for t in figure.data if t.type == "scatter" and t.customdata is not None]
    return {d[0]: (x, y, d[1]) for t in traces for x, y, d in zip(t.x, t.y, t.customdata, strict=True)}


def test_names_stand_where_they_cover_no_point_and_no_other_name() -> None:
    """The first has points at its upper right and upper left; to the upper right of the second stands the first's name;
    the third is at the right edge, where a name to the right would be cut off."""
    points = np.array([[0.0, 0.0], [1.0, 1.0], [0.5, 0.5], [0.55, 0.55], [0.45, 0.55], [0.48, 0.43], [1.0, 0.2]])
    x, y = points[[2, 5, 6]].T
    chosen = places(["3-1 dobj", "3-2 pobj", "2-2 coreference"], x, y, points)
    assert chosen == ["middle right", "top left", "top left"]


@pytest.mark.parametrize("figure", [by_behavior, by_layer])
def test_every_head_stands_where_the_result_says(figure, result: Clustering) -> None:
    heads = clickable(figure(result))
    assert sorted(heads) == ["1-1", "1-2", "1-3", "2-1", "2-2", "2-3"]
    assert heads["2-1"][:2] == pytest.approx(tuple(result.embedding[3]))


def test_distances_from_the_own_layer_and_from_others_are_means_over_pairs(result: Clustering) -> None:
    pairs = {True: [], False: []}
    of_head: dict[tuple[bool, str], list[float]] = {}
    names = ["1-1", "1-2", "1-3", "2-1", "2-2", "2-3"]
    for first, name in enumerate(names):
        for second, other in enumerate(names):
            if first != second:
                kind = name[0] == other[0]
                pairs[kind].append(result.divergence[first, second])
                of_head.setdefault((kind, name), []).append(result.divergence[first, second])
    dots = [trace for trace in by_distance(result).data if trace.mode == "markers"]
    for kind, trace, title in zip((True, False), dots, ("from its own layer", "from other layers"), strict=True):
        assert trace.name == f"{title} (mean {number(float(np.mean(pairs[kind])))})"
        for (name, *_), y in zip(trace.customdata, trace.y, strict=True):
            assert y == pytest.approx(np.mean(of_head[kind, name]))


def test_each_behavior_has_its_color_its_marker_and_its_words(result: Clustering) -> None:
    traces = {t.name: t for t in by_behavior(result).data if t.customdata is not None}
    assert {name: [d[0] for d in t.customdata] for name, t in traces.items()} == {
        "next token": ["1-1"],
        "previous token": ["2-1"],
        "broad attention": ["1-2"],
        "[SEP]": ["1-3"],
        "other": ["2-2"],
        "linguistic": ["2-3"],
    }
    assert len({(t.marker.color, t.marker.symbol) for t in traces.values()}) == 6
    for color, symbol, _, name in (BEHAVIORS[key] for key in ("next", "to_sep", "linguistic")):
        assert (traces[name].marker.color, traces[name].marker.symbol) == (color, symbol)
    texts = [word for t in by_behavior(result).data if "text" in t.mode for word in t.text]
    assert texts == ["S", "2-3 objects"]


def test_hovering_tells_the_head_its_number_and_its_nearest(result: Clustering) -> None:
    hover_texts = {label: words for label, (_, _, words) in clickable(by_behavior(result)).items()}
    nearest, distance = result.nearest(Head(0, 0), 1)[0]
    assert hover_texts["1-1"].startswith("1-1: 0.90 to next token")
    assert f"nearest: {nearest.label()} at {distance:.3g}" in hover_texts["1-1"]
    assert "entropy 4.50 nats" in hover_texts["1-2"]
    assert "linguistic: objects" in hover_texts["2-3"]


def test_labels_may_count_from_0_but_clicks_never_do(result: Clustering) -> None:
    with counting_from(0):
        heads = clickable(by_behavior(result))
        by_depth = clickable(by_layer(result))
    assert heads["1-1"][2].startswith("0-0: ")
    assert list(by_depth) == ["1-1", "1-2", "1-3", "2-1", "2-2", "2-3"]


def test_of_many_heads_the_matrix_has_means_of_neighbors(result: Clustering, monkeypatch) -> None:
    monkeypatch.setattr("bertviz_core.analyses.clustering.figure.MAX_ROWS", 3)
    cells = next(t for t in matrix(result).data if t.type == "heatmap")
    ordered = result.divergence[np.ix_(result.order, result.order)]
    assert list(cells.x) == list(cells.y) == [-0.5, 1.5, 3.5, 5.5]
    assert np.shape(cells.z) == (3, 3) and cells.z[0][2] == pytest.approx(ordered[:2, 4:].mean())
    first, last = (Head(*divmod(int(result.order[i]), 3)).label() for i in (0, 1))
    assert cells.customdata[0][2].startswith(f"{first} … {last} and ")


def test_the_matrix_follows_the_dendrogram(result: Clustering) -> None:
    drawn = matrix(result)
    cells = next(t for t in drawn.data if t.type == "heatmap")
    order = result.order
    np.testing.assert_array_equal(cells.z, result.divergence[np.ix_(order, order)])
    assert cells.zmax == pytest.approx(math.log(2))
    leaves = clickable(drawn)
    assert [label for label, _ in sorted(leaves.items(), key=lambda leaf: leaf[1][0])] == [
        Head(*divmod(int(i), 3)).label() for i in order
    ]
    ring = FigureSpec.of(drawn).spec(Head(1, 0))["data"][-1]
    assert (ring["x"], ring["y"], ring["xaxis"], ring["yaxis"]) == ([leaves["2-1"][0]], [0], "x2", "y2")


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1), (2, 2)])
def test_models_without_pairs_and_identical_heads_have_words_and_figures(shape: tuple[int, int]) -> None:
    heads = shape[0] * shape[1]
    divergence = np.zeros((heads, heads))
    (points, stress), (linkage, order) = embed(divergence), dendrogram(divergence)
    provenance = {"settings": {"mode": "corrected"}, "documents": 64, "segments": 64}
    averages, rest = np.zeros((6, *shape)), (10, points, stress, linkage, order, 0, False)
    result = Clustering(provenance, divergence, averages, *rest, {}, {}).labeled(Thresholds(), {})
    finding = ANALYSES["clustering"].findings(result)[0]
    assert finding.state == (ABSENT if 1 in shape else NOT_SHOWN) and "nan" not in finding.sentence
    assert by_behavior(result).data and matrix(result).data and len(result.tables()["pairs"]) == math.comb(heads, 2)
