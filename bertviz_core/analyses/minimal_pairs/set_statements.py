"""What a result states of a set of heads that is removed, and how that is decided (docs/methods.md, section 19)."""

import numpy as np

from bertviz_core.analyses.base.findings import (
    GAIN,
    NOT_SHOWN,
    SHOWN,
    UNDECIDED,
    Answer,
    Finding,
    Interval,
    decide,
)
from bertviz_core.analyses.base.statistics import MIN_UNITS
from bertviz_core.analyses.minimal_pairs.head_sets import head_names
from bertviz_core.analyses.minimal_pairs.result import QUANTITIES, MinimalPairs, SetRecord, points_text
from bertviz_core.analyses.minimal_pairs.statements import POINTS, has_preference
from bertviz_core.heads import Head
from bertviz_core.numbers import nats, plural

RULE = (
    "The whole model prefers the grammatical sentence in more than half of the pairs; without the set it does so in "
    f"{POINTS} fewer or more, beyond the interval of that change; the margin falls; and the accuracy falls further "
    "than without any of the random sets of the same layers. Intervals are corrected for the number of phenomena."
)
CAUTION = (
    "Other heads may take over where these are removed, and heads may serve a phenomenon that they do not find by "
    "their attention."
)


def heads_of(head_set: SetRecord) -> list[Head]:
    """The heads of a set."""
    return [Head.parse(key) for key in head_set["heads"]]


def set_states(result: MinimalPairs) -> np.ndarray:
    """(phenomenon,) states: whether the set that is removed is needed for the phenomenon, see RULE; undecided without
    controls."""
    count = len(result.phenomena)
    change, margin = (result.set_changes[:-1, index, 0] for index in range(len(QUANTITIES)))
    half, margin_half = (result.set_intervals(quantity, count)[:-1, 0] for quantity in QUANTITIES)
    enough = (result.units_of >= MIN_UNITS) & bool(result.controls)
    falls = decide(Interval(-margin - margin_half, -margin + margin_half, enough))
    lowest = result.control_changes[:-1, 0].min(-1, initial=np.inf)
    is_worth = (change <= -GAIN) & (change < -half) & (change < lowest)
    prefers = has_preference(result)
    decided = np.where((falls == SHOWN) & (prefers != SHOWN), prefers, falls)
    return np.where((decided == SHOWN) & ~is_worth, NOT_SHOWN, decided)


def set_answer(result: MinimalPairs, head_set: SetRecord) -> Answer:
    """Whether a set is needed for the phenomenon that is shown; of all pairs nothing is decided."""
    state = str(set_states(result)[result.row]) if len(result.places) == 1 else UNDECIDED
    change, margin = result.set_changes[result.row, :, 0].tolist()
    half, margin_half = (float(result.set_intervals(quantity)[result.row, 0]) for quantity in QUANTITIES)
    before = result.shown_accuracy
    heads = heads_of(head_set)
    claim = (
        f"Without {head_names(heads)} the model prefers the grammatical sentence in {before + change:.0%} of the "
        f"pairs, with {'it' if len(heads) == 1 else 'them'} in {before:.0%}; {_controls(result, before)}"
    )
    sentence = (
        f"{claim} ({result.shown_name}, {plural(result.shown_pairs, 'pairs')}: "
        f"{points_text(change, half, result.unit)}; margin {nats(margin, margin_half, result.unit)}). "
        f"{origin(result, head_set)}{CAUTION}"
    )
    return Answer(
        state=state,
        sentence=sentence,
        quantity="accuracy_change",
        number=f"{100 * change:+.1f} points",
        claim=f"{claim}: {result.shown_name}.",
    )


def _controls(result: MinimalPairs, before: float) -> str:
    """The accuracies without each control, as "without each of 20 random sets of the same layers 80% to 84%"."""
    if not result.controls:
        return "its layers have not enough other heads for random sets, so that nothing is decided"
    each = "each of " if len(result.controls) > 1 else ""
    return f"without {each}{controls_name(result)} {span(before + result.control_changes[result.row, 0], '.0%')}"


def controls_name(result: MinimalPairs) -> str:
    """What the controls are, as "20 random sets of the same layers"."""
    count = len(result.controls)
    if len(result.controls[0]) == 1:
        return f"{plural(count, 'other heads')} of its layer"
    return f"{plural(count, 'random sets')} of the same layers"


def span(values: np.ndarray, form: str) -> str:
    """The lowest and the highest of numbers (control,), as "80% to 84%"."""
    low, high = (format(float(end), form) for end in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


def origin(result: MinimalPairs, head_set: SetRecord) -> str:
    """A sentence on where the heads of a relation come from; empty where they are named one by one."""
    if not head_set["name"]:
        return ""
    corpora = ", ".join(file["name"] for file in result.provenance.get("others", {}).values())
    halves = (
        "It is the best at {} on each half" if len(head_set["heads"]) == 1 else "Each is the best at {} on one half"
    )
    doubt = "" if head_set["is_found"] else ", but scored on the other half not above every baseline"
    return f"{halves.format(head_set['name'])} of {corpora}{doubt}. "


def set_needed(result: MinimalPairs, head_set: SetRecord) -> Answer:
    """`set_answer` of the phenomenon for which the set is needed, else of that whose accuracy falls most."""
    fall = result.set_changes[:-1, 0, 0]
    is_needed = set_states(result) == SHOWN
    if is_needed.any():
        fall = np.where(is_needed, fall, np.inf)
    return set_answer(result.of(result.phenomena[int(fall.argmin())]), head_set)


def set_finding(analysis: str, answer: Answer) -> Finding:
    """An answer as a finding of an analysis."""
    return Finding(
        id=f"{analysis}.set",
        analysis=analysis,
        section="",
        statement="",
        rule=RULE,
        state=str(answer.state),
        sentence=answer.sentence,
        quantity=answer.quantity,
        number=answer.number,
        claim=answer.claim,
    )
