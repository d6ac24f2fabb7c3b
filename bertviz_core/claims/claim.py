"""A statement of the paper as a rule with a threshold, and what a result says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

State = Literal["holds", "does not hold", "undecided"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a claim holds of one model on one corpus.

    Attributes:
        state: "undecided" where the interval contains the threshold, or there are too few cases.
        evidence: A sentence with the numbers.
    """

    state: State
    evidence: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the paper.

    Attributes:
        section: Section of the paper.
        analysis: Whose result decides it.
        text: What the paper says of BERT-base, with its numbers.
        rule: What must be so of a model, with the threshold.
        decide: The rule, applied to a result; raises KeyError where the result lacks what it reads.
    """

    section: str
    analysis: str
    text: str
    rule: str
    decide: Callable[[Any], Verdict]

    def verdict(self, results: Mapping[str, Any]) -> Verdict | None:
        """The verdict on stored results, by analysis; None where there is no result that can decide it."""
        if self.analysis not in results:
            return None
        try:
            return self.decide(results[self.analysis])
        except KeyError:
            return None


def compare(low: float, high: float, threshold: float) -> State:
    """Whether a value with this 95% interval is above a threshold."""
    if np.isnan(low) or np.isnan(high):
        return "undecided"
    return "holds" if low > threshold else "does not hold" if high <= threshold else "undecided"


def decided(holds: bool) -> State:
    """The state of a rule that has no interval."""
    return "holds" if holds else "does not hold"


def present_values(result: Any, quantity: str) -> np.ndarray:
    """(layer, head) document averages of a quantity; raises KeyError for one that no segment has."""
    if quantity not in result.present:
        raise KeyError(quantity)
    values: np.ndarray = result[quantity]
    return values
