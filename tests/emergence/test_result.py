"""A training put together from made-up checkpoints: best, held-out and followed heads, behaviors, the table; and
pictures of the training that ships, which hold its numbers and mark the chosen step."""

from dataclasses import replace

import numpy as np
import pytest

from bertviz_core.corpora.treebank import UAS
from bertviz_core.emergence.figure import head_figure, paper_figure, relations_figure
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.series import shipped
from bertviz_core.heads import Head, counting_from
from tests.oracles import emergence as reference_emergence

LAYERS, HEADS = 2, 3
STEPS = (0, 10, 300)
RELATIONS = ["all", UAS, "det", "dobj", "root"]
QUANTITIES = ["previous", "next", "to_sep", "entropy"]


@pytest.fixture
def emergence() -> Emergence:
    draw = np.random.default_rng(7)
    n = np.array([[100, 90, 40, 30, 10], [80, 70, 35, 0, 10]])  # (fold, relation); one half has no dobj
    shape = (len(STEPS), 2, 2, len(RELATIONS), LAYERS, HEADS)
    correct = (draw.random(shape) * n[None, :, None, :, None, None]).astype(np.uint8)
    averages = draw.random((len(STEPS), len(QUANTITIES), LAYERS, HEADS)).astype(np.float32) * 0.4
    averages[:, 3] = 2.0
    averages[0, 3] = 4.5  # at first all heads are broad
    averages[1, 0, 0, 1] = averages[2, 0, 0, 1] = 0.9
    averages[2, 2, 1, 2] = np.nan
    provenance = {
        "settings": {"mode": "corrected"},
        "format": "CoNLL-U",
        "corpus": {"name": "a text"},
        "others": {"treebank": {"name": "a treebank"}},
        "options": {"view": "function-heads", "min_count": 1},
        "model": {"name": "a training"},
        "checkpoints": [{"fingerprint": f"of step {step}"} for step in STEPS],
        "segments": 20,
    }
    return Emergence(
        provenance=provenance,
        steps=np.array(STEPS),
        tokens=np.array([0, 640, 19200]),
        loss=np.array([9.7, 7.2, np.nan]),
        masked_accuracy=np.array([0.0, 0.1, np.nan]),
        quantities=QUANTITIES,
        averages=averages,
        errors=averages / 10,
        units=np.full(len(QUANTITIES), 12),
        effective_units=np.full(len(QUANTITIES), 11.5),
        unit="documents",
        uniform=4.6,
        relations=RELATIONS,
        n=n,
        correct=correct,
        offsets=np.array([-1, 1]),
        offset_correct=np.array([[50, 40, 70, 2, 0], [60, 30, 10, 3, 0]]),
        unit_moments=np.stack([n, n]),  # each word is a unit
    )


def test_best_and_followed_heads_are_those_of_a_plain_count(emergence):
    for row in range(len(RELATIONS)):
        n = emergence.n[:, row]
        final = reference_emergence.best_head(emergence.correct[-1, :, :, row], n)
        assert tuple(emergence.dependencies[-1].best()[row]) == final
        for index in range(len(STEPS)):
            correct = emergence.correct[index, :, :, row]
            assert emergence.best_accuracy[index, row] == pytest.approx(reference_emergence.best_accuracy(correct, n))
            assert emergence.followed()[index, row] == pytest.approx(reference_emergence.accuracy_of(correct, n, final))
    np.testing.assert_array_equal(emergence.followed()[-1], emergence.best_accuracy[-1])
    assert (emergence.followed() <= emergence.best_accuracy).all()


def test_heldout_picks_on_one_half_and_scores_on_the_other(emergence):
    for index in range(len(STEPS)):
        for row, name in enumerate(RELATIONS):
            right = 0
            for fold in (0, 1):
                own, other = emergence.correct[index, fold, :, row], emergence.correct[index, 1 - fold, :, row]
                right += own[reference_emergence.best_head(other[None], [1])].item()
            expected = np.nan if name == "dobj" else right / emergence.n[:, row].sum()
            assert emergence.heldout[index, row] == pytest.approx(expected, nan_ok=True)


def test_the_baseline_is_the_best_offset_of_all_steps(emergence):
    assert emergence.baseline.tolist() == pytest.approx([60 / 180, 40 / 160, 70 / 75, 3 / 30, 0])
    assert emergence.dependencies[-1].best_offset.tolist() == [1, -1, -1, 1, -1]


def test_behaviors_are_told_at_each_step(emergence):
    labels = emergence.behaviors()
    assert labels.shape == (len(STEPS), LAYERS, HEADS)
    assert set(labels[0].flat) <= {"broad", "linguistic"}
    for index in (1, 2):
        plain_labels = {label: name for label, name in np.ndenumerate(labels[index]) if name != "linguistic"}
        assert plain_labels.get((0, 1), "previous") == "previous"
        assert set(plain_labels.values()) <= {"previous", "other"}


