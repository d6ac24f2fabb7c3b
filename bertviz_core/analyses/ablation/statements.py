"""What a result of ablation states, and how it is decided (docs/methods.md, sections 12 and 6)."""

import numpy as np

from bertviz_core.analyses.ablation.result import NO_OP, Ablation
from bertviz_core.analyses.base.findings import (
    SHOWN,
    UNDECIDED,
    Answer,
    Interval,
    Statement,
    decide,
    decide_worth,
    head_intervals,
    tiny,
)
from bertviz_core.heads import highest
from bertviz_core.numbers import nats
from bertviz_core.plotting import TOKENS

TOLERANCE = 0.05  # share of the whole model's loss


def matter(result: Ablation) -> Answer:
    """Whether the loss rises without some head.

    The largest change of the loss (docs/methods.md, section 12) is NO_OP of the whole model's loss or
    more, and its interval, corrected for the number of heads, above 0 (section 6, Decisions); how many heads are shown
    to matter is said beside it.
    """
    head = result.largest("loss_change")
    change = result["loss_change"]
    least = NO_OP * result.loss
    intervals = head_intervals(result, "loss_change")
    states = decide_worth(intervals, change, least)
    at = highest(change)
    note = tiny(intervals.at(at), change[at], least, f"{NO_OP:.0%} of the loss")
    return Answer(
        state=states[at],
        sentence=f"Without head {head.label()} the {result.loss_name} changes most, by "
        f"{nats(change[head], result.interval('loss_change')[head], result.unit)}; "
        f"{int((states == SHOWN).sum())} of {change.size} heads matter.{note}",
        head=head,
        quantity="loss_change",
        number=f"{change[head]:+.3f} nats",
    )


def no_op(result: Ablation) -> Answer:
    """Whether no head's attention to the sink matters to the loss, although some heads attend mostly to it and some
    heads matter.

    The largest change in size, from what the intervals leave of it at least to what they allow at most (each corrected
    for the number of heads), is compared with NO_OP of the whole model's loss; shown where all of it is smaller. That
    says something only where there is attention to lose, and a loss that can rise: undecided without a head that
    attends mostly to the sink, or without one that is shown to matter, see `matter` (docs/methods.md, sections 12 and
    6).
    """
    change = result["to_sink_loss_change"]
    low, high, enough = head_intervals(result, "to_sink_loss_change")
    smallest = np.max([low, -high]).clip(0)
    largest = np.maximum(-low, high).max()
    head = result.largest("to_sink_loss_change")
    most = nats(change[head], result.interval("to_sink_loss_change")[head], result.unit)
    name = TOKENS[result.sink][0]
    group = next((each for each in result.groups if each["name"] == f"to_{result.sink}"), None)
    together = f"no group of heads attends mostly to {name}."
    if group:
        together = (
            f"the {len(group['heads'])} heads that attend mostly to {name} change it by "
            f"{nats(group['loss_change'], group['interval'], result.unit)} when all are ablated."
        )
    state = str(decide(Interval(-largest, -smallest, enough), -NO_OP * result.loss))
    matters = matter(result).state == SHOWN
    nothing = "" if matters else " No head matters to this loss, so that nothing can be lost."
    if state == SHOWN and not (group and matters):
        state = UNDECIDED
    return Answer(
        state=state,
        sentence=f"Without the attention of head {head.label()} to {name} the {result.loss_name} of {result.loss:.2f} "
        f"nats changes most, by {most}; {together}{nothing}",
        head=head,
        quantity="to_sink_loss_change",
        number=f"{change[head]:+.3f} nats",
    )


def together(result: Ablation) -> Answer:
    """How many of the least important heads can be ablated together within TOLERANCE of the whole model's loss.

    Nothing is decided, since the curve has no interval (docs/methods.md, section 12, Pruning curve).
    """
    within = result.removed[result.removed_loss <= (1 + TOLERANCE) * result.loss]
    count = f"{int(within.max())} of {int(result.removed.max())} heads"
    sentence = f"{count} can be ablated together while the loss stays within {TOLERANCE:.0%} of the whole model's."
    return Answer(UNDECIDED, sentence)


STATEMENTS = (
    Statement(
        name="matter",
        section="",
        statement="",
        rule=f"A head matters where the loss without it rises by {NO_OP:.0%} or more of the whole model's, with an "
        "interval corrected for the number of heads.",
        answer=matter,
    ),
    Statement(
        name="no_op",
        section="",
        statement="",
        rule="Without its attention to the sink (the special token that receives the most attention) no head changes "
        f"the loss by {NO_OP:.0%} or more of the whole model's, with intervals corrected for the number of heads; "
        "undecided where no head attends mostly to the sink, or no head matters.",
        answer=no_op,
    ),
    Statement(
        name="together",
        section="",
        statement="",
        rule="The curve has no interval, so nothing is decided.",
        answer=together,
    ),
)
