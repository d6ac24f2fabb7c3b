"""Figures of the coreference heads show the result's own numbers."""

import numpy as np
import pytest

from bertviz_core.analyses.base.findings import SHOWN, decide
from bertviz_core.analyses.behaviors import linguistic
from bertviz_core.analyses.coreference_heads import by_group, direction_finding, more_figures, paper_figure
from bertviz_core.analyses.coreference_heads.guesses import SIMPLE
from bertviz_core.analyses.coreference_heads.result import AntecedentCounts
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.heads import DirectedHead, Head
from tests import shipped


@pytest.fixture(scope="module")
def result() -> AntecedentCounts:
    return shipped.result("coreference_heads").default_view()


def test_a_map_for_each_type(result):
    figure = paper_figure(result)
    assert figure.data[0].colorbar.title.text == "accuracy of attention mention → antecedent"
    for trace, values in zip(figure.data, result.accuracy[0], strict=True):
        np.testing.assert_allclose(trace.z, values.T)
    assert [a.text for a in figure.layout.annotations][:2] == [
        f"{kind}, n = {n:,}" for kind, n in zip(("all", "pronoun"), result.n, strict=False)
    ]


def test_distance_and_gender_show_shares_with_their_counts(result):
    one = DirectedHead(0, Head(5, 3))
    for figure, (right, total, *_) in (
        (by_group(result, [one, "nearest"]), result.scores(one).of("distance")),
        (by_group(result, [one, "nearest"], breakdown="gender"), result.scores(one).of("gender")),
    ):
        trace = figure.data[0]
        np.testing.assert_allclose(trace.y, right / total)
        np.testing.assert_array_equal(trace.customdata[:, 0], total)
        assert [line.name for line in figure.data] == ["head 6-4", "nearest"]
        assert (np.array(trace.error_y.array) >= 0).all() and (np.array(trace.error_y.arrayminus) >= 0).all()


def test_the_exported_figure_has_no_two_lines_alike_and_no_interval_for_what_is_exact(result):
    (figure,) = more_figures(result).values()
    assert len({(line.line.dash, line.marker.symbol) for line in figure.data}) == len(figure.data)
    assert [line.name for line in figure.data if line.error_y.array is None] == ["random candidate"]
    other = by_group(result, [DirectedHead(1, Head(5, 3)), "nearest"])
    assert other.data[0].name == "head 6-4, antecedent → mention"


def test_a_finding_beside_a_weaker_baseline_names_the_best_one_too(result):
    shares = {name: float(result.systems_accuracy[result.systems.index(name), 0]) for name in (*SIMPLE, "rule-based")}
    best = max(SIMPLE, key=shares.__getitem__)
    found = {each.id.partition(".")[2]: each.sentence for each in ANALYSES["coreference_heads"].findings(result)}
    for name, system in (("nearest", "nearest"), ("head_match", "head match"), ("rule_based", "rule-based")):
        assert f"{system} ({shares[system]:.1%})" in found[name]
        assert (f"; the best simple baseline is {best} ({shares[best]:.1%})" in found[name]) == (system != best)
    assert f"the best simple baseline, {best} ({shares[best]:.1%})" in found["simple_baselines"]
    assert f"; rules find {shares['rule-based']:.1%}." in found["simple_baselines"]


def test_pages_and_overview_call_a_head_linguistic_by_one_rule(result):
    """The finding of the page is shown where the overview names the head."""
    is_named = bool(linguistic({"coreference_heads": result}))
    assert (direction_finding(result, 0).state == SHOWN) == is_named == result.finds_antecedents()
    gains = [result.gain(system) for system in SIMPLE]
    assert result.finds_antecedents() == all(decide(gain) == SHOWN for gain in gains)
