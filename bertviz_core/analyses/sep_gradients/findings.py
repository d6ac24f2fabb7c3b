"""Findings of section 3.2 on gradients: whether attention to the sink is a no-op (Figure 3)."""

from typing import NamedTuple

import numpy as np

from bertviz_core import paper
from bertviz_core.analyses.findings import Answer, Interval, Statement, decide, layer_intervals, present
from bertviz_core.analyses.proportions import share
from bertviz_core.analyses.sep_gradients.result import SepGradients
from bertviz_core.heads import highest
from bertviz_core.plotting.palette import TOKENS

SINKS = ("sep", "cls", "first")  # classes of special tokens, and the first token where it is none of them
NO_OP = 0.5  # of the gradient to other tokens


class Sink(NamedTuple):
    """The special token, or first token, that receives the most attention of a layer: its class, that layer (from 0),
    the share of the layer's attention, and the mean gradient there over that to other tokens (NaN where no attention
    has one)."""

    token: str
    layer: int
    attention: float
    ratio: float


def sinks(result: SepGradients) -> list[str]:
    """The classes among which the sink is."""
    return [name for name in SINKS if f"to_{name}" in result.present]


def sink(result: SepGradients) -> Sink:
    """Find the sink of a result; raises KeyError where no input has a special token."""
    means = {name: result[f"attention_to_{name}"].mean(1) for name in sinks(result)}
    if not means:
        raise KeyError("special tokens")
    token = max(means, key=lambda name: float(means[name].max()))
    layer = int(means[token].argmax())
    gradient, other = (present(result, name)[layer].mean() for name in (f"to_{token}", "to_other"))
    return Sink(token, layer, float(means[token][layer]), float(share(gradient, other)))


def no_op(result: SepGradients, base: int) -> Answer:
    token, layer, attention, ratio = sink(result)
    name = TOKENS[token][0]
    there, other = (layer_intervals(result, quantity).at(layer) for quantity in (f"to_{token}", "to_other"))
    ends = Interval(other.low * NO_OP, other.high * NO_OP, other.enough).minus(there)
    matters = f"the gradient there is {ratio:.2f} times that to other tokens"
    return Answer(
        decide(ends) if other.high > 0 else decide(Interval(np.nan, np.nan)),
        f"Layer {layer + base} puts {attention:.0%} of its attention on {name} ({result.input_name}), the most that a "
        f"layer puts on a special token; {'no attention has a gradient' if np.isnan(ratio) else matters}.",
        highest(result[f"attention_to_{token}"]),
        f"to_{token}",
    )


STATEMENTS = (
    Statement(
        "no_op",
        "3.2",
        f"From layer {paper.NO_OP_FROM_LAYER} on, where attention to [SEP] is high, its gradient is very small: it is "
        "a no-op.",
        "In the layer that attends most to a special token, the mean gradient to that token is below "
        f"{NO_OP} times that to other tokens, with the intervals of both.",
        no_op,
    ),
)
