"""Sink gradients: does attention to the sink ([SEP] in BERT) matter to the loss? (section 3.2; Figure 3)."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import plotly.graph_objects as go

from bertviz_core import paper
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn, averaged_column
from bertviz_core.analyses.base.findings import UNDECIDED, Answer, Interval, Statement, decide, layer_intervals
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.base.statistics import share
from bertviz_core.analyses.surface_patterns import SINKS, sinks
from bertviz_core.heads import highest
from bertviz_core.plotting import TOKENS, Series, layer_figure

CLASSES = ("sep", "punct", "cls", "other", "first")  # they partition the tokens of a segment
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
NO_OP = 0.5  # of the gradient to other tokens


@dataclass(frozen=True)
class LossAverages(HeadAverages):
    """Averages that rest on the loss of a model that predicts words: its mean over segments, in nats; the whole model
    gets `right` of `predicted` tokens right."""

    loss: float
    right: int
    predicted: int

    @property
    def accuracy(self) -> float:
        return self.right / self.predicted

    def counts(self) -> dict[str, Any]:
        return {"accuracy": self.accuracy, "right_tokens": self.right, "predicted_tokens": self.predicted}

    @property
    def input_name(self) -> str:
        """What the model reads: attention differs from that to the same text without masks."""
        return "text" if self.provenance["model"]["causal"] else "masked text"

    @property
    def loss_name(self) -> str:
        return "next-word loss" if self.provenance["model"]["causal"] else "masked-word loss"


@dataclass(frozen=True)
class SepGradients(LossAverages):
    """Gradients by class of target tokens (by the original token, before masking), over the segments that have the
    class: `to_CLASS` in nats for a unit of attention; `to_CLASS_times_attention` in nats, which partition the total;
    `attention_to_CLASS`, 0 to 1. `first` is the first token where it is no special token of another class."""

    analysis: ClassVar[str] = "sep_gradients"

    def arrays(self) -> dict[str, Any]:
        return super().arrays() | {"loss": self.loss} | self.counts()


class Sink(NamedTuple):
    """The special token, or first token, that receives the largest share of a layer's attention."""

    token: str  # its class
    layer: int  # from 0
    attention: float
    ratio: float  # the mean gradient there over that to other tokens; NaN where no attention has one


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


def no_op(result: SepGradients, base: int) -> Answer:
    peak = sink(result)
    if peak is None:
        raise KeyError("special tokens")
    token, layer, attention, ratio = peak
    there = layer_intervals(result, GRADIENT.format(token))
    other = layer_intervals(result, TO_OTHER)
    gain = Interval(other.low * NO_OP, other.high * NO_OP, other.enough).minus(there)
    matters = "no attention has a gradient"
    if not np.isnan(ratio):
        matters = f"the gradient there is {ratio:.2f} times that to other tokens"
    return Answer(
        decide(gain)[layer] if other.high[layer] > 0 else UNDECIDED,
        f"Layer {layer + base} puts {attention:.0%} of its attention on {TOKENS[token][0]} ({result.input_name}), the "
        f"most that a layer puts on a special token; {matters}.",
        highest(result[ATTENTION.format(token)]),
        GRADIENT.format(token),
    )


def paper_figure(result: SepGradients, base: int = 1) -> go.Figure:
    """Mean |dL/dA| by layer and class, dots for heads, lines for layer means; log, since values span powers of ten."""
    series = [_series(result, GRADIENT, name) for name in CLASSES if GRADIENT.format(name) in result]
    return _log_axis(layer_figure([series], base=base, height=420), 1, series)


def no_op_figure(result: SepGradients, base: int = 1) -> go.Figure:
    """Attention to the sink above its gradient, layer by layer: a no-op is high above and low below. The gradient to
    other tokens is beside it, since all gradients may fall or rise from layer to layer."""
    peak = sink(result)
    assert peak is not None, "drawn only where there is a sink"
    token = peak.token
    titles = [f"How much attention goes to {TOKENS[token][0]}", "How much that attention matters to the loss"]
    gradients = [_series(result, GRADIENT, name) for name in (token, "other")]
    figure = layer_figure([[_series(result, ATTENTION, token)], gradients], titles, base=base, height=560)
    figure.update_yaxes(title="share of attention", range=[-0.02, 1.02], row=1, col=1)
    return _log_axis(figure, 2, gradients)


def _series(result: SepGradients, form: str, token: str) -> Series:
    column = next(column for column in COLUMNS if column.quantity == form.format(token))
    return replace(column.series(result), name=TOKENS[token][0])


def _log_axis(figure: go.Figure, row: int, series: list[Series]) -> go.Figure:
    """Labels at powers of ten; at 2 and 5 as well where there are few powers."""
    shown = np.concatenate([each.values[each.values > 0] for each in series])
    figure.update_yaxes(title="mean |∂L/∂A|, nats", type="log", exponentformat="power", dtick=1, row=row, col=1)
    if shown.size and shown.max() / shown.min() < 100:
        lowest = np.floor(np.log10(shown.min()))
        highest = np.ceil(np.log10(shown.max()))
        ticks = [float(f"{digit}e{power:.0f}") for power in np.arange(lowest, highest + 1) for digit in (1, 2, 5)]
        figure.update_yaxes(tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks], row=row, col=1)
    return figure


def more_figures(result: SepGradients) -> dict[str, go.Figure]:
    peak = sink(result)
    return {f"Is attention to {TOKENS[peak.token][0]} a no-op?": no_op_figure(result)} if peak else {}


class SepGradientsAnalysis(Analysis):
    name = "sep_gradients"
    title = "Sink gradients"
    summary = "Gradients of the loss in attention to [SEP], other special tokens, and words (section 3.2; Figure 3)."
    section = "Section 3.2, Figure 3"
    icon = ":material/trending_down:"
    result_class = SepGradients
    columns = COLUMNS
    statements = (
        Statement(
            "no_op",
            "3.2",
            f"From layer {paper.NO_OP_FROM_LAYER} on, where attention to [SEP] is high, its gradient is very small: it "
            "is a no-op.",
            "In the layer that attends most to a special token, the mean gradient to that token is below "
            f"{NO_OP} times that to other tokens, with the intervals of both.",
            no_op,
        ),
    )
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    control = "gradient"
    prefix = "gradient_"
    forward_passes = 2.2
    language_model = True
    has_own_pass = True
    reads_maps = False

    def default_column(self, result: Result) -> HeadColumn | None:
        assert isinstance(result, SepGradients)
        peak = sink(result)
        return self.column(GRADIENT.format(peak.token)) if peak else super().default_column(result)
