"""Findings: the paper's statements with this run's numbers, each decided by its rule, the same way for all: enough
units, accuracies of chosen heads held out, intervals corrected for multiple comparisons (docs/methods.md, section 6,
Decisions)."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.base.statistics import MIN_UNITS, t_quantile, units_text, wilson
from bertviz_core.heads import Head, highest
from bertviz_core.numbers import NATS

SHOWN = "shown"
NOT_SHOWN = "not shown"
UNDECIDED = "undecided"
DEMONSTRATION = "demonstration"  # the numbers are there, but the corpus is too small to train what they measure
ABSENT = "absent"
NOT_COMPUTED = "not computed"
STATES = (SHOWN, NOT_SHOWN, UNDECIDED, DEMONSTRATION, ABSENT, NOT_COMPUTED)
DECIDED = (SHOWN, NOT_SHOWN, UNDECIDED, DEMONSTRATION)  # states of findings that have numbers
MARKS = {SHOWN: "✓", NOT_SHOWN: "✗", UNDECIDED: "?", DEMONSTRATION: "~", ABSENT: "–", NOT_COMPUTED: "–"}
YES_OR_NO = {SHOWN: "Yes", NOT_SHOWN: "No", UNDECIDED: "Undecided", DEMONSTRATION: "As a demonstration only"}
GAIN = 0.05  # the smallest gain of accuracy over a baseline that is worth the name, as a share
EFFECT = 0.1  # the smallest difference of a column from its baseline: as a share, else as a part of the baseline
HELD_OUT = "The head is chosen on one half of the corpus and scored on the other."


class Interval(NamedTuple):
    """95% intervals of one or more numbers, and whether each rests on enough units to decide anything.

    Attributes:
        low: Lower ends, of any shape; NaN where they are unknown.
        high: Upper ends, of the same shape.
        enough: Whether each rests on enough units to decide anything, one bool or as many as there are intervals.
    """

    low: Any
    high: Any
    enough: Any = True

    def at(self, index: Any) -> "Interval":
        """One of the intervals."""
        return Interval(self.low[index], self.high[index], np.broadcast_to(self.enough, np.shape(self.low))[index])

    def minus(self, other: "Interval") -> "Interval":
        """The difference of two, from the ends of both: conservative, however the two depend on each other."""
        return Interval(self.low - other.high, self.high - other.low, self.enough & np.asarray(other.enough))

    def negative(self) -> "Interval":
        """The intervals of the same numbers with the other sign."""
        return Interval(-self.high, -self.low, self.enough)


def counted(state: str, count: int) -> str:
    """How many are in a state, as "3 demonstrations"."""
    return f"{count} {state}" + ("s" if state == DEMONSTRATION and count > 1 else "")


def decide(interval: Interval, threshold: ArrayLike = 0.0) -> np.ndarray:
    """Decide whether numbers are above a threshold (docs/methods.md, section 6, Decisions).

    Args:
        interval: Intervals of any shape.
        threshold: One threshold, or as many as there are intervals.

    Returns:
        States of that shape: SHOWN where the whole interval is above the threshold, NOT_SHOWN where none of it is, and
        UNDECIDED where it contains the threshold, is unknown (NaN), or rests on too few units.
    """
    low = np.asarray(interval.low)
    high = np.asarray(interval.high)
    limit = np.asarray(threshold)
    states = np.where(low > limit, SHOWN, np.where(high <= limit, NOT_SHOWN, UNDECIDED))
    return np.where(interval.enough, states, UNDECIDED)


def all_of(*states: object) -> str:
    """The state of several conditions together: SHOWN where all are, NOT_SHOWN where one is not, else UNDECIDED."""
    return next((state for state in (NOT_SHOWN, UNDECIDED) if state in states), SHOWN)


def decide_worth(interval: Interval, difference: ArrayLike, least: float) -> np.ndarray:
    """Decide whether differences are not chance, and worth the name (docs/methods.md, section 6, Decisions).

    Args:
        interval: Intervals of differences, of any shape.
        difference: The differences, of that shape.
        least: The smallest difference that is worth the name.

    Returns:
        States of that shape: those of `decide`, but NOT_SHOWN where a difference that is not chance is below `least`.
    """
    states = decide(interval)
    return np.where((states == SHOWN) & (np.asarray(difference) < least), NOT_SHOWN, states)


def tiny(interval: Interval, difference: float, least: float, words: str) -> str:
    """A sentence where `decide_worth` finds one difference too small; `words` say `least` with its unit."""
    is_tiny = decide(interval) == SHOWN and difference < least
    return f" There is a difference, but a tiny one: less than {words}." if is_tiny else ""


def head_intervals(result: HeadAverages, quantity: str, comparisons: int | None = None) -> Interval:
    """(layer, head) intervals of averages, corrected for the number of heads, or of `comparisons` where it is given."""
    values = result[quantity]
    units = result.units[result.quantities.index(quantity)]
    return Interval(*result.limits(quantity, comparisons or values.size), bool(units >= MIN_UNITS))


def layer_intervals(result: HeadAverages, quantity: str, comparisons: int = 1) -> Interval:
    """(layer,) intervals of the layers' means over heads, corrected for the number of layers and for `comparisons`.

    The half-width is the mean of those of the layer's heads, since the standard error of a mean over heads is at most
    the mean of the heads' standard errors (docs/methods.md, section 6, Decisions).
    """
    low, high, enough = head_intervals(result, quantity, comparisons * len(result[quantity]))
    return Interval(low.mean(1), high.mean(1), enough)


def share_interval(
    share: ArrayLike, n: ArrayLike, comparisons: int = 1, freedom: ArrayLike = inf, enough: bool | np.ndarray = True
) -> Interval:
    """Wilson's intervals of shares of words or mentions (docs/methods.md, Uncertainty, Shares).

    Of held-out shares n is that of one half: where both halves choose the same head the scores of the two are not
    independent, and each half then scores what the other has chosen for being high.

    Args:
        share: Shares, 0 to 1, of any shape.
        n: Effective numbers of words or mentions, see `effective_n`.
        comparisons: Among how many the shares were chosen, see `t_quantile`.
        freedom: Degrees of freedom, see `t_quantile`.
        enough: Whether n and its documents can decide.
    """
    return Interval(*wilson(np.asarray(share) * np.asarray(n), n, t_quantile(freedom, comparisons)), enough)


def gain_interval(share: Any, interval: Interval, other: Any, others: Interval) -> Interval:
    """Newcombe's interval of the difference of two shares, share - other (docs/methods.md, section 13).

    It takes the two as independent: it is wider than necessary where a baseline is right on the same words as the head.

    Args:
        share: The first shares, 0 to 1.
        interval: Their intervals, which also say whether there is enough to decide.
        other: The shares that are subtracted.
        others: The intervals of these.
    """
    gain = share - other
    below = np.hypot(share - interval.low, others.high - other)
    above = np.hypot(interval.high - share, other - others.low)
    return Interval(gain - below, gain + above, interval.enough)


class Answer(NamedTuple):
    """A result's verdict on a statement.

    Attributes:
        state: One of DECIDED, as a text or a scalar array.
        sentence: What this run shows, with its numbers.
        head: The head that shows it best; None where the statement is about no single head.
        quantity: The column that shows it best; empty where none does.
        number: Its number in a few words, which answers the tour's question; empty where the state does.
        claim: The sentence in one line of a page, of which the sentence is the detail; empty where that is one line.
    """

    state: str | np.ndarray
    sentence: str
    head: Head | None = None
    quantity: str = ""
    number: str = ""
    claim: str = ""


@dataclass(frozen=True)
class Finding:
    """A statement with the verdict of one run.

    Attributes:
        id: The name of its analysis and its own, as "surface_patterns.previous".
        section: The section of the paper; empty beyond it.
        statement: What the paper says of BERT-base, with its numbers; empty beyond it.
        rule: The condition under which a model shows it.
        state: One of STATES.
        sentence: What this run shows, with its numbers.
        head: The head that shows it best; None where it is about no single head.
        quantity: The column that shows it best; empty where none does.
        number: Its number in a few words, as "29.6 points"; empty where the state says it.
        claim: The sentence in one line of a page; empty where the sentence is one line. It is in no export.
    """

    id: str
    analysis: str
    section: str
    statement: str
    rule: str
    state: str
    sentence: str
    head: Head | None = None
    quantity: str = ""
    number: str = ""
    claim: str = ""

    @property
    def text(self) -> str:
        """The sentence, beside it the paper's statement, and the state."""
        beside = f" The paper: {self.statement}" if self.statement else ""
        return f"{self.sentence}{beside} This run: {self.state}."

    def to_json(self) -> dict[str, Any]:
        """For exports, the head by its label."""
        values = vars(self) | {"head": self.head.key() if self.head else None}
        return {name: value for name, value in values.items() if name != "claim"}


