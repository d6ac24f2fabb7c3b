"""Findings on repeated sequences: the strongest head of each kind, against positions where nothing is repeated."""

from functools import partial

from bertviz_core.analyses.findings import Answer, Statement, decide, head_intervals, present
from bertviz_core.analyses.induction.result import CONTROL, KINDS, Induction
from bertviz_core.heads import highest
from bertviz_core.numbers import half_width

# A head attends to the previous token whether anything is repeated or not: it is compared with another position.
CONTROLS = {
    "prefix": ("prefix", "to the same position where nothing is repeated"),
    "duplicate": ("duplicate", "to the same position where nothing is repeated"),
    "previous": ("duplicate", "to the token one sequence before where nothing is repeated"),
}


def strongest(result: Induction, base: int, quantity: str) -> Answer:
    """The head with the highest value, and whether it is above its own control."""
    control_name, words = CONTROLS[quantity]
    values, control = (present(result, name) for name in (quantity, CONTROL.format(control_name)))
    head, (label, *_) = highest(values), KINDS[quantity]
    gain = head_intervals(result, quantity).minus(head_intervals(result, CONTROL.format(control_name)))
    return Answer(
        decide(gain.at(head)),
        f"Head {head.label(base)} gives the most attention {label}: {values[head]:.1%} ± "
        f"{half_width(result.interval(quantity)[head], '.1%')} in repeated sequences; {control[head]:.1%} {words}.",
        head,
        quantity,
    )


STATEMENTS = tuple(
    Statement(
        quantity,
        "",
        "",
        f"The head with the highest attention {label} gives less {CONTROLS[quantity][1]}, with the intervals of both "
        "corrected for the number of heads.",
        partial(strongest, quantity=quantity),
    )
    for quantity, (label, *_) in KINDS.items()
)
