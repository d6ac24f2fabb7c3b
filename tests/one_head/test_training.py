"""When a head came to do what it does: the values of every step, and the step that is named."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analyses.base.head_figures import HeadRow
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.dependency_heads.head_relations import relations
from bertviz_core.engine.store import Store
from bertviz_core.heads import Head, all_heads
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.one_head.description import one_head
from bertviz_core.one_head.training import TITLE, arising, stored_steps, with_training
from tests.support import families

TEXT = ["the cat sat on the mat .\nthe dog slept near the door\na river runs"] * 6
STEPS = (0, 10, 300)
ANALYSIS = "surface_patterns"


def planted(own: Any, column: str, values: Sequence[float]) -> list[tuple[int, Any]]:
    """Results of steps 0, 1, ... in which the quantity of head 1-1 has these values."""
    index = list(own.quantities).index(column)
    steps = []
    for step, value in enumerate(values):
        mean = own.mean.copy()
        mean[index, 0, 0] = value
        steps.append((step, replace(own, mean=mean)))
    return steps


def apart(result: Result, head: Head) -> list[HeadRow]:
    """The numbers that may set a head apart."""
    return [row for each in ANALYSES[result.analysis].of_head(result, head) for row in each.figure.apart]


def every_row(result: Result, head: Head) -> list[HeadRow]:
    """The numbers of which these are chosen."""
    return [row for each in ANALYSES[result.analysis].of_head(result, head) for row in each.figure.every]


@pytest.fixture(scope="module")
def own(results):
    return results[ANALYSIS]


def shown_with(own: Any, values: Sequence[float]) -> Any:
    """Head 1-1, whose attention to the previous token is far from that of the others, over a training."""
    steps = planted(own, "previous", values)
    return with_training(one_head({ANALYSIS: steps[-1][1]}, Head(0, 0)), steps)


def test_the_step_past_half_of_the_way_is_named(own):
    values = (0.01, 0.3, 0.6, 0.95)
    shown = shown_with(own, values)
    name, figure = shown.figures[0]
    assert (name, figure.title, figure.curve.ticks) == (ANALYSIS, TITLE, ("0", "1", "2", "3"))
    assert figure.curve.values == pytest.approx(values)
    assert figure.sentence.startswith("Attention to the previous token goes from 0.01000 ± ")
    assert figure.sentence.endswith("is past half of the way at step 2.")  # 0.6 of 0.01 to 0.95


def test_the_band_is_that_of_all_heads_at_the_step(own):
    figure = shown_with(own, (0.01, 0.95)).figures[0][1]
    others = own["previous"].astype(float).copy()
    others[0, 0] = 0.01
    assert figure.curve.low[0] == pytest.approx(np.quantile(others, 0.05), abs=1e-6)
    assert figure.curve.high[0] == pytest.approx(np.quantile(others, 0.95), abs=1e-6)


def test_a_number_that_stays_is_said_to_stay(own):
    figure = shown_with(own, (0.95, 0.5, 0.95)).figures[0][1]
    assert figure.sentence == "Attention to the previous token is at step 2 what it is at step 0."


def test_one_step_is_no_training(own):
    assert TITLE not in [figure.title for _, figure in shown_with(own, (0.95,)).figures]


def test_a_number_that_sets_no_head_apart_at_a_step_is_read_there(results):
    """Of relations and classes of words only the best are named; a curve has every step, from the counts themselves."""
    own = results["dependency_heads"]
    counts = own.default_view()
    head = max(all_heads(*counts.correct.shape[3:]), key=lambda each: len(relations(counts, each)))
    row = apart(own, head)[1]  # after the UAS
    name = row.name.split(" ")[0]
    correct = own.correct.copy()
    correct[:, :, [each == name for each in own.relations], *head] = 1  # of each half, in each direction
    early = replace(own, correct=correct)
    assert row.name not in [each.name for each in apart(early, head)]
    curve = arising(own.analysis, row, [(0, early), (2, own)]).curve
    relation = counts.relations.index(name)
    right = max(
        counts.correct[0, direction, relation, *head] + counts.correct[1, direction, relation, *head]
        for direction in (0, 1)
    )
    assert curve.ticks == ("0", "2")
    assert curve.values == pytest.approx([each / counts.n[:, relation].sum() for each in (2, right)])


def test_every_number_that_may_be_named_can_be_read(results):
    for name, result in results.items():
        for head in all_heads(*results[ANALYSIS].mean.shape[1:])[::11]:
            every = {row.name: row.value for row in every_row(result, head)}
            named = {row.name: row.value for row in apart(result, head)}
            assert named.items() <= every.items(), name


def test_of_a_causal_model_each_direction_is_read_among_the_words_that_it_counts(tmp_path):
    folder = families.save(families.FAMILIES["gpt2"], tmp_path / "causal")
    options = {"corpus": "treebank", "limit": 150, "max_length": 64, "store": False}
    counts = bv.analyze("dependency_heads", model=str(folder), **options).result
    rows = every_row(counts.stored, Head(0, 1))
    values = {row.name: row.value for row in rows}
    checked = 0
    for direction, side in enumerate(("earlier", "later")):
        for index, relation in enumerate(counts.relations[2:], 2):
            words = counts.visible[:, direction, index].sum()
            right = counts.correct[:, direction, index, 0, 1].sum()
            found = [value for name, value in values.items() if name.startswith(f"{relation} ") and name.endswith(side)]
            assert found == ([pytest.approx(right / words)] if words and relation != "punct" else []), (relation, side)
            checked += len(found)
    assert checked > 8


def test_steps_have_the_same_corpus_and_settings_whatever_else_is_stored_and_whatever_files_are_called(tmp_path):
    root = families.save_training(tmp_path / "run", STEPS)
    store = tmp_path / "store"
    short, long = tmp_path / "short.txt", tmp_path / "long.txt"
    short.write_text(TEXT[0])
    long.write_text("\n\n".join(TEXT))
    first, second, last = sorted(root.iterdir())
    analyze = {"max_length": 40, "store": store}
    own = bv.analyze(ANALYSIS, model=str(last), corpus=short, **analyze).result
    (tmp_path / "another_name.txt").write_text(TEXT[0])
    bv.analyze(ANALYSIS, model=str(first), corpus=tmp_path / "another_name.txt", **analyze)
    bv.analyze(ANALYSIS, model=str(first), corpus=long, **analyze)  # More tokens: what other pages open on.
    bv.analyze(ANALYSIS, model=str(second), corpus=long, **analyze)
    steps = stored_steps(Store(store), find_checkpoint(str(last)), own)
    assert [step for step, _ in steps] == [0, 300]
    assert {result.provenance["tokens"] for _, result in steps} == {own.provenance["tokens"]}


def test_the_library_draws_it_of_a_checkpoint_in_a_folder_of_them(tmp_path):
    root = families.save_training(tmp_path / "run", STEPS)
    for folder in root.iterdir():
        bv.analyze(ANALYSIS, model=str(folder), corpus=TEXT, max_length=40, store=tmp_path / "store")
    head = bv.head(str(root / "step-0000300"), "1-2", store=tmp_path / "store")
    assert TITLE in head._repr_html_()
