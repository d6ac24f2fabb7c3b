"""Entropy: how broadly each head attends (section 3.3; Figure 4)."""

from dataclasses import dataclass
from typing import ClassVar

import plotly.graph_objects as go

from bertviz_core import paper, plotting
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadAverages, averaged_column
from bertviz_core.analyses.base.findings import Answer, Interval, Statement, decide, head_intervals, layer_intervals
from bertviz_core.heads import highest
from bertviz_core.numbers import half_width

QUANTITIES = ("entropy", "from_cls", "max_weight", "uniform")
COLUMNS = (
    averaged_column("entropy", "entropy, nats", name="all tokens", marker=plotting.BROAD),
    averaged_column("from_cls", "entropy from [CLS], nats", name="[CLS] alone", marker=plotting.CLS),
    averaged_column("max_weight", "largest weight of a row"),
)
LABELS = {"uniform": "entropy of uniform attention, nats"}
PANELS = {"entropy": "Average over all tokens", "from_cls": "From [CLS] alone"}  # titles
BROAD = 0.1  # the largest weight of a broad head's rows


@dataclass(frozen=True)
class Entropy(HeadAverages):
    """`entropy` and `from_cls` (the CLS row alone) in nats; `max_weight`, the mean of each row's largest weight;
    `uniform`, the entropy of uniform attention: the average of log N (of log(i + 1) for a causal model)."""

    analysis: ClassVar[str] = "entropy"

    @property
    def uniform(self) -> float:
        return float(self["uniform"].flat[0])

    def arrays(self) -> dict[str, object]:
        return super().arrays() | {"uniform": self.uniform}


def paper_figure(result: Entropy, base: int = 1) -> go.Figure:
    """Entropy by layer in nats, a dot for each head, lines for layer means, the uniform reference dashed."""
    shown = [column for column in COLUMNS if column.quantity in PANELS and column.quantity in result]
    panels = [[column.series(result)] for column in shown]
    titles = [PANELS[column.quantity] for column in shown]
    figure = plotting.layer_figure(panels, titles, base=base, height=330 * len(panels), gap=0.12)
    figure.update_annotations(yshift=0).update_layout(showlegend=False)
    line = {"dash": "dash", "color": plotting.NEUTRAL[0], "width": 1}
    note = {"text": f"uniform attention: {result.uniform:.2f}", "font_size": 12}
    figure.add_hline(result.uniform, line=line, annotation=note, annotation_position="top right")
    return figure.update_yaxes(title="entropy, nats", range=[-0.1, result.uniform * 1.15])


def broad_early_head(result: Entropy, base: int) -> Answer:
    largest = result["max_weight"]
    early = largest[: max(1, round(len(largest) / 3))]
    head = highest(-early)
    half = 100 * result.interval("max_weight")[head]
    last = len(early) - 1 + base
    layers = f"layers {base} to {last}" if last > base else f"layer {base}"
    return Answer(
        decide(head_intervals(result, "max_weight", early.size).negative(), -BROAD)[head],
        f"Of {layers} head {head.label(base)} is the broadest: its largest weight is "
        f"{largest[head]:.1%} ± {half_width(half, '.2f')} percentage points on average, its entropy "
        f"{result['entropy'][head]:.2f} nats, where uniform attention would have {result.uniform:.2f}.",
        head,
        "max_weight",
    )


def broad_from_cls(result: Entropy, base: int) -> Answer:
    means = result["from_cls"].mean(1)
    low, high, enough = layer_intervals(result, "from_cls")
    last = Interval(low[-1], high[-1], enough)
    everywhere = Interval(low.mean(), high.mean(), enough)
    return Answer(
        decide(last.minus(everywhere)),
        f"Attention from [CLS] has an entropy of {means[-1]:.2f} nats in the last layer, {means.mean():.2f} "
        "on average over all layers.",
        None,
        "from_cls",
    )


class EntropyAnalysis(Analysis):
    name = "entropy"
    title = "Entropy"
    summary = "Entropy of every head's attention, in nats (section 3.3; Figure 4)."
    section = "Section 3.3, Figure 4"
    icon = ":material/blur_on:"
    result_class = Entropy
    columns = COLUMNS
    labels = LABELS
    statements = (
        Statement(
            "broad",
            "3.3",
            "Some heads of the lower layers attend very broadly: at most 10% of their attention goes to any one token.",
            f"In the first third of the layers one head's mean largest weight is below {BROAD:.0%}, with an interval "
            "corrected for the number of these heads.",
            broad_early_head,
        ),
        Statement(
            "from_cls",
            "3.3",
            f"From [CLS] the last layer attends very broadly: {paper.FROM_CLS_LAST_LAYER} nats.",
            "The last layer's mean entropy from [CLS] is above the mean of all layers, with the intervals of both.",
            broad_from_cls,
        ),
    )
    main_figure = staticmethod(paper_figure)
    control = "of"
    shared = True
    prefix = ""
