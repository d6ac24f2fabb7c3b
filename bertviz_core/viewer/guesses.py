"""The guesses for masked words as a table: of the whole model, and without the heads that are switched off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from bertviz_core.models.predictions import Prediction

TINY = 1e-38  # in place of a probability that has no logarithm


def loss(prediction: Prediction) -> float:
    """The masked-word loss of one word, nats."""
    return -log(prediction.probability or TINY)


def guesses_frame(by_run: Mapping[str, Sequence[Prediction]]) -> pd.DataFrame:
    """A row for each run, masked word and guess.

    Args:
        by_run: Heads switched off, as "3-5 4-1" and empty for the whole model -> the predictions without them.
    """
    return pd.DataFrame(
        {
            "heads_off": off,
            "position": prediction.position + 1,
            "masked_word": prediction.original,
            "loss": loss(prediction),
            "rank_of_masked_word": prediction.rank,
            "rank": rank,
            "guess": label,
            "probability": share,
        }
        for off, predictions in by_run.items()
        for prediction in predictions
        for rank, (label, share) in enumerate(prediction.best, start=1)
    )
