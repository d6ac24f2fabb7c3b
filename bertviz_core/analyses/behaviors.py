"""What a head does, in one word: the colors of Figure 6, and of every map of heads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

import numpy as np

from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head

OTHER, LINGUISTIC = "other", "linguistic"
BEHAVIORS = ("next", "previous", "broad", "to_cls", "to_sep", "to_punct", OTHER, LINGUISTIC)
UNTAUGHT = ("broad", OTHER)  # what heads of a network drawn at random do too
QUANTITIES = ("next", "previous", "entropy", "to_cls", "to_sep", "to_punct")  # in the order in which they apply


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A head has a behavior where its document average is above the threshold. `entropy` is in nats, and shorter
    inputs need less; the others are shares of attention. The defaults are the release's."""

    next: float = 0.5
    previous: float = 0.5
    entropy: float = 3.8
    to_cls: float = 0.6
    to_sep: float = 0.6
    to_punct: float = 0.6

    @classmethod
    def read(cls, texts: Iterable[str]) -> Thresholds:
        """The defaults but for what is given, as "entropy=3.0"; raises SettingsError for anything else."""
        values = {}
        for text in texts:
            name, _, value = text.partition("=")
            try:
                values[name] = float(value)
            except ValueError:
                values[name] = float("nan")
            if name not in QUANTITIES or math.isnan(values[name]):
                raise SettingsError(
                    f"{text!r} is not a threshold.", hint=f"Write NAME=NUMBER, NAME one of {', '.join(QUANTITIES)}."
                )
        return cls(**values)


def with_behavior(labels: np.ndarray) -> int:
    """How many heads of (layer, head) labels count as heads with a behavior: those that are none of UNTAUGHT."""
    return int((~np.isin(labels, UNTAUGHT)).sum())


def behaviors(
    averages: Mapping[str, np.ndarray], thresholds: Thresholds, linguistic: Iterable[Head] = ()
) -> np.ndarray:
    """(layer, head) names out of BEHAVIORS; of several that apply the last in that order wins (section 6, Figure 6).

    Args:
        averages: (layer, head) for each of QUANTITIES; a quantity that is missing or NaN applies to no head.
        linguistic: The heads that the dependency and coreference analyses found.
    """
    shape = next(iter(averages.values())).shape
    labels = np.full(shape, OTHER, dtype=f"<U{max(map(len, BEHAVIORS))}")
    for quantity, threshold in asdict(thresholds).items():
        if quantity in averages:
            labels[averages[quantity] > threshold] = "broad" if quantity == "entropy" else quantity
    for head in linguistic:
        labels[head] = LINGUISTIC
    return labels
