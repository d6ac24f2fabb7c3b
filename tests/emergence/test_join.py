"""Two parts of a training as one: cut apart and joined it is what it was, and what does not fit is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bertviz_core.emergence.join import join
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.series import shipped
from bertviz_core.errors import InputError

CUT = 7


def part(whole: Emergence, begin: int, end: int) -> Emergence:
    """Its checkpoints from `begin` up to `end`, which is not included."""
    names = ("steps", "tokens", "loss", "masked_accuracy", "averages", "errors", "correct")
    checkpoints = whole.provenance["checkpoints"][begin:end]
    model = whole.provenance["model"] | {"fingerprint": f"{begin} to {end}"}
    provenance = {**whole.provenance, "checkpoints": checkpoints, "model": model, "marks": []}
    return replace(whole, provenance=provenance, **{name: getattr(whole, name)[begin:end] for name in names})


@pytest.fixture(scope="module")
def whole() -> Emergence:
    return shipped()


@pytest.fixture(scope="module")
def parts(whole: Emergence) -> tuple[Emergence, Emergence]:
    return part(whole, 0, CUT + 1), part(whole, CUT, len(whole.steps))


def test_cut_apart_and_joined_it_is_what_it_was(whole, parts):
    joined = join(*parts)
    assert {**joined.arrays(), "marks": None} == {**whole.arrays(), "marks": None}
    assert joined.provenance["checkpoints"] == whole.provenance["checkpoints"]
    assert joined.provenance["model"]["fingerprint"] == whole.provenance["model"]["fingerprint"]
    assert joined.provenance["skipped"] == whole.provenance["skipped"]


def test_marks_of_the_parts_and_new_ones_are_kept(whole, parts):
    first, second = parts
    marked = replace(first, provenance=first.provenance | {"marks": [{"step": 2, "label": "one"}]})
    assert join(marked, second, [(33, "two")]).marks == [(2, "one"), (33, "two")]
    with pytest.raises(InputError, match="outside"):
        join(first, second, [(int(whole.steps[-1]) + 1, "late")])


def test_parts_that_do_not_meet_are_refused(whole, parts):
    first, second = parts
    with pytest.raises(InputError, match="not the same checkpoint"):
        join(first, part(whole, CUT + 1, CUT + 4))
    with pytest.raises(InputError, match="not the same checkpoint"):
        join(second, first)
    averages = second.averages.copy()
    averages[0, 0, 0, 0] += 0.01
    with pytest.raises(InputError, match="different averages"):
        join(first, replace(second, averages=averages))
    correct = second.correct.copy()
    correct[0] = 0
    with pytest.raises(InputError, match="different dependency heads"):
        join(first, replace(second, correct=correct))


def test_parts_on_other_corpora_or_of_another_shape_are_refused(parts):
    first, second = parts
    other = second.provenance | {"corpus": {"name": "another", "digest": "0"}}
    with pytest.raises(InputError, match="differ in their corpus"):
        join(first, replace(second, provenance=other))
    with pytest.raises(InputError, match="differ in their n"):
        join(first, replace(second, n=second.n + 1))
    with pytest.raises(InputError, match="layers and heads"):
        join(first, replace(second, averages=second.averages[..., :-1]))


def test_the_shipped_training_goes_on_where_its_first_part_ended(whole):
    """The file that ships was joined; its steps, tokens and marks are in order."""
    assert (np.diff(whole.steps) > 0).all()
    assert (np.diff(whole.tokens) > 0).all()
    assert [one["step"] for one in whole.provenance["checkpoints"]] == whole.steps.tolist()
    assert all(whole.steps[0] <= step <= whole.steps[-1] for step, _ in whole.marks)
