"""What a result of reach states, and how it is decided (docs/methods.md, sections 17 and 6)."""

import numpy as np

from bertviz_core.analyses.base.averages import name_heads_over, uniform_text
from bertviz_core.analyses.base.findings import Answer, Interval, Statement, decide, head_intervals
from bertviz_core.analyses.reach.result import INACTIVE, SINK, Reach
from bertviz_core.heads import Head, highest
from bertviz_core.numbers import half_width
from bertviz_core.plotting import TOKENS

MOST = 0.5  # of the heads, or of the inputs


def most_look_near(result: Reach) -> Answer:
    """Whether most heads look nearer than uniform attention.

    The share of heads below it, from those whose interval, corrected for their number, is below it as a whole to those
    whose interval begins below it, is compared with MOST (docs/methods.md, section 17; section 6, Decisions).
    """
    values, uniform = result["distance"], result["uniform"]
    heads = head_intervals(result, "distance")
    share = Interval((heads.high < uniform).mean(), (heads.low < uniform).mean(), heads.enough)
    nearest, farthest = highest(-values), highest(values)
    ends = [f"{_with_interval(result, 'distance', head)} in head {head.label()}" for head in (nearest, farthest)]
    return Answer(
        decide(share, MOST),
        f"{(values < uniform).mean():.0%} of the heads look nearer than uniform attention, whose mean distance "
        f"is {uniform_text(uniform, 1)} tokens: from {ends[0]} to {ends[1]}.",
        nearest,
    )


def some_have_a_sink(result: Reach) -> Answer:
    """Whether one head has one token as its sink in most inputs.

    The highest rate of all heads and tokens is compared with MOST by its interval, corrected for the number of both
    (docs/methods.md, section 17; section 6, Decisions).

    Raises:
        KeyError: No input has such a token.
    """
    names = result.sinks
    if not names:
        raise KeyError("sinks")
    rates = np.stack([result[name] for name in names])  # (sink, layer, head)
    quantity = names[int(np.nanmax(rates, axis=(1, 2)).argmax())]
    head = highest(result[quantity])
    intervals = head_intervals(result, quantity, rates.size)
    over = int((rates > MOST).any(0).sum())
    token = TOKENS[quantity.removeprefix("sink_")][0]
    return Answer(
        state=decide(intervals, MOST)[head],
        sentence=f"Head {head.label()} puts more than {SINK} of its attention on {token} in "
        f"{result[quantity][head]:.0%} of the inputs; {over} of {rates[0].size} heads have a sink in most inputs.",
        head=head,
        quantity=quantity,
    )


def some_are_inactive(result: Reach) -> Answer:
    """Whether one head's output is short beside those of its layer.

    The lowest relative output is compared with INACTIVE by its interval, corrected for the number of heads
    (docs/methods.md, section 17; section 6, Decisions).
    """
    values = result["output"]
    head = highest(-values)
    below = int((values < INACTIVE).sum())
    return Answer(
        decide(head_intervals(result, "output").negative(), -INACTIVE)[head],
        f"Head {head.label()} has the shortest output beside those of its layer: "
        f"{_with_interval(result, 'output', head)} times their mean; {below} of {values.size} heads are below "
        f"{INACTIVE}.",
        head,
    )


def inactive_heads(result: Reach, below: float) -> str:
    """The heads whose relative output is below a share, in a sentence."""
    description = f"Output shorter than {below:.2f} times the mean of the layer's heads"
    return name_heads_over(-result["output"], -below, description)


def _with_interval(result: Reach, quantity: str, head: Head) -> str:
    return f"{result[quantity][head]:.2f} ± {half_width(result.interval(quantity)[head], '.2f')}"


STATEMENTS = (
    Statement(
        name="near",
        section="",
        statement="",
        rule=f"More than {MOST:.0%} of the heads have a smaller mean distance than uniform attention, with intervals "
        "corrected for their number.",
        answer=most_look_near,
    ),
    Statement(
        name="sink",
        section="",
        statement="",
        rule=f"One head puts more than {SINK} of its attention on one token, [CLS], [SEP] or the first, in more than "
        f"{MOST:.0%} of the inputs, with an interval corrected for the number of heads and tokens.",
        answer=some_have_a_sink,
    ),
    Statement(
        name="inactive",
        section="",
        statement="",
        rule=f"One head's output is on average shorter than {INACTIVE} times the mean of its layer's heads, with an "
        "interval corrected for the number of heads.",
        answer=some_are_inactive,
    ),
)
