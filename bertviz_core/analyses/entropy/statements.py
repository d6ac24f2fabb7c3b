"""What the paper states about entropy, and how a result decides it (docs/methods.md, sections 4 and 6)."""

from bertviz_core import paper
from bertviz_core.analyses.base.averages import name_heads_over, uniform_text
from bertviz_core.analyses.base.findings import (
    SHOWN,
    Answer,
    Interval,
    Statement,
    all_of,
    decide,
    decide_worth,
    head_intervals,
    layer_intervals,
    tiny,
)
from bertviz_core.analyses.entropy.result import Entropy
from bertviz_core.heads import first_number, highest
from bertviz_core.numbers import measured

BROAD = 0.1  # A broad head's largest weight, the mean over rows, is below this.
BROADER = 0.5  # nats: the smallest difference of entropies that is worth the name


def broad_early_head(result: Entropy) -> Answer:
    """Whether a head of the first third of the layers, at least one layer, attends broadly, and the average head does
    not: in a randomly initialized network all do.

    The broadest of these heads is the one with the highest entropy. The interval of its mean largest weight, corrected
    for their number, is to be below BROAD, and that of the mean over all heads above it (docs/methods.md, section 4;
    section 6, Decisions).
    """
    largest = result["max_weight"]
    early = result["entropy"][: max(1, round(len(largest) / 3))]
    head = highest(early)
    weight = measured(largest[head], result.interval("max_weight")[head], percent=True)
    low, high, enough = head_intervals(result, "max_weight", 1)
    everywhere = decide(Interval(low.mean(), high.mean(), enough), BROAD)
    highest_of_all = highest(result["entropy"])
    deeper = "" if highest_of_all == head else f" Of all layers {highest_of_all.label()} has the highest."
    others = "" if everywhere == SHOWN else " But the average head is as broad, as in an untrained network."
    first = first_number()
    last = len(early) - 1 + first
    layers = f"layers {first} to {last}" if last > first else f"layer {first}"
    is_broad = decide(head_intervals(result, "max_weight", early.size).negative(), -BROAD)[head]
    entropy, uniform = result["entropy"][head], result["uniform"][head]
    claim = (
        f"Head {head.label()} has the highest entropy of {layers}: {entropy:.2f} nats, uniform attention "
        f"{uniform:.2f}; largest weight per token {largest[head]:.1%}, of all heads {largest.mean():.1%}"
    )
    return Answer(
        state=all_of(is_broad, everywhere),
        sentence=f"Of {layers} head {head.label()} has the highest entropy: {entropy:.2f} nats, where uniform "
        f"attention would have {uniform:.2f}; its largest weight per token is {weight} on "
        f"average, that of all heads {largest.mean():.1%}.{deeper}{others}",
        head=head,
        quantity="entropy",
        number=f"{entropy:.2f} of {uniform:.2f} nats",
        claim="" if others else claim,
    )


def broad_from_cls(result: Entropy) -> Answer:
    """Whether attention from [CLS] is broader in the last layer than on average, and than from all tokens there: in a
    network that does not tell [CLS] from other tokens it is as broad as theirs.

    The last layer's mean entropy from [CLS], minus the mean over layers and minus the last layer's from all tokens, is
    each time to be BROADER or more, and above 0 with the intervals of both (docs/methods.md, section 4; section 6,
    Decisions).
    """
    means = result["from_cls"].mean(1)
    of_all = result["entropy"].mean(1)[-1]
    low, high, enough = layer_intervals(result, "from_cls")
    last = Interval(low[-1], high[-1], enough)
    everywhere = Interval(low.mean(), high.mean(), enough)
    from_all = layer_intervals(result, "entropy").at(-1)
    gains = [(last.minus(everywhere), means[-1] - means.mean()), (last.minus(from_all), means[-1] - of_all)]
    states = [str(decide_worth(*gain, BROADER)) for gain in gains]
    remark = next(filter(None, (tiny(*gain, BROADER, f"{BROADER} nats") for gain in gains)), "")
    return Answer(
        state=all_of(*states),
        sentence=f"Attention from [CLS] has an entropy of {means[-1]:.2f} nats in the last layer, {means.mean():.2f} "
        f"on average over all layers; from all tokens the last layer has an entropy of {of_all:.2f}.{remark}",
        head=None,
        quantity="from_cls",
    )


def narrow_heads(result: Entropy, share: float) -> str:
    """The heads with at most a share of the entropy of uniform attention, in a sentence."""
    uniform = result["uniform"]
    description = f"At most {share:.0%} of the entropy of uniform attention ({uniform_text(uniform, 2)} nats)"
    return name_heads_over(-result["entropy"], -share * uniform, description)


STATEMENTS = (
    Statement(
        name="broad",
        section="3.3",
        statement="Some heads of the lower layers attend very broadly: at most 10% of their attention goes to any one "
        "token.",
        rule="In the first third of the layers the mean largest weight of the head with the highest entropy is below "
        f"{BROAD:.0%}, with an interval corrected for the number of these heads, and the mean over all heads is above, "
        "since in a randomly initialized network every head is broad.",
        answer=broad_early_head,
        role="broad",
    ),
    Statement(
        name="from_cls",
        section="3.3",
        statement=f"From [CLS] the last layer attends very broadly: {paper.FROM_CLS_LAST_LAYER} nats.",
        rule=f"The last layer's mean entropy from [CLS] is {BROADER} nats or more above the mean of all layers, and "
        "above the last layer's from all tokens, since a randomly initialized network attends from [CLS] as from any "
        "token; each with the intervals of both.",
        answer=broad_from_cls,
    ),
)
