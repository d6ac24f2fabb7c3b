"""What a result of reach states, and how it is decided (docs/methods.md, sections 17 and 6)."""

from dataclasses import replace

import numpy as np

from bertviz_core.analyses.base.averages import HeadColumn, name_heads_over, uniform_text
from bertviz_core.analyses.base.findings import (
    EFFECT,
    Answer,
    Finding,
    Interval,
    Statement,
    column_finding,
    decide,
    head_intervals,
)
from bertviz_core.analyses.reach.result import INACTIVE, SINK, Reach
from bertviz_core.heads import Head, highest
from bertviz_core.numbers import measured
from bertviz_core.plotting import TOKENS

MOST = 0.5  # of the heads, or of the inputs
NEARER = 1 - EFFECT  # of the distance of uniform attention: a head that looks nearer looks at most so far


def most_look_near(result: Reach) -> Answer:
    """Whether most heads look nearer than uniform attention, at other ordinary tokens: not at a sink, which is as far
    as its place.

    The share of heads below NEARER of its distance, from those whose interval, corrected for their number, is below it
    as a whole to those whose interval begins below it, is compared with MOST (docs/methods.md, section 17; section 6,
    Decisions).
    """
    quantity = "distance_ordinary"
    values = result[quantity]
    limit = NEARER * result["uniform_ordinary"]
    uniform = uniform_text(result["uniform_ordinary"], 1)
    heads = head_intervals(result, quantity)
    share = Interval((heads.high < limit).mean(), (heads.low < limit).mean(), heads.enough)
    nearest, farthest = highest(-values), highest(values)
    ends = [f"{_with_interval(result, quantity, head)} in head {head.label()}" for head in (nearest, farthest)]
    return Answer(
        state=decide(share, MOST),
        sentence=f"{(values < limit).mean():.0%} of the heads look nearer than uniform attention, by {EFFECT:.0%} or "
        f"more; between ordinary tokens the mean distance of uniform attention is {uniform} "
        f"tokens, that of heads from {ends[0]} to {ends[1]}.",
        head=nearest,
        quantity=quantity,
    )


def distance_finding(analysis: str, column: HeadColumn, result: Reach) -> Finding:
    """The head that looks the furthest, special tokens included; where it has a sink, the sentence says so, since it
    then looks as far as that is."""
    found = column_finding(analysis, column, result)
    assert found.head is not None, "the finding of a column names its highest head"
    rates = {name: float(result[name][found.head]) for name in result.sinks}
    sink = max(rates, key=lambda name: rates[name], default="")
    if not sink or rates[sink] <= MOST:
        return found
    between = "not known, as they get nothing"
    if "distance_ordinary" not in result:
        between = "not known, as no input has two of them"
    elif not np.isnan(result["distance_ordinary"][found.head]):
        between = f"{_with_interval(result, 'distance_ordinary', found.head)} tokens"
    return replace(
        found,
        sentence=f"{found.sentence} But {_token(sink)} is its sink in {rates[sink]:.0%} of the inputs, and as far as "
        f"that is it looks; its mean distance between ordinary tokens is {between}.",
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
    low, high = (end[head] for end in result.limits(quantity))
    interval = "no interval" if np.isnan(low) else f"95% interval {low:.0%} to {high:.0%}"
    return Answer(
        state=decide(intervals, MOST)[head],
        sentence=f"Head {head.label()} puts more than {SINK} of its attention on {_token(quantity)} in "
        f"{result[quantity][head]:.0%} of the inputs ({interval}); {over} of {rates[0].size} heads have a sink in most "
        "inputs.",
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
        state=decide(head_intervals(result, "output").negative(), -INACTIVE)[head],
        sentence=f"Head {head.label()} has the shortest output beside those of its layer: "
        f"{_with_interval(result, 'output', head)} times their mean; {below} of {values.size} heads are below "
        f"{INACTIVE}.",
        head=head,
        quantity="output",
    )


def inactive_heads(result: Reach, below: float) -> str:
    """The heads whose relative output is below a share, in a sentence."""
    description = f"Output shorter than {below:.2f} times the mean of the layer's heads"
    return name_heads_over(-result["output"], -below, description)


def _token(quantity: str) -> str:
    """The token of one of SINKS, as it is shown."""
    return TOKENS[quantity.removeprefix("sink_")][0]


def _with_interval(result: Reach, quantity: str, head: Head) -> str:
    return measured(result[quantity][head], result.interval(quantity)[head])


STATEMENTS = (
    Statement(
        name="near",
        section="",
        statement="",
        rule=f"More than {MOST:.0%} of the heads have a mean distance between ordinary tokens of less than "
        f"{NEARER:.0%} of uniform attention's, with intervals corrected for their number.",
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
