"""Ablation: how much the loss changes without a head (beyond the paper; docs/methods.md, section 12)."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import plotly.graph_objects as go
from typing_extensions import Doc

from bertviz_core.analyses.ablation.result import COLUMNS, Ablation
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.findings import SHOWN, UNDECIDED, Answer, Interval, Statement, decide, head_intervals
from bertviz_core.analyses.base.request import Options
from bertviz_core.heads import all_heads, highest
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.numbers import half_width, number
from bertviz_core.plotting import BEHAVIORS, BEST, NEUTRAL, TOKENS, Series, finish, layer_figure

NO_OP = 0.01  # of the whole model's loss
TOLERANCE = 0.05  # of the same


def matter(result: Ablation, base: int) -> Answer:
    head = result.largest("loss_change")
    change = result["loss_change"]
    states = decide(head_intervals(result, "loss_change"))
    return Answer(
        states[highest(change)],
        f"Without head {head.label(base)} the {result.loss_name} changes most, by {number(change[head], '+')} ± "
        f"{half_width(result.interval('loss_change')[head])} nats; {int((states == SHOWN).sum())} of {change.size} "
        "heads matter.",
        head,
        "loss_change",
    )


def no_op(result: Ablation, base: int) -> Answer:
    change = result["to_sink_loss_change"]
    low, high, enough = head_intervals(result, "to_sink_loss_change")
    smallest = np.max([low, -high]).clip(0)
    largest = np.maximum(-low, high).max()
    head = result.largest("to_sink_loss_change")
    half = half_width(result.interval("to_sink_loss_change")[head])
    name = TOKENS[result.sink][0]
    together = f"no group of heads attends mostly to {name}."
    for group in result.groups:
        if group["name"] == f"to_{result.sink}":
            together = (
                f"the {len(group['heads'])} heads that attend mostly to {name} change it by "
                f"{number(group['loss_change'], '+')} ± {half_width(group['interval'])} when all are ablated."
            )
    return Answer(
        decide(Interval(-largest, -smallest, enough), -NO_OP * result.loss),
        f"Without the attention of head {head.label(base)} to {name} the {result.loss_name} of {result.loss:.2f} nats "
        f"changes most, by {number(change[head], '+')} ± {half}; {together}",
        head,
        "to_sink_loss_change",
    )


def together(result: Ablation, base: int) -> Answer:
    within = result.removed[result.removed_loss <= (1 + TOLERANCE) * result.loss]
    count = f"{int(within.max())} of {int(result.removed.max())} heads"
    sentence = f"{count} can be ablated together while the loss stays within {TOLERANCE:.0%} of the whole model's."
    return Answer(UNDECIDED, sentence)


def paper_figure(result: Ablation, base: int = 1) -> go.Figure:
    """The change of the loss by layer, a dot for each head: without the head, and without its attention to the sink."""
    series = [Series("loss_change", result["loss_change"], "without the head", (BEST, "circle"), "loss change, nats")]
    if result.sink:
        name, marker = TOKENS[result.sink]
        values = result["to_sink_loss_change"]
        label = f"loss change without attention to {name}, nats"
        series.append(Series("to_sink_loss_change", values, f"without attention to {name}", marker, label))
    return layer_figure([series], base=base, height=400).update_yaxes(title="change of the loss, nats")


def estimate_figure(result: Ablation, base: int = 1) -> go.Figure:
    """The gradient estimate against the measured change with its 95% interval, a dot for each head."""
    change = result["loss_change"]
    interval = result.interval("loss_change")
    estimate = result["gradient_estimate"]
    texts = []
    for head in all_heads(*change.shape):
        measured = f"{number(change[head])} ± {half_width(interval[head])} nats"
        texts.append([head.label(), f"{head.label(base)}: {measured}; estimate {number(estimate[head])}"])
    figure = go.Figure().add_scatter(
        x=estimate.reshape(-1),
        y=change.reshape(-1),
        error_y={"array": interval.reshape(-1), "thickness": 1, "width": 0, "color": "rgba(140, 140, 140, 0.6)"},
        mode="markers",
        marker={"size": 9, "color": BEST, "opacity": 0.7, "symbol": "circle"},
        customdata=texts,
        hovertemplate="%{customdata[1]}<extra></extra>",
    )
    figure.update_xaxes(title="gradient estimate, nats", zeroline=False, exponentformat="e")
    figure.update_yaxes(title="measured change of the loss, nats")
    return finish(figure, 400, showlegend=False)


def curve_figure(result: Ablation) -> go.Figure:
    """The loss while heads are ablated, the least important first."""
    figure = go.Figure().add_scatter(
        x=result.removed / result.removed.max(),
        y=result.removed_loss,
        mode="lines+markers",
        line={"color": BEST, "width": 2},
        customdata=result.removed,
        hovertemplate=f"%{{customdata}} of {result.removed.max()} heads off: loss %{{y:.3f}} nats<extra></extra>",
    )
    figure.add_hline(y=result.loss, line={"dash": "dot", "color": NEUTRAL[0], "width": 1})
    figure.update_xaxes(title="share of the heads ablated, the least important first", tickformat=".0%")
    figure.update_yaxes(title="loss, nats")
    return finish(figure, 360, showlegend=False)


def groups_figure(result: Ablation) -> go.Figure:
    """The change of the loss without each group, with its interval; and without random heads of the same layers."""
    names = [group["name"] for group in result.groups]
    names = [BEHAVIORS[name][-1] if name in BEHAVIORS else name for name in names]
    figure = go.Figure().add_scatter(
        x=[group["loss_change"] for group in result.groups],
        y=names,
        error_x={"array": [group["interval"] or 0.0 for group in result.groups], "thickness": 1.5, "width": 3},
        mode="markers",
        name="the group",
        marker={"size": 10, "color": BEST, "symbol": "circle"},
        customdata=[len(group["heads"]) for group in result.groups],
        hovertemplate="%{y}, %{customdata} heads: %{x:.3f} nats<extra></extra>",
    )
    figure.add_scatter(
        x=[draw for group in result.groups for draw in group["random_draws"]],
        y=[name for name, group in zip(names, result.groups, strict=True) for _ in group["random_draws"]],
        mode="markers",
        name="as many random heads of the same layers",
        marker={"size": 8, "color": NEUTRAL[0], "symbol": "x-thin-open"},
        hovertemplate="%{y}, random heads of the same layers: %{x:.3f} nats<extra></extra>",
    )
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title="change of the loss, nats", zeroline=True, zerolinecolor=NEUTRAL[0], zerolinewidth=1)
    return finish(figure, 120 + 24 * len(names), margin={"l": 130})


@dataclass(frozen=True)
class AblationOptions(Options):
    mean: Annotated[bool, Doc("Replace a head's output by its mean over the corpus, not by zeros.")] = False


class AblationAnalysis(Analysis):
    name = "ablation"
    title = "Ablation"
    summary = "Change of the loss without each head, without groups of heads, and without attention to the sink."
    section = "Does a head matter?"
    icon = ":material/power_settings_new:"
    result_class = Ablation
    options = AblationOptions
    columns = COLUMNS
    statements = (
        Statement(
            "matter",
            "",
            "",
            "A head matters where the loss without it rises, with an interval corrected for the number of heads.",
            matter,
        ),
        Statement(
            "no_op",
            "",
            "",
            "Without its attention to the sink (the special token that receives the most attention) no head changes "
            f"the loss by {NO_OP:.0%} or more of the whole model's, with intervals corrected for the number of heads.",
            no_op,
        ),
        Statement("together", "", "", "The curve has no interval, so nothing is decided.", together),
    )
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(
        lambda result: {
            "The gradient estimate and the measured change": estimate_figure(result),
            "Groups of heads": groups_figure(result),
            "The loss while heads are ablated": curve_figure(result),
        }
    )
    control = "change"
    limit = 64
    language_model = True
    has_own_pass = True
    chunked = False
    reads_maps = False

    def cost(self, checkpoint: Checkpoint) -> float:
        """Passes over the corpus: each head twice, from its layer on; groups with their controls; the curve."""
        return checkpoint.heads * (checkpoint.layers + 1) + 40 + checkpoint.layers / 2
