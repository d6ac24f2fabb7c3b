"""What a result of minimal pairs states, and how it is decided (docs/methods.md, sections 19 and 6)."""

from typing import NamedTuple

import numpy as np

from bertviz_core.analyses.base.findings import (
    GAIN,
    SHOWN,
    UNDECIDED,
    Answer,
    Finding,
    Interval,
    Statement,
    all_of,
    decide,
)
from bertviz_core.analyses.base.statistics import MIN_UNITS
from bertviz_core.analyses.minimal_pairs.result import MinimalPairs, points_text
from bertviz_core.heads import Head
from bertviz_core.numbers import nats, plural

POINTS = f"{100 * GAIN:.0f} points"
CAUTION = (
    "A single head may have backups that take over where it is removed, and a head may serve a phenomenon that it does "
    "not find by its attention."
)


class Controls(NamedTuple):
    """The other heads of a head's layer, each removed alone.

    Attributes:
        mean: The mean of their changes of the accuracy.
        low: The lowest of them.
        high: The highest of them.
        others: How many they are.
    """

    mean: float
    low: float
    high: float
    others: int


def controls(changes: np.ndarray, head: Head) -> Controls | None:
    """The other heads of the layer, of changes (layer, head); None where there is no other."""
    others = np.delete(changes[head.layer], head.head)
    if not len(others):
        return None
    return Controls(float(others.mean()), float(others.min()), float(others.max()), len(others))


def has_preference(result: MinimalPairs) -> np.ndarray:
    """(phenomenon,) states: whether the whole model prefers the grammatical sentence in more than half of the pairs,
    with intervals corrected for the number of phenomena."""
    low, high = result.accuracy_limits(len(result.phenomena))
    return decide(Interval(low, high, result.units_of >= MIN_UNITS), result.chance)


def needed_states(result: MinimalPairs) -> np.ndarray:
    """(phenomenon, layer, head) states: whether the head is needed for the phenomenon (docs/methods.md, section 19).

    The whole model prefers the grammatical sentence; without the head it does so in GAIN fewer of the pairs, or more,
    and by more than the half-width of the 95% interval of that change; the margin falls, with an interval corrected for
    the number of heads and of phenomena; and the accuracy falls further than without any other head of the layer.
    """
    changes = result.changes[:, 0]
    half = result.change_intervals("margin_change", changes.size)
    fall = -result.changes[:, 1]
    enough = np.broadcast_to((result.units_of >= MIN_UNITS)[:, None, None], fall.shape)
    falls = decide(Interval(fall - half, fall + half, enough))
    is_worth = (changes <= -GAIN) & (changes < -result.change_intervals("accuracy_change")) & _beyond_others(changes)
    prefers = np.broadcast_to(has_preference(result)[:, None, None], falls.shape)
    decided = np.where((falls == SHOWN) & (prefers != SHOWN), prefers, falls)
    return np.where((decided == SHOWN) & ~is_worth, "not shown", decided)


def _beyond_others(changes: np.ndarray) -> np.ndarray:
    """(phenomenon, layer, head) whether the accuracy falls further than without any other head of the layer."""
    sorted_changes = np.sort(changes, axis=-1)
    second = sorted_changes[..., 1:2] if changes.shape[-1] > 1 else np.zeros_like(sorted_changes[..., :1])
    return np.asarray((changes == sorted_changes[..., :1]) & (changes < second))


def needed_finding(result: MinimalPairs, head: Head) -> Answer:
    """Whether a head is needed for the phenomenon that is shown; of all pairs nothing is decided.

    Raises:
        KeyError: There is no phenomenon.
    """
    state = UNDECIDED
    if len(places := result.places) == 1:
        state = str(needed_states(result)[(places[0], *head)])
    change, margin = (float(result[name][head]) for name in ("accuracy_change", "margin_change"))
    before = result.shown_accuracy
    points = points_text(change, float(result.interval("accuracy_change")[head]), result.unit)
    other = controls(result["accuracy_change"], head)
    without_others = ""
    if other:
        low, high = f"{before + other.low:.0%}", f"{before + other.high:.0%}"
        accuracies = low if low == high else f"{low} to {high}"
        without_others = f"; without each of the {other.others} other heads of its layer {accuracies}"
    claim = (
        f"Without {head.label()} the model prefers the grammatical sentence in {before + change:.0%} of the pairs, "
        f"with it in {before:.0%}{without_others}"
    )
    in_nats = nats(margin, float(result.interval("margin_change")[head]), result.unit)
    sentence = (
        f"{claim} ({result.shown_name}, {plural(result.shown_pairs, 'pairs')}: {points}; margin {in_nats}). {CAUTION}"
    )
    return Answer(
        state=state,
        sentence=sentence,
        head=head,
        quantity="accuracy_change",
        number=f"{100 * change:+.1f} points",
        claim=f"{claim}: {result.shown_name}.",
    )


def needed(result: MinimalPairs) -> Answer:
    """Whether the model needs some head for some phenomenon: the head that is needed, else that without which the
    accuracy falls most, in the phenomenon where it does."""
    states = needed_states(result)
    fall = result.changes[:, 0]
    if (states == SHOWN).any():
        fall = np.where(states == SHOWN, fall, np.inf)
    place, layer, number = (int(at) for at in np.unravel_index(fall.argmin(), fall.shape))
    answer = needed_finding(result.of(result.phenomena[place]), Head(layer, number))
    count = int((states == SHOWN).any(0).sum())
    heads = f"{count} of {states[0].size} heads are needed for some phenomenon."
    return answer._replace(sentence=f"{answer.sentence} {heads}")


def prefers(result: MinimalPairs) -> Answer:
    """Whether the whole model prefers the grammatical sentence in every phenomenon (docs/methods.md, section 19)."""
    states = has_preference(result)
    count = int((states == SHOWN).sum())
    lowest, highest = int(result.accuracy.argmin()), int(result.accuracy.argmax())
    names = {each: result.phenomena[each] for each in (lowest, highest)}
    if lowest == highest and len(states) > 1:
        names[lowest] = "every phenomenon"
    spread = " to ".join(f"{result.accuracy[each]:.0%} ({name})" for each, name in names.items())
    sentence = (
        f"The model prefers the grammatical sentence in {spread} of the pairs; a guess is right in half. That is shown "
        f"to be more than half in {count} of {len(states)} phenomena."
    )
    return Answer(all_of(*states), sentence, number=f"{count} of {len(states)}")


STATEMENTS = (
    Statement(
        name="needed",
        section="",
        statement="",
        rule="Of some phenomenon the whole model prefers the grammatical sentence in more than half of the pairs; "
        f"without some head it does so in {POINTS} fewer or more, beyond the 95% interval of that change; the margin "
        "falls, with an interval corrected for the number of heads and phenomena; and the accuracy falls further than "
        "without any other head of the layer.",
        answer=needed,
        role="grammar",
    ),
    Statement(
        name="prefers",
        section="",
        statement="",
        rule="The grammatical sentence is the likelier one in more than half of the pairs of every phenomenon, with "
        "intervals corrected for the number of phenomena.",
        answer=prefers,
    ),
)


def head_finding(analysis: str, result: MinimalPairs, head: Head) -> Finding:
    """What the page says of the chosen head and phenomenon."""
    statement = STATEMENTS[0]
    answer = needed_finding(result, head)
    return Finding(
        id=f"{analysis}.{statement.name}",
        analysis=analysis,
        section="",
        statement="",
        rule=statement.rule,
        state=str(answer.state),
        sentence=answer.sentence,
        head=head,
        quantity=answer.quantity,
        number=answer.number,
        claim=answer.claim,
    )