@dataclass(frozen=True)
class Statement:
    """A statement that an analysis decides.

    Attributes:
        name: Its name, unique in the analysis.
        section: The section of the paper; empty beyond it.
        statement: What the paper says of BERT-base, with its numbers; empty beyond it.
        rule: The condition under which a model shows it.
        answer: From the default view of a result to the verdict; raises KeyError where the
            result lacks what the statement is about.
        role: What the head of the finding does, in a word or two: the overview lists the findings that have a role, and
            the tour's last slide offers their heads. Empty for none.
    """

    name: str
    section: str
    statement: str
    rule: str
    answer: Callable[[Any], Answer]
    role: str = ""

    def finding(self, analysis: str, title: str, result: Result | None) -> Finding:
        """The finding of a result of this analysis.

        Args:
            title: The title of its page, for a sentence that says that there is no result.
            result: The result; None where none is stored.

        Returns:
            The verdict; NOT_COMPUTED without a result, ABSENT where the result lacks what the statement is about.
        """
        if result is None:
            answer = Answer(NOT_COMPUTED, f"No result of “{title}” is stored for this model.")
        else:
            try:
                answer = self.answer(result.default_view())
            except KeyError:
                answer = Answer(ABSENT, f"This model or corpus lacks what the statement is about; see “{title}”.")
        state, sentence, head, quantity, number, claim = answer
        if isinstance(result, HeadAverages) and quantity in result.quantities:
            units = int(result.units[result.quantities.index(quantity)])
            sentence += f" Only {units_text(units, result.unit)}." if units < MIN_UNITS else ""
        finding_id = f"{analysis}.{self.name}"
        paper = (self.section, self.statement, self.rule)
        return Finding(finding_id, analysis, *paper, str(state), sentence, head, quantity, number, claim)


