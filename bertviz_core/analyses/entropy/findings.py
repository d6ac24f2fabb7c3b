"""Findings of section 3.3: heads that attend broadly (Figure 4)."""

from bertviz_core import paper
from bertviz_core.analyses.entropy.result import Entropy
from bertviz_core.analyses.findings import Answer, Interval, Statement, decide, head_intervals, layer_intervals, present
from bertviz_core.heads import highest
from bertviz_core.numbers import half_width

BROAD = 0.1  # the largest weight of a broad head's rows
EARLY = 1 / 3  # of the layers


def broad_early_head(result: Entropy, base: int) -> Answer:
    """The broadest head of the first layers."""
    largest = present(result, "max_weight")
    early = largest[: max(1, round(EARLY * len(largest)))]
    head, half = highest(-early), result.interval("max_weight")
    last = len(early) - 1 + base
    layers = f"layers {base} to {last}" if last > base else f"layer {base}"
    return Answer(
        decide(head_intervals(result, "max_weight", early.size).negative().at(head), -BROAD),
        f"Of {layers} head {head.label(base)} is the broadest: its largest weight is "
        f"{largest[head]:.1%} ± {half_width(100 * half[head], '.2f')} percentage points on average, its entropy "
        f"{result['entropy'][head]:.2f} nats, where uniform attention would have {result.uniform:.2f}.",
        head,
        "max_weight",
    )


def broad_from_cls(result: Entropy, base: int) -> Answer:
    """Entropy from [CLS] in the last layer beside all layers."""
    means = present(result, "from_cls").mean(1)
    low, high, enough = layer_intervals(result, "from_cls")
    last, everywhere = Interval(low[-1], high[-1], enough), Interval(low.mean(), high.mean(), enough)
    return Answer(
        decide(last.minus(everywhere)),
        f"Attention from [CLS] has an entropy of {means[-1]:.2f} nats in the last layer, "
        f"{means.mean():.2f} on average over all layers.",
        None,
        "from_cls",
    )


STATEMENTS = (
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
