"""A statement of the paper as a rule with a threshold, and what a result says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.proportions import share
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Results
from bertviz_core.analyses.sep_gradients.result import SepGradients

State = Literal["holds", "does not hold", "undecided", "no answer", "not computed"]
DECISIONS: tuple[State, ...] = ("holds", "does not hold", "undecided")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a claim holds of one model on one corpus.

    Attributes:
        state: "undecided" where the interval contains the threshold, or there are too few cases; "no answer" where
            model or corpus lack what the claim is about.
        evidence: A sentence with the numbers, or with what is missing.
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
        decide: The rule, applied to a result's default view; raises KeyError where the result lacks what it reads.
    """

    section: str
    analysis: str
    text: str
    rule: str
    decide: Callable[..., Verdict]

    def verdict(self, results: Results) -> Verdict:
        """The verdict on stored results, by analysis."""
        title = ANALYSES[self.analysis].title
        if self.analysis not in results:
            return Verdict("not computed", f"No result of “{title}” is stored for this model.")
        try:
            return self.decide(results[self.analysis].default_view())
        except KeyError:
            return Verdict("no answer", f"This model or corpus lacks what the claim is about; see “{title}”.")


def compare(low: float, high: float, threshold: float) -> State:
    """Whether a value with this 95% interval is above a threshold."""
    if np.isnan(low) or np.isnan(high):
        return "undecided"
    return "holds" if low > threshold else "does not hold" if high <= threshold else "undecided"


def decided(holds: bool) -> State:
    """The state of a rule that has no interval."""
    return "holds" if holds else "does not hold"


def present_values(result: HeadAverages, quantity: str) -> np.ndarray:
    """(layer, head) document averages of a quantity; raises KeyError for one that no segment has."""
    if quantity not in result.present:
        raise KeyError(quantity)
    values: np.ndarray = result[quantity]
    return values


def no_op_layer(gradients: SepGradients) -> tuple[int, float, float]:
    """The layer that attends most to [SEP], counted from 0; the share of its attention that goes there; and the mean
    gradient there over that to other tokens, NaN where no attention has a gradient."""
    attention, sep, other = (
        present_values(gradients, name).mean(axis=1) for name in ("attention_to_sep", "to_sep", "to_other")
    )
    layer = int(attention.argmax())
    return layer, float(attention[layer]), float(share(sep, other)[layer])