def column_finding(analysis: str, column: HeadColumn, result: Result) -> Finding:
    """The head with the highest value of a column, for analyses and quantities that no statement is about.

    Its value is compared with the column's baseline by its interval, corrected for the number of heads, and by what is
    worth the name (docs/methods.md, section 6, Decisions); without a baseline nothing is decided.

    Args:
        column: A column that the result has.
    """
    values = column.values(result)
    state = np.array(UNDECIDED)
    beside = ""
    remark = ""
    head = highest(values)
    rule = "Without a baseline nothing is decided."
    if column.baseline:
        baselines, name = column.baselines(result)
        baseline = float(baselines[head])
        least, words = _least(column, baseline, name)
        rule = (
            f"The highest head is above {name}, by {words} or more, with an interval corrected for the number of heads."
        )
        beside = (
            f"; {int((values > baselines).sum())} of {values.size} heads are above {name} ({column.text(baseline)})"
        )
        if isinstance(result, HeadAverages) and column.quantity in result:
            gain = head_intervals(result, column.quantity).at(head).minus(Interval(baseline, baseline))
            difference = float(values[head]) - baseline
            state = decide_worth(gain, difference, least)
            remark = tiny(gain, difference, least, words)
    value = column.with_interval(result, head)
    name = column.label.removesuffix(NATS)
    unit = " nats" if column.label.endswith(NATS) else ""
    sentence = f"Head {head.label()} has the highest {name}: {value}{unit}{beside}.{remark}"
    identity = f"{analysis}.{column.quantity}"
    return Finding(
        id=identity,
        analysis=analysis,
        section="",
        statement="",
        rule=rule,
        state=str(state),
        sentence=sentence,
        head=head,
        quantity=column.quantity,
    )


def empty_finding(analysis: str, title: str) -> Finding:
    """The finding of a result in which no input has what the analysis measures.

    Args:
        title: The title of its page.
    """
    return Finding(
        id=f"{analysis}.absent",
        analysis=analysis,
        section="",
        statement="",
        rule="An input has what the analysis measures.",
        state=ABSENT,
        sentence=f"No input of this corpus has what “{title}” measures: there is no number to show.",
    )


def _least(column: HeadColumn, baseline: float, name: str) -> tuple[float, str]:
    """The smallest difference of a column's head from a baseline that is worth the name, as a number and in words."""
    if column.percent or column.maximum == 1:
        return EFFECT, f"{100 * EFFECT:.0f} points"
    return EFFECT * abs(baseline), f"{EFFECT:.0%} of {name}"
