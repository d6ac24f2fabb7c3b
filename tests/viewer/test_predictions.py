"""The table of guesses: a row for each run, masked word and guess, with the word's own loss; and what is off."""

import math

import numpy as np
import pytest

from bertviz_core.models.single_input import Prediction
from bertviz_core.viewer.view import ablated_heads, predictions_frame, switches

BEHAVIORS = np.array([["next", "other", "to_sep"], ["to_sep", "other", "other"]])
HEADS = ["1-1", "1-2", "1-3", "2-1", "2-2", "2-3"]


def test_every_guess_of_every_run_has_a_row_with_the_loss_of_the_masked_word() -> None:
    whole = Prediction(3, "cat", 0.25, 2, (("dog", 0.5), ("cat", 0.25)))
    without = Prediction(3, "cat", 0.125, 1, (("cat", 0.125), ("dog", 0.1)))
    frame = predictions_frame({"": (whole,), "1-1 2-3": (without,)})
    assert frame["heads_off"].tolist() == ["", "", "1-1 2-3", "1-1 2-3"]
    assert set(frame["position"]) == {4} and set(frame["masked_word"]) == {"cat"}
    assert frame["guess"].tolist() == ["dog", "cat", "cat", "dog"] and frame["rank"].tolist() == [1, 2, 1, 2]
    assert frame["loss"].tolist() == [-math.log(0.25)] * 2 + [-math.log(0.125)] * 2
    assert without.loss - whole.loss == pytest.approx(math.log(2))
    assert math.isfinite(Prediction(0, "cat", 0.0, 9, ()).loss)


def test_behaviors_layers_and_heads_have_names_and_several_are_off_together() -> None:
    named = switches(2, 3, BEHAVIORS)
    assert list(named) == ["behavior next token", "behavior [SEP]", "layer 1", "layer 2", *HEADS]
    assert named["behavior [SEP]"].tolist() == [[False, False, True], [True, False, False]]
    assert named["layer 2"].tolist() == [[False] * 3, [True] * 3]
    assert np.argwhere(named["2-3"]).tolist() == [[1, 2]]
    assert np.argwhere(ablated_heads(["behavior next token", "2-2", "unknown"], named)).tolist() == [[0, 0], [1, 1]]
    assert ablated_heads([], named) is None
    assert ablated_heads(["unknown"], switches(2, 3)) is None
