"""Ablation: how much the loss changes without a head (beyond the paper; docs/methods.md, section 12)."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.ablation.figure import more_figures, paper_figure
from bertviz_core.analyses.ablation.result import COLUMNS, Ablation
from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.findings import Answer, Interval, Statement, decide, head_intervals, present
from bertviz_core.analyses.request import Options
from bertviz_core.heads import highest
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.numbers import half_width, number

NO_OP = 0.01  # of the whole model's loss


def matter(result: Ablation, base: int) -> Answer:
    head, change = result.largest("loss_change"), result["loss_change"]
    return Answer(
        decide(head_intervals(result, "loss_change").at(highest(change))),
        f"Without head {head.label(base)} the {result.loss_name} changes most, by {number(change[head], '+')} ± "
        f"{half_width(result.interval('loss_change')[head])} nats; {int(result.matters.sum())} of {change.size} "
        "heads matter.",
        head,
        "loss_change",
    )


def no_op(result: Ablation, base: int) -> Answer:
    change, interval = present(result, "to_sink_loss_change"), head_intervals(result, "to_sink_loss_change")
    head = result.largest("to_sink_loss_change")
    lowest = np.maximum(0, np.maximum(interval.low, -interval.high))  # the smallest size of each change
    largest = np.maximum(-interval.low, interval.high)
    size = Interval(lowest.max(), largest.max(), interval.enough)
    name, half = result.sink_name, half_width(result.interval("to_sink_loss_change")[head])
    together = f"no group of heads attends mostly to {name}."
    for group in result.groups:
        if group["name"] == f"to_{result.sink}":
            together = (
                f"the {len(group['heads'])} heads that attend mostly to {name} change it by "
                f"{number(group['loss_change'], '+')} ± {half_width(group['interval'])} when all are switched off."
            )
    return Answer(
        decide(size.negative(), -NO_OP * result.loss),
        f"Without the attention of head {head.label(base)} to {name} the {result.loss_name} of {result.loss:.2f} nats "
        f"changes most, by {number(change[head], '+')} ± {half}; {together}",
        head,
        "to_sink_loss_change",
    )


STATEMENTS = (
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
        "Without its attention to the sink (the special token that receives the most attention) no head changes the "
        f"loss by {NO_OP:.0%} or more of the whole model's, with intervals corrected for the number of heads.",
        no_op,
    ),
)


@dataclass(frozen=True)
class Replacement(Options):
    """What replaces the output of an ablated head."""

    mean: Annotated[bool, Doc("Replace a head's output by its mean over the corpus, not by zeros.")] = False


class AblationAnalysis(Analysis):
    """Document averages of the change of the loss without each head."""

    name = "ablation"
    title = "Ablation"
    summary = "Change of the loss without each head, without groups of heads, and without attention to the sink."
    section = "Does a head matter?"
    icon = ":material/power_settings_new:"
    result_class = Ablation
    options = Replacement
    columns = COLUMNS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    control = "change"
    limit = 64
    language_model = True
    has_own_pass = True
    chunked = False
    reads_maps = False

    def cost(self, checkpoint: Checkpoint) -> float:
        """Passes over the corpus: every head twice, from its own layer on; groups with their controls; the curve."""
        layers, heads = checkpoint.layers, checkpoint.heads
        return heads * (layers + 1) + 40 + layers / 2
