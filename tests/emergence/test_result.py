"""A training put together from made-up checkpoints: best, held-out and followed heads, behaviors, the table."""

from dataclasses import replace

import numpy as np
import pytest

from bertviz_core.analyses.behaviors import Thresholds
from bertviz_core.analyses.dependency_heads.relations import UAS
from bertviz_core.emergence import Emergence
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
        "options": {"view": "function-heads"},
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
    )


def test_best_and_followed_heads_are_those_of_a_plain_count(emergence):
    for row in range(len(RELATIONS)):
        n = emergence.n[:, row]
        final = reference_emergence.best_head(emergence.correct[-1, :, :, row], n)
        assert tuple(emergence.finally_best[row]) == final
        for index in range(len(STEPS)):
            correct = emergence.correct[index, :, :, row]
            assert emergence.best_accuracy[index, row] == pytest.approx(reference_emergence.best_accuracy(correct, n))
            assert emergence.followed[index, row] == pytest.approx(reference_emergence.accuracy_of(correct, n, final))
    np.testing.assert_array_equal(emergence.followed[-1], emergence.best_accuracy[-1])
    assert (emergence.followed <= emergence.best_accuracy).all()


def test_heldout_picks_on_one_half_and_scores_on_the_other(emergence):
    for index in range(len(STEPS)):
        for row, name in enumerate(RELATIONS):
            right = 0
            for fold in (0, 1):
                own, other = emergence.correct[index, fold, :, row], emergence.correct[index, 1 - fold, :, row]
                right += own[reference_emergence.best_head(other[None], [1])].item()
            expected = np.nan if name == "dobj" else right / emergence.n[:, row].sum()
            assert emergence.heldout()[index, row] == pytest.approx(expected, nan_ok=True)


def test_the_baseline_is_the_best_offset_of_all_steps(emergence):
    assert emergence.baseline.tolist() == pytest.approx([60 / 180, 40 / 160, 70 / 75, 3 / 30, 0])
    assert emergence.dependency(-1).best_offset.tolist() == [1, -1, -1, 1, -1]


def test_behaviors_are_told_at_each_step(emergence):
    labels = emergence.behaviors()
    assert labels.shape == (len(STEPS), LAYERS, HEADS)
    assert set(labels[0].flat) <= {"broad", "linguistic"}
    for index in (1, 2):
        plain_labels = {label: name for label, name in np.ndenumerate(labels[index]) if name != "linguistic"}
        assert plain_labels.get((0, 1), "previous") == "previous"
        assert set(plain_labels.values()) <= {"previous", "other"}
    assert set(emergence.behaviors(Thresholds(entropy=5.0))[0].flat) <= {"other", "linguistic"}


def test_the_relation_that_ends_the_furthest_above_its_offset_is_the_most_telling(emergence):
    gain = {name: emergence.best_accuracy[-1, row] - emergence.baseline[row] for row, name in enumerate(RELATIONS)}
    assert emergence.clearest_relations(5) == sorted(("det", "dobj"), key=lambda name: -gain[name])


def test_the_table_has_a_row_for_each_step(emergence):
    frame = emergence.to_frame()
    assert list(frame["step"]) == list(STEPS) and list(frame["tokens"]) == [0, 640, 19200]
    assert list(frame["previous_heads"]) == [0, 1, 1]
    row = RELATIONS.index("det")
    np.testing.assert_array_equal(frame["det"], emergence.best_accuracy[:, row])
    np.testing.assert_array_equal(frame["det_heldout"], emergence.heldout()[:, row])
    assert set(frame["det_offset"]) == {emergence.baseline[row]}
    assert frame["entropy"].tolist() == pytest.approx([4.5, 2.0, 2.0])


def test_bytes_and_back(emergence):
    again = Emergence.from_bytes(emergence.to_bytes())
    assert again.arrays() == emergence.arrays()
    assert again.correct.dtype == np.uint8 and again.provenance == emergence.provenance
    without = replace(emergence, errors=np.full_like(emergence.errors, np.nan))  # as the training that ships
    assert not any(name.endswith("_interval") for name in without.tables()["heads"])
    with pytest.raises(KeyError):
        emergence["attention to nothing"]
