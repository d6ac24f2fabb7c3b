"""One word for what a head does: the last that applies wins."""

from dataclasses import asdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bertviz_core.analyses.behaviors import QUANTITIES, Thresholds, behaviors
from bertviz_core.heads import Head
from tests.oracles import clustering as reference


@given(st.lists(st.sampled_from([0.0, 0.5, 0.55, 0.6, 0.7, 3.8, 4.0]), min_size=6, max_size=6))
def test_equals_the_literal_rules(values: list[float]) -> None:
    averages = dict(zip(QUANTITIES, values, strict=True))
    found = behaviors({name: np.array([[value]]) for name, value in averages.items()}, Thresholds())
    assert found[0, 0] == reference.behavior(averages, asdict(Thresholds()))


def test_linguistic_heads_win() -> None:
    averages = {name: np.full((2, 3), 9.0) for name in QUANTITIES}
    found = behaviors(averages, Thresholds(), [Head(1, 2)])
    assert found[1, 2] == "linguistic"
    assert (found.reshape(-1)[:-1] == "to_punct").all()


def test_what_a_model_has_not_applies_to_no_head() -> None:
    averages = {"next": np.array([[0.9, 0.1]]), "to_sep": np.full((1, 2), np.nan)}
    assert behaviors(averages, Thresholds()).tolist() == [["next", "other"]]
