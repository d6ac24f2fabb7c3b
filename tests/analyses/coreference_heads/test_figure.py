"""Figures of the coreference heads show the result's own numbers."""

import numpy as np
import pytest

from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.figure import by_group, group_charts, paper_figure
from bertviz_core.analyses.coreference_heads.systems_table import systems_table
from bertviz_core.heads import DirectedHead, Head
from tests.support import shipped


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


def test_table_2_has_the_shares_with_their_intervals_and_a_head_that_is_not_the_best(result):
    rows = systems_table(result, result.best()).table.set_index("system")["nominal"]
    for name in ("nearest", "rule-based"):
        row = result.row(name, "nominal")
        accuracy, low, high = (f"{100 * row[end]:.1f}" for end in ("accuracy", "low", "high"))
        assert rows[name] == f"{accuracy} [{low}–{high}]"
    assert rows["chance"] == f"{100 * result.row('chance', 'nominal')['accuracy']:.1f}", "it is exact"
    other = systems_table(result, DirectedHead(0, Head(0, 0))).table["system"]
    assert [*other] == [*rows.index, "mention → antecedent: chosen head, 1-1"]


def test_distance_and_gender_show_shares_with_their_counts(result):
    one = DirectedHead(0, Head(5, 3))
    for figure, (right, total, *_) in (
        (by_group(result, [one, "nearest"]), result.scores(one).of("distance")),
        (by_group(result, [one, "nearest"], kind="pronoun"), result.scores(one).of("distance", "pronoun")),
        (by_group(result, [one, "nearest"], breakdown="gender"), result.scores(one).of("gender")),
    ):
        trace = figure.data[0]
        np.testing.assert_allclose(trace.y, np.where(total < 10, np.nan, right / total))
        for tick, n in zip(figure.layout.xaxis.ticktext, total, strict=True):
            assert f"<br>n = {n:,.0f}" in tick and tick.endswith("too few") is bool(n < 10)
        np.testing.assert_array_equal(trace.customdata[:, 0], total)
        assert [line.name for line in figure.data] == ["head 6-4", "nearest"]
        assert np.nanmin(trace.error_y.array) >= 0 and np.nanmin(trace.error_y.arrayminus) >= 0


def test_the_exported_figure_has_no_two_lines_alike_and_no_interval_for_what_is_exact(result):
    for chart in group_charts(result, "all", result.best()):
        figure = chart.figure
        assert len({(line.line.dash, line.marker.symbol) for line in figure.data}) == len(figure.data)
        assert [line.name for line in figure.data if line.error_y.array is None] == ["random candidate"]
    other = by_group(result, [DirectedHead(1, Head(5, 3)), "nearest"])
    assert other.data[0].name == "head 6-4, antecedent → mention"
