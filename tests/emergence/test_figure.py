"""The pictures of a training hold its numbers and mark the chosen step."""

from dataclasses import replace

import numpy as np
import pytest

from bertviz_core.emergence import Emergence
from bertviz_core.emergence.figure import course_figure, head_figure, relations_figure
from bertviz_core.emergence.series import shipped
from bertviz_core.exports import paper_figure
from bertviz_core.heads import Head


@pytest.fixture(scope="module")
def result() -> Emergence:
    return shipped()


def named(figure, name: str):
    return [trace for trace in figure.data if trace.name == name]


def test_checkpoints_stand_at_even_distances_and_the_axis_names_their_steps(result):
    short = replace(result, steps=np.array([0, 4, 200]), averages=result.averages[:3])
    axis = head_figure(short, Head(0, 0)).layout.xaxis
    assert list(axis.ticktext) == ["0", "4", "200"] and list(axis.tickvals) == [0, 1, 2]
    axis = head_figure(result, Head(0, 0)).layout.xaxis
    assert axis.ticktext[0] == f"{result.steps[0]:,}" and axis.ticktext[-1] == f"{result.steps[-1]:,}"


def test_the_course_holds_loss_and_counts_and_marks_the_step(result):
    labels = result.behaviors()
    figure = course_figure(result, labels, 3)
    np.testing.assert_array_equal(named(figure, "loss")[0].y, result.loss)
    np.testing.assert_array_equal(named(figure, "previous token")[0].y, (labels == "previous").sum((1, 2)))
    counted = sum(np.array(trace.y) for trace in figure.data if trace.name != "loss")
    assert set(counted.tolist()) == {labels[0].size}
    assert {trace.stackgroup for trace in figure.data if trace.name != "loss"} == {"heads"}
    assert {shape.x0 for shape in figure.layout.shapes} == {3}
    assert len(figure.layout.shapes) == 2 and not paper_figure(result).layout.shapes


def test_without_a_loss_there_is_no_panel_for_it(result):
    without = replace(result, loss=np.full(len(result.steps), np.nan))
    figure = course_figure(without, result.behaviors())
    assert not named(figure, "loss") and len(figure.layout.annotations) == 1


@pytest.mark.parametrize("count", [1, 2, 6])
def test_a_panel_for_each_relation_with_its_offset(result, count):
    names = result.relations[1 : 1 + count]
    figure = relations_figure(result, names, base=0)
    best, level = named(figure, "best head of each step"), named(figure, "best fixed offset")
    assert len(best) == len(level) == count
    for panel, name in enumerate(names):
        row = result.relations.index(name)
        np.testing.assert_allclose(best[panel].y, 100 * result.best_accuracy[:, row])
        assert set(level[panel].y) == {100 * result.baseline[row]}
        followed = named(figure, "final best head")[panel]
        np.testing.assert_allclose(followed.y, 100 * result.followed[:, row])
        _, layer, head = result.finally_best[row]
        assert f"head {Head(layer, head).label(0)}" in followed.hovertemplate


def test_one_heads_own_course(result):
    figure = head_figure(result, Head(0, 2))
    np.testing.assert_array_equal(named(figure, "the previous token")[0].y, result["previous"][:, 0, 2])
    np.testing.assert_array_equal(named(figure, "entropy")[0].y, result["entropy"][:, 0, 2])
    assert set(named(figure, "uniform attention")[0].y) == {result.uniform}


def test_a_relation_of_a_file_is_no_markup(result):
    named = replace(result, relations=("<a href='x'>", *result.relations[1:]))
    title = relations_figure(named, named.relations[:1]).layout.annotations[0].text
    assert title.startswith("&lt;a href=&#x27;x&#x27;&gt; (n = ")
