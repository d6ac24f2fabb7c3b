"""In what order quantities arise, against plain loops over the checkpoints."""

from dataclasses import replace

import numpy as np
import pytest

from bertviz_core.analyses.base.findings import NOT_SHOWN, SHOWN, UNDECIDED
from bertviz_core.emergence import order
from bertviz_core.emergence.figure import order_figure
from bertviz_core.emergence.page_blocks import opening_blocks
from bertviz_core.emergence.series import shipped
from bertviz_core.heads import highest


def half_way(values: list[float]) -> int:
    """The first index from which on every value is at least half of the way from the first to the last."""
    half = (values[0] + values[-1]) / 2
    rises = values[-1] > values[0]
    for index in range(len(values)):
        if all((value >= half) == rises or value == half for value in values[index:]):
            return index
    raise AssertionError


def test_the_half_of_each_way_is_that_of_a_plain_loop_and_ways_are_in_its_order() -> None:
    result = shipped()
    ways = {way.name: way for way in order.ways(result)}
    (relation,) = result.clearest_relations(1)
    previous = result["previous"].reshape(len(result.steps), -1)
    expected = {
        "next-word loss": result.loss.tolist(),
        "saving of a second copy": [first - second for first, second in result.copy_losses.tolist()],
        "prefix matching": result.curve("induction_prefix").max((1, 2)).tolist(),
        "attention to the previous token": [max(heads) for heads in previous.tolist()],
        f"{relation}, held out": result.heldout[:, result.relations.index(relation)].tolist(),
    }
    for name, values in expected.items():
        assert ways[name].half == half_way(values), name
    assert ways["attention to the previous token"].head == highest(result["previous"][-1]).label()
    halves = [way.half for way in ways.values()]
    assert halves == sorted(halves) and len(set(halves)) > 2
    table = order.order_table(result)
    assert table["half at"].tolist() == [result.steps[half] for half in halves]
    assert (table["half not yet at"] < table["half at"]).all()


@pytest.mark.parametrize(
    ("values", "half"), [([0, 1, 0.2, 1], 3), ([9, 9, 4, 3], 2), ([0.0, np.nan, 0.6, 1.0], 2), ([0, 0, 0, 1], 3)]
)
def test_what_rises_and_falls_again_has_its_half_the_last_time(values: list[float], half: int) -> None:
    assert order.Way("", np.array(values)).half == half


def test_what_hardly_changes_has_no_half_and_a_training_without_change_no_order() -> None:
    result = shipped()
    steps = len(result.steps)
    still = replace(
        result,
        loss=np.full(steps, 3.0),
        averages=np.repeat(result.averages[-1:], steps, axis=0),
        correct=np.repeat(result.correct[-1:], steps, axis=0),
        head_moments=None,
        curves=[],
        copy_losses=None,
    )
    assert order.ways(still) == [] and order.sentence(still) == "" and len(opening_blocks(still)) == 1
    one = replace(still, loss=np.append(np.full(steps - 1, 3.0), 2.0))
    assert order.sentence(one).endswith(f"next-word loss by step {result.steps[-1]:,}.")


@pytest.mark.parametrize(("previous", "prefix", "state"), [(1, 2, SHOWN), (2, 1, NOT_SHOWN), (2, 2, UNDECIDED)])
def test_which_of_two_heads_arose_first(previous: int, prefix: int, state: str) -> None:
    """Each jumps at a step of its own from nothing to all of its way."""
    result = shipped()
    averages, curves = result.averages.copy(), result.curve_means.copy()
    averages[:, result.quantities.index("previous")] = 0.0
    averages[previous:, result.quantities.index("previous"), 0, 0] = 0.9
    curves[:, result.curves.index("induction_prefix")] = 0.0
    curves[prefix:, result.curves.index("induction_prefix"), 1, 1] = 0.8
    finding = order.finding(replace(result, averages=averages, curve_means=curves))
    steps = [f"{result.steps[index]:,}" for index in (previous, prefix)]
    assert finding.state == state
    assert all(f"step {step})" in finding.number for step in steps)


def test_the_figure_has_a_line_for_each_way_from_none_to_all_of_it() -> None:
    result = shipped()
    figure = order_figure(result)
    assert len(figure.data) == len(order.ways(result))
    assert all((line.y[0], line.y[-1]) == (0, 100) for line in figure.data)
