"""The pictures of ablation hold the result's numbers, and its statements ask for something to lose."""

from dataclasses import replace

import numpy as np
import pytest

from bertviz_core.analyses.ablation.figure import curve_figure, estimate_figure, groups_figure, paper_figure
from bertviz_core.analyses.ablation.result import QUANTITIES, Ablation
from bertviz_core.analyses.ablation.statements import no_op
from bertviz_core.analyses.base.findings import NOT_SHOWN, SHOWN, UNDECIDED
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.numbers import measured
from bertviz_core.plotting import SEQUENTIAL

GROUPS = [
    {
        "name": "to_sep",
        "heads": ["1-1", "2-2"],
        "loss_change": 0.5,
        "interval": 0.1,
        "random_loss_change": 0.25,
        "random_draws": [0.1, 0.2, 0.3, 0.3, 0.35],
    },
    {
        "name": "layer 1",
        "heads": ["1-1", "1-2"],
        "loss_change": 1.5,
        "interval": 0.2,
        "random_loss_change": None,
        "random_draws": [],
    },
]


@pytest.fixture
def result() -> Ablation:
    mean = np.random.default_rng(0).normal(size=(len(QUANTITIES), 3, 2))
    none, seven = np.zeros((*mean.shape, 0)), np.full(len(QUANTITIES), 7)
    averages = ({}, list(QUANTITIES), mean, abs(mean) / 10, seven, seven, seven, "documents", none, none, {})
    words = (np.zeros((3, 2, 0)), np.zeros((3, 2, 0)), np.zeros((3, 2, 0, 3)), np.zeros((3, 2, 0, 2)), {}, {})
    return Ablation(*averages, 2.5, 3, 12, "sep", GROUPS, np.array([0, 3, 6]), np.array([2.5, 2.4, 7.0]), *words)


def test_the_figure_by_layer_has_both_changes(result: Ablation) -> None:
    dots = [trace for trace in paper_figure(result).data if trace.mode == "markers"]
    for trace, name in zip(dots, ("loss_change", "to_sink_loss_change"), strict=True):
        np.testing.assert_array_equal(trace.y, result[name].reshape(-1))


def test_the_map_is_centered_on_no_change_and_says_the_interval(result: Ablation) -> None:
    described = ANALYSES["ablation"].column("loss_change").map(result)
    assert described.limits[0] == -described.limits[1] == -abs(result["loss_change"]).max()
    value = measured(result["loss_change"][0, 1], result.interval("loss_change")[0, 1])
    assert described.hover[1].startswith(f"1-2: loss change, head removed {value} nats; rank ")
    assert ANALYSES["ablation"].column("gradient_estimate").map(result).scale == SEQUENTIAL


def test_the_scatter_has_estimate_change_and_interval_of_each_head(result: Ablation) -> None:
    dots = estimate_figure(result).data[0]
    np.testing.assert_array_equal(dots.x, result["gradient_estimate"].reshape(-1))
    np.testing.assert_array_equal(dots.y, result["loss_change"].reshape(-1))
    np.testing.assert_array_equal(dots.error_y.array, result.interval("loss_change").reshape(-1))
    assert [row[0] for row in dots.customdata] == ["1-1", "1-2", "2-1", "2-2", "3-1", "3-2"]


def test_the_curve_goes_from_no_head_to_all(result: Ablation) -> None:
    line = curve_figure(result).data[0]
    assert list(line.x) == [0, 0.5, 1] and list(line.y) == [2.5, 2.4, 7.0]


def test_groups_stand_beside_their_draws(result: Ablation) -> None:
    own, draws = groups_figure(result).data
    assert list(own.x) == [0.5, 1.5] and list(own.y) == ["[SEP]", "layer 1"]
    assert list(draws.x) == GROUPS[0]["random_draws"] and set(draws.y) == {"[SEP]"}


def test_a_no_op_is_shown_only_where_there_is_attention_to_lose_and_a_loss_that_can_rise(result: Ablation) -> None:
    """No head's attention to the sink changes the loss; a group attends mostly to it, and one head matters."""
    names = result.quantities
    mean = np.zeros_like(result.mean)
    mean[names.index("loss_change"), 1, 0] = 0.5
    group = {"name": "to_sep", "heads": ["1-1"], "loss_change": 0.001, "interval": 0.0001}
    provenance = {"model": {"causal": False}}
    certain = replace(result, provenance=provenance, mean=mean, error=np.full_like(mean, 1e-5), groups=[group])
    assert no_op(certain).state == SHOWN
    without_group = no_op(replace(certain, groups=[]))
    assert without_group.state == UNDECIDED and "no group of heads attends mostly to [SEP]" in without_group.sentence
    nothing = no_op(replace(certain, mean=np.zeros_like(mean)))
    assert nothing.state == UNDECIDED and "No head matters to this loss" in nothing.sentence
    mean[names.index("to_sink_loss_change"), 0, 0] = 0.4
    assert no_op(replace(certain, mean=mean, groups=[])).state == NOT_SHOWN
