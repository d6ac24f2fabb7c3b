"""What the paper states about entropy, and how a result decides it (docs/methods.md, sections 4 and 6)."""

from bertviz_core import paper
from bertviz_core.analyses.base.averages import name_heads_over
from bertviz_core.analyses.base.findings import Answer, Interval, Statement, decide, head_intervals, layer_intervals
from bertviz_core.analyses.entropy.result import Entropy
from bertviz_core.heads import highest
from bertviz_core.numbers import half_width

BROAD = 0.1  # A broad head's largest weight, the mean over rows, is below this.


def broad_early_head(result: Entropy, base: int) -> Answer:
    """Whether a head of the first third of the layers, at least one layer, attends broadly.

    Of these heads that with the smallest mean largest weight m decides: its interval, corrected for their number, is
    compared with BROAD; shown where all of it is below, m < 0.1 (docs/methods.md, section 4; section 6, Decisions).
    """
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
    """Whether attention from [CLS] is broader in the last layer than on average.

    The last layer's mean entropy minus the mean over layers, with the intervals of both, is compared with 0
    (docs/methods.md, section 4; section 6, Decisions).
    """
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


def narrow_heads(result: Entropy, share: float, base: int = 1) -> str:
    """The heads with at most a share of the entropy of uniform attention, in a sentence."""
    description = f"At most {share:.0%} of the entropy of uniform attention ({result.uniform:.2f} nats)"
    return name_heads_over(-result["entropy"], -share * result.uniform, base, description)


STATEMENTS = (
    Statement(
        "broad",
        "3.3",
        "Some heads of the lower layers attend very broadly: at most 10% of their attention goes to any one token.",
        f"In the first third of the layers one head's mean largest weight is below {BROAD:.0%}, with an interval "
        "corrected for the number of these heads.",
        broad_early_head,
        "broad",
    ),
    Statement(
        "from_cls",
        "3.3",
        f"From [CLS] the last layer attends very broadly: {paper.FROM_CLS_LAST_LAYER} nats.",
        "The last layer's mean entropy from [CLS] is above the mean of all layers, with the intervals of both.",
        broad_from_cls,
    ),
)
