"""The result of sink gradients: its quantities and columns, and the sink."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from bertviz_core.analyses.base.averages import averaged_column
from bertviz_core.analyses.base.loss_averages import LossAverages
from bertviz_core.analyses.base.statistics import share
from bertviz_core.analyses.surface_patterns.result import SINKS, sinks
from bertviz_core.plotting import TOKENS

CLASSES = ("sep", "punct", "cls", "other", "first")  # Each token of a segment is in exactly one of them.
GRADIENT = "to_{}"
SENSITIVITY = "to_{}_times_attention"
ATTENTION = "attention_to_{}"
TO_OTHER = GRADIENT.format("other")
QUANTITIES = tuple(form.format(name) for form in (GRADIENT, SENSITIVITY, ATTENTION) for name in CLASSES)
LABELS = {GRADIENT: "gradient to {}", SENSITIVITY: "attention × gradient to {}", ATTENTION: "attention to {}"}
OVERVIEW = ("to_sep", "to_first", "to_other", "to_sep_times_attention", "to_first_times_attention")
COLUMNS = tuple(
    averaged_column(
        quantity := form.format(token),
        title.format(name) + (", nats" if form == GRADIENT else ""),
        name=title.format(name),
        marker=marker,
        overview=quantity in OVERVIEW,
        maximum=1.0 if form == ATTENTION else None,
    )
    for form, title in LABELS.items()
    for token, (name, marker) in TOKENS.items()
)


@dataclass(frozen=True)
class SepGradients(LossAverages):
    """Averages of gradients by class of target tokens, over the segments that have the class.

    The class is that of the original token, before masking: one of CLASSES, where `first` is the first token if it is
    no special token of another class.

    Quantities, each (layer, head):
        to_CLASS: The mean absolute gradient of the loss, nats for a unit of attention.
        to_CLASS_times_attention: The same times the attention, nats; over the classes these partition the total.
        attention_to_CLASS: The share of attention, 0 to 1.
    """

    analysis: ClassVar[str] = "sep_gradients"

    def arrays(self) -> dict[str, Any]:
        return super().arrays() | {"loss": self.loss} | self.counts()


class Sink(NamedTuple):
    """The special token, or first token, that receives the largest share of a layer's attention.

    Attributes:
        token: Its class, one of CLASSES.
        layer: The layer, from 0.
        attention: The share of this layer's attention, 0 to 1.
        ratio: The mean gradient there over that to other tokens; NaN where no attention has a gradient.
    """

    token: str
    layer: int
    attention: float
    ratio: float


def sink(result: SepGradients) -> Sink | None:
    """The sink of a result; None where no input has a special token, or none has another one to compare it with."""
    attention = {name: ATTENTION.format(name.removeprefix("to_")) for name in SINKS}
    shares = {name: result[quantity] for name, quantity in attention.items() if quantity in result}
    ranked = sinks(shares)
    if not ranked or TO_OTHER not in result:
        return None
    token = ranked[0].removeprefix("to_")
    means = shares[ranked[0]].mean(1)
    layer = int(means.argmax())
    ratio = share(result[GRADIENT.format(token)][layer].mean(), result[TO_OTHER][layer].mean())
    return Sink(token, layer, float(means[layer]), float(ratio))
