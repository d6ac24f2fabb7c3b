"""Figures of the probes: every probe and the paper's scores are there, and drawings say what is right."""

from __future__ import annotations

import numpy as np
import pytest

from bertviz_core import paper
from bertviz_core.analyses.probes import PROBES
from bertviz_core.corpora.samples import sample
from bertviz_core.engine.requests import Request, find
from bertviz_core.engine.store import Store
from bertviz_core.figures.probes import (
    STYLES,
    curves_figure,
    distance_figure,
    paper_figure,
    sentence_drawing,
    weight_map,
)
from bertviz_core.models.checkpoint import find as checkpoint


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """The one that ships."""
    return find(Store(tmp_path_factory.mktemp("s")), Request("probes", checkpoint("demo"), sample("treebank")))


def test_table_3_as_a_picture(result):
    here, theirs = paper_figure(result).data
    assert set(STYLES) == set(PROBES) and len(here.y) == len(PROBES)
    np.testing.assert_allclose(here.x, 100 * result.score)
    np.testing.assert_allclose(here.x + here.error_x.array, 100 * result.high)
    assert (
        dict(zip(result.probes, theirs.x, strict=True))["attention-and-words"] == paper.TABLE_3["attention-and-words"]
    )
    assert theirs.x[result.probes.index("random-attention-only")] is None


def test_curves_and_distances(result):
    drawn = {trace.legendgroup for trace in curves_figure(result).data}
    assert drawn == set(result.curves) - {"structural"}
    trace = distance_figure(result).data[result.probes.index("attention-only")]
    row = result.probes.index("attention-only")
    n = result.distance_n[row]
    assert trace.x[list(result.distances).index(0)] == "ROOT"
    assert np.nansum(trace.y * n) / 100 == pytest.approx(result.score[row] * n.sum())


def test_a_pair_s_weights_are_linear_in_its_vectors(result):
    governor, dependent = result.words[:2]
    found = result.of_pair(governor, dependent)
    vectors = result.vectors.astype(float)
    for direction, layer, head in ((0, 0, 0), (1, 3, 5)):
        weights = result.pair_weights[:, direction, layer, head].astype(float)
        expected = weights[0] @ vectors[0] + weights[1] @ vectors[1] + result.pair_bias[direction, layer, head]
        assert found[direction, layer, head] == pytest.approx(expected, rel=1e-3, abs=1e-4)
    with pytest.raises(KeyError):
        result.of_pair("no such word", dependent)
    assert weight_map(found[0], "x").data[0].marker.cmin == -weight_map(found[0], "x").data[0].marker.cmax


def test_drawings_count_right_words_and_escape_what_came_from_a_file():
    sentence = {
        "words": ["<b>", "ran", "."],
        "governors": [2, 0, 2],
        "relations": ["nsubj", "root", "punct"],
        "guesses": {"attention-only": [2, 1, 2], "structural": [[0, 1]]},
    }
    said, svg = sentence_drawing(sentence, "attention-only")
    assert said == "1 of 2 words right" and "<b>" not in svg and "&lt;b&gt;" in svg
    assert sentence_drawing(sentence, "structural")[0] == "1 of 1 edges right"
