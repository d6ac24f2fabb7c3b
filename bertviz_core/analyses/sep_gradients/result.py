"""The result of the sink gradients."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bertviz_core import paper
from bertviz_core.analyses.findings import Answer, Interval, Statement, decide, layer_intervals, present
from bertviz_core.analyses.head_averages import HeadAverages, averaged_column
from bertviz_core.analyses.proportions import share
from bertviz_core.heads import highest
from bertviz_core.plotting.palette import TOKENS

CLASSES = ("sep", "punct", "cls", "other", "first")  # they partition the tokens of a segment
QUANTITIES = (
    *(f"to_{name}" for name in CLASSES),
    *(f"to_{name}_times_attention" for name in CLASSES),
    *(f"attention_to_{name}" for name in CLASSES),
)


FORMS = (
    ("to_{}", "gradient to {}", ", nats"),
    ("to_{}_times_attention", "attention × gradient to {}", ""),
    ("attention_to_{}", "attention to {}", ""),
)
OVERVIEW = ("to_sep", "to_first", "to_other", "to_sep_times_attention", "to_first_times_attention")
COLUMNS = tuple(
    averaged_column(
        quantity := form.format(token),
        f"{title.format(name)}{unit}",
        name=title.format(name),
        marker=marker,
        overview=quantity in OVERVIEW,
        maximum=1.0 if quantity.startswith("attention") else None,
    )
    for form, title, unit in FORMS
    for token, (name, marker) in TOKENS.items()
)


@dataclass(frozen=True)
class LossAverages(HeadAverages):
    """Averages that rest on the loss of a model that predicts words: the mean over segments, in nats, of the whole
    model; of `predicted` tokens it predicts `right` ones right."""

    loss: float
    right: int
    predicted: int

    @property
    def accuracy(self) -> float:
        """The share of the tokens to predict that the model predicts right."""
        return self.right / self.predicted

    def counts(self) -> dict[str, Any]:
        """Numbers of right predictions and of tokens to predict, as `arrays` lists them."""
        return {"accuracy": self.accuracy, "right_tokens": self.right, "predicted_tokens": self.predicted}

    @property
    def input_name(self) -> str:
        """What the model reads: attention differs from that to the same text without masks."""
        return "text" if self.provenance["model"]["causal"] else "masked text"

    @property
    def loss_name(self) -> str:
        """ "masked-word loss", or that of a decoder."""
        return "next-word loss" if self.provenance["model"]["causal"] else "masked-word loss"


@dataclass(frozen=True)
class SepGradients(LossAverages):
    """Gradients for each class of target tokens j (by the original token, before masking), over the segments that have
    the class; `first` is the first token where it is no special token of another class.

    `to_CLASS`: the mean of G = |dL/dA| over the pairs (i, j) that a mask allows, in nats for a unit of attention.
    `to_CLASS_times_attention`: the sum over j of A G, mean over i, in nats: the classes' values partition the total.
    `attention_to_CLASS`: the sum over j of A, mean over i, 0 to 1.
    """

    analysis: ClassVar[str] = "sep_gradients"

    def shares(self, form: str) -> dict[str, np.ndarray]:
        """Class -> (layer,) share, from 0 to 1, of a layer's attention ("attention_to_{}") or attention × gradient
        ("to_{}_times_attention"), summed over its heads; classes that no segment has are missing."""
        sums = {name: self[form.format(name)].sum(1) for name in CLASSES if form.format(name) in self.present}
        total = np.sum(list(sums.values()), axis=0)
        return {name: share(values, total) for name, values in sums.items()}

    def arrays(self) -> dict[str, Any]:
        return super().arrays() | {"loss": self.loss} | self.counts()


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
