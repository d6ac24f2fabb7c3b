"""The table of guesses: a row for each run, masked word and guess, with the word's own loss."""

from __future__ import annotations

import math

import pytest

from bertviz_core.models.predictions import Prediction
from bertviz_core.viewer.guesses import guesses_frame, loss


def test_every_guess_of_every_run_has_a_row_with_the_loss_of_the_masked_word() -> None:
    whole = Prediction(3, "cat", 0.25, 2, (("dog", 0.5), ("cat", 0.25)))
    without = Prediction(3, "cat", 0.125, 1, (("cat", 0.125), ("dog", 0.1)))
    frame = guesses_frame({"": (whole,), "1-1 2-3": (without,)})
    assert frame["heads_off"].tolist() == ["", "", "1-1 2-3", "1-1 2-3"]
    assert set(frame["position"]) == {4} and set(frame["masked_word"]) == {"cat"}
    assert frame["guess"].tolist() == ["dog", "cat", "cat", "dog"] and frame["rank"].tolist() == [1, 2, 1, 2]
    assert frame["loss"].tolist() == [-math.log(0.25)] * 2 + [-math.log(0.125)] * 2
    assert loss(without) - loss(whole) == pytest.approx(math.log(2))
    assert math.isfinite(loss(Prediction(0, "cat", 0.0, 9, ())))
