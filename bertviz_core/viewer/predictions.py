"""Predictions of masked words by the whole model and with heads ablated. Sets of heads have names that an address can
hold: "3-5", "layer 3", "behavior [SEP]"."""

from collections.abc import Iterable, Mapping, Sequence
from math import log

import numpy as np
import pandas as pd

from bertviz_core.analyses.behaviors import BEHAVIORS, OTHER
from bertviz_core.heads import all_heads
from bertviz_core.models.single_input import Prediction
from bertviz_core.plotting import style

TINY = 1e-38  # in place of a probability that has no logarithm


def loss(prediction: Prediction) -> float:
    """The masked-word loss of one word, nats."""
    return -log(prediction.probability or TINY)


def predictions_frame(by_run: Mapping[str, Sequence[Prediction]]) -> pd.DataFrame:
    """A row for each run, masked word and guess. `by_run` has the predictions by the heads that are switched off, as
    "3-5 4-1", and empty for the whole model."""
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


def switches(layers: int, heads: int, behaviors: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Name -> (layer, head) bool of what can be switched off: the behaviors that some head has, the layers, the
    heads. `behaviors` are (layer, head) names, where they are known."""
    layer, head = np.indices((layers, heads))
    named = {} if behaviors is None else {name: behaviors == name for name in BEHAVIORS if name != OTHER}
    by_behavior = {f"behavior {style.BEHAVIORS[name][-1]}": mask for name, mask in named.items() if mask.any()}
    by_layer = {f"layer {number + 1}": layer == number for number in range(layers)}
    single = {each.label(): (layer == each.layer) & (head == each.head) for each in all_heads(layers, heads)}
    return by_behavior | by_layer | single


def ablated_heads(chosen: Iterable[str], named: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """(layer, head) bool of all chosen names together; None for no head."""
    masks = [named[name] for name in chosen if name in named]
    return np.logical_or.reduce(masks) if masks else None