def test_the_relation_that_ends_the_furthest_above_its_offset_is_the_most_telling(emergence):
    gain = {name: emergence.best_accuracy[-1, row] - emergence.baseline[row] for row, name in enumerate(RELATIONS)}
    assert emergence.clearest_relations(5) == sorted(("det", "dobj"), key=lambda name: -gain[name])


def test_the_table_has_a_row_for_each_step(emergence):
    frame = emergence.to_frame()
    assert list(frame["step"]) == list(STEPS) and list(frame["tokens"]) == [0, 640, 19200]
    assert list(frame["previous_heads"]) == [0, 1, 1]
    row = RELATIONS.index("det")
    np.testing.assert_array_equal(frame["det"], emergence.best_accuracy[:, row])
    np.testing.assert_array_equal(frame["det_heldout"], emergence.heldout[:, row])
    assert set(frame["det_offset"]) == {emergence.baseline[row]}
    assert frame["entropy"].tolist() == pytest.approx([4.5, 2.0, 2.0])


def test_bytes_and_back(emergence):
    again = Emergence.from_bytes(emergence.to_bytes())
    assert again.arrays() == emergence.arrays()
    assert again.correct.dtype == np.uint8 and again.provenance == emergence.provenance
    without = replace(emergence, errors=np.full_like(emergence.errors, np.nan))
    assert not any(name.endswith("_interval") for name in without.tables()["heads"])
    with pytest.raises(KeyError):
        emergence["attention to nothing"]


@pytest.fixture(scope="module")
def training() -> Emergence:
    return shipped()


def named(figure, name: str):
    return [trace for trace in figure.data if trace.name == name]


def test_checkpoints_stand_at_even_distances_and_the_axis_names_their_steps(training):
    short = replace(training, steps=np.array([0, 4, 200]), averages=training.averages[:3])
    axis = head_figure(short, Head(0, 0)).layout.xaxis
    assert list(axis.ticktext) == ["0", "4", "200"] and list(axis.tickvals) == [0, 1, 2]
    axis = head_figure(training, Head(0, 0)).layout.xaxis
    assert axis.ticktext[0] == f"{training.steps[0]:,}" and axis.ticktext[-1] == f"{training.steps[-1]:,}"


def test_the_course_holds_loss_and_counts_and_marks_the_step(training):
    labels = training.behaviors()
    figure = paper_figure(training, labels, 3)
    np.testing.assert_array_equal(named(figure, "loss")[0].y, training.loss)
    np.testing.assert_array_equal(named(figure, "previous token")[0].y, (labels == "previous").sum((1, 2)))
    counted = sum(np.array(trace.y) for trace in figure.data if trace.name != "loss")
    assert set(counted.tolist()) == {labels[0].size}
    assert {trace.stackgroup for trace in figure.data if trace.name != "loss"} == {"heads"}
    assert {shape.x0 for shape in figure.layout.shapes} == {3}
    assert len(figure.layout.shapes) == 2 and not paper_figure(training).layout.shapes


def test_without_a_loss_there_is_no_panel_for_it(training):
    without = replace(training, loss=np.full(len(training.steps), np.nan))
    figure = paper_figure(without, training.behaviors())
    assert not named(figure, "loss") and len(figure.layout.annotations) == 1


@pytest.mark.parametrize("count", [1, 2, 6])
def test_a_panel_for_each_relation_with_its_offset(training, count):
    names = training.relations[1 : 1 + count]
    with counting_from(0):
        figure = relations_figure(training, names)
    best, level = named(figure, "best head of each step"), named(figure, "best fixed offset")
    assert len(best) == len(level) == count
    for panel, name in enumerate(names):
        row = training.relations.index(name)
        np.testing.assert_allclose(best[panel].y, 100 * training.best_accuracy[:, row])
        assert set(level[panel].y) == {100 * training.baseline[row]}
        followed = named(figure, "final best head")[panel]
        np.testing.assert_allclose(followed.y, 100 * training.followed()[:, row])
        _, layer, head = training.dependencies[-1].best()[row]
        assert f"head {layer}-{head}" in followed.hovertemplate


def test_one_heads_own_course(training):
    (trace,) = named(head_figure(training, Head(0, 2)), "the previous token")
    np.testing.assert_array_equal(trace.y, training["previous"][:, 0, 2])


def test_a_relation_of_a_file_is_no_markup(training):
    named = replace(training, relations=("<a href='x'>", *training.relations[1:]))
    title = relations_figure(named, named.relations[:1]).layout.annotations[0].text
    assert title.startswith("&lt;a href=&#x27;x&#x27;&gt; (n = ")


def test_notes_say_what_intervals_are_over(training: Emergence) -> None:
    assert training.notes[:2] == ["Trees: function words as governors.", "95% intervals are over 160 sentences."]
    assert "sees only what comes earlier" in training.notes[2]
