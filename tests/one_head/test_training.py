"""When a head came to do what it does: the values of every step, and the step that is named."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.heads import Head
from bertviz_core.one_head.description import one_head
from bertviz_core.one_head.training import TITLE, with_training
from tests.support import families

TEXT = ["the cat sat on the mat .\nthe dog slept near the door\na river runs"] * 6
STEPS = (0, 10, 300)
ANALYSIS = "surface_patterns"


def planted(own: Any, column: str, values: Sequence[float]) -> list[tuple[int, dict[str, Any]]]:
    """Results of steps 0, 1, ... in which the quantity of head 1-1 has these values."""
    index = list(own.quantities).index(column)
    steps = []
    for step, value in enumerate(values):
        mean = own.mean.copy()
        mean[index, 0, 0] = value
        steps.append((step, {ANALYSIS: replace(own, mean=mean)}))
    return steps


@pytest.fixture(scope="module")
def own(results):
    return results[ANALYSIS]


def shown_with(own: Any, values: Sequence[float]) -> Any:
    """Head 1-1, whose attention to the previous token is far from that of the others, over a training."""
    steps = planted(own, "previous", values)
    results = dict(steps[-1][1])
    return with_training(one_head(results, Head(0, 0)), results, steps)


def test_the_step_past_half_of_the_way_is_named(own):
    values = (0.01, 0.3, 0.6, 0.95)
    shown = shown_with(own, values)
    name, figure = shown.figures[0]
    assert (name, figure.title, figure.curve.ticks) == (ANALYSIS, TITLE, ("0", "1", "2", "3"))
    assert figure.curve.values == pytest.approx(values)
    assert figure.sentence.startswith("Attention to the previous token goes from 0.0100 ± ")
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


def test_one_step_and_other_corpora_are_no_training(own):
    assert TITLE not in [figure.title for _, figure in shown_with(own, (0.95,)).figures]
    steps = planted(own, "previous", (0.01, 0.95))
    other = own.provenance | {"corpus": own.provenance["corpus"] | {"digest": "another"}}
    steps[0][1][ANALYSIS] = replace(steps[0][1][ANALYSIS], provenance=other)
    shown = one_head(dict(steps[-1][1]), Head(0, 0))
    assert with_training(shown, dict(steps[-1][1]), steps) == shown


def test_the_library_draws_it_of_a_checkpoint_in_a_folder_of_them(tmp_path):
    root = families.save_training(tmp_path / "run", STEPS)
    for folder in root.iterdir():
        bv.analyze(ANALYSIS, model=str(folder), corpus=TEXT, max_length=40, store=tmp_path / "store")
    head = bv.head(str(root / "step-0000300"), "1-2", store=tmp_path / "store")
    assert TITLE in head._repr_html_()
