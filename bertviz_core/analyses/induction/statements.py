"""What a result of induction states, and how it is decided (docs/methods.md, sections 15 and 6)."""

from functools import partial

from bertviz_core.analyses.base.findings import Answer, Interval, Statement, decide_worth, head_intervals, tiny
from bertviz_core.analyses.base.statistics import MIN_UNITS
from bertviz_core.analyses.induction.result import CONTROL_QUANTITY, CONTROLS, KINDS, LEAST, Induction
from bertviz_core.heads import highest
from bertviz_core.numbers import measured

SAVING = 1.0  # nats; the smallest saving that is worth the name, by which a token becomes e times as likely
IN_NATS = f"{SAVING:.0f} nat"
IN_POINTS = f"{100 * LEAST:.0f} points"
ROLES = {"prefix": "induction", "duplicate": "duplicate token"}


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
    share = measured(values[head], result.interval(quantity)[head], percent=True)
    gain = head_intervals(result, quantity).minus(head_intervals(result, control))
    difference = values[head] - result[control][head]
    where = KINDS[quantity][0]
    gives = f"Head {head.label()} gives {values[head]:.1%} of its attention {where}"
    claim = f"{gives}; {result[control][head]:.1%} {words}"
    return Answer(
        state=decide_worth(gain.at(head), difference, LEAST),
        sentence=f"Head {head.label()} gives the most attention {KINDS[quantity][0]}: {share} in "
        f"repeated sequences; {result[control][head]:.1%} {words}.{tiny(gain.at(head), difference, LEAST, IN_POINTS)}",
        head=head,
        quantity=quantity,
        number=f"{values[head]:.1%}",
        claim=claim,
    )


def cheaper(result: Induction) -> Answer:
    """Whether the tokens of the second copy cost less, by SAVING or more; raises KeyError without losses."""
    first, second = result.losses
    saving, half = first - second, result.saving_half
    interval = Interval(saving - half, saving + half, bool(result.units[0] >= MIN_UNITS))
    return Answer(
        state=decide_worth(interval, saving, SAVING),
        sentence=f"A token of the second copy costs {second:.2f} nats, {result.saving_text} than one of the first "
        f"({first:.2f} nats).{tiny(interval, saving, SAVING, IN_NATS)}",
        number=f"{saving:.1f} nats",
    )


OF_HEADS = tuple(
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
OF_LOSSES = Statement(
    name="copies",
    section="",
    statement="",
    rule=f"A token of the second copy costs less than one of the first, by {IN_NATS} or more and with the 95% interval "
    "of the difference above 0; only of a decoder that predicts the next word.",
    answer=cheaper,
)
STATEMENTS = (*OF_HEADS, OF_LOSSES)
