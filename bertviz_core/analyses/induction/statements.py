"""What a result of induction states, and how it is decided (docs/methods.md, sections 15 and 6)."""

from functools import partial

import numpy as np

from bertviz_core.analyses.base.findings import SHOWN, Answer, Statement, decide_worth, head_intervals, tiny
from bertviz_core.analyses.induction.result import CONTROL_QUANTITY, CONTROLS, KINDS, Induction
from bertviz_core.heads import highest
from bertviz_core.numbers import half_width

LEAST = 0.1  # the smallest difference that is worth the name, as a share of the attention
IN_POINTS = f"{100 * LEAST:.0f} points"
MUCH = 0.3  # the share of attention above which a head has the behavior
ROLES = {"prefix": "induction", "duplicate": "duplicate token"}


def repeats(result: Induction, quantity: str) -> np.ndarray:
    """Which heads give a repetition much of their attention, and because of it (docs/methods.md, section 15).

    Args:
        result: The averages of attention.
        quantity: One of ROLES.

    Returns:
        (layer, head) bool: above MUCH, and above their own control by LEAST and by intervals corrected for the number
        of heads; no head where no input without a repetition was read.
    """
    control = CONTROL_QUANTITY.format(quantity)
    if quantity not in result or control not in result:
        return np.zeros(result.mean.shape[1:], dtype=bool)
    gain = head_intervals(result, quantity).minus(head_intervals(result, control))
    states = decide_worth(gain, result[quantity] - result[control], LEAST)
    return (result[quantity] > MUCH) & (states == SHOWN)


def strongest(result: Induction, quantity: str) -> Answer:
    """Whether the head with the highest attention of a kind gives it because of the repetition.

    Its attention minus that of its control (CONTROLS), with the intervals of both, each corrected for the number of
    heads, is to be above 0, and itself LEAST or more (docs/methods.md, section 15; section 6, Decisions).

    Args:
        result: The averages of attention.
        quantity: The kind of attention, one of KINDS.
    """
    position, words = CONTROLS[quantity]
    control = CONTROL_QUANTITY.format(position)
    values = result[quantity]
    head = highest(values)
    half = half_width(result.interval(quantity)[head], ".1%")
    gain = head_intervals(result, quantity).minus(head_intervals(result, control))
    difference = values[head] - result[control][head]
    where = KINDS[quantity][0]
    gives = f"Head {head.label()} gives {values[head]:.1%} of its attention {where}"
    claim = f"{gives}; {result[control][head]:.1%} {words}"
    return Answer(
        state=decide_worth(gain.at(head), difference, LEAST),
        sentence=f"Head {head.label()} gives the most attention {KINDS[quantity][0]}: {values[head]:.1%} ± {half} in "
        f"repeated sequences; {result[control][head]:.1%} {words}.{tiny(gain.at(head), difference, LEAST, IN_POINTS)}",
        head=head,
        quantity=quantity,
        number=f"{values[head]:.1%}",
        claim=claim,
    )


STATEMENTS = tuple(
    Statement(
        name=kind,
        section="",
        statement="",
        rule=f"The head with the highest attention {label} gives less {CONTROLS[kind][1]}, by {IN_POINTS} or more and "
        "with the intervals of both corrected for the number of heads.",
        answer=partial(strongest, quantity=kind),
        role=ROLES.get(kind, ""),
    )
    for kind, (label, *_) in KINDS.items()
)
