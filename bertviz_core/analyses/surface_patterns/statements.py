"""What the paper states about surface patterns, and how a result decides it (docs/methods.md, sections 2 and 6)."""

from functools import partial

import numpy as np

from bertviz_core import paper
from bertviz_core.analyses.base.averages import HeadAverages, name_heads_over
from bertviz_core.analyses.base.findings import (
    EFFECT,
    NOT_SHOWN,
    Answer,
    Finding,
    Interval,
    Statement,
    all_of,
    decide,
    decide_worth,
    head_intervals,
    layer_intervals,
)
from bertviz_core.analyses.surface_patterns.result import BY_QUANTITY, CLASSES, sinks
from bertviz_core.heads import first_number, highest
from bertviz_core.numbers import measured
from bertviz_core.plotting import TOKENS

HALF = 0.5  # share of the attention
SEP_TO_SEP = 0.9
TO_ITSELF = 0.1
MOST_HEADS = 0.5
PEAKS = {name: int(np.argmax(paper.LAYER_MEANS[name])) + 1 for name in ("to_cls", "to_sep", "to_punct")}
ONE_LAYER = "with an interval corrected for the number of layers."


def head_over_half(result: HeadAverages, quantity: str) -> Answer:
    """Whether the head with the most attention to a neighbor puts over half of it there.

    Its share is compared with HALF by its interval, corrected for the number of heads; how many heads are above is said
    beside it (docs/methods.md, section 2; section 6, Decisions).

    Args:
        quantity: Attention to the neighbor, "previous" or "next".
    """
    values = result[quantity]
    head = highest(values)
    over = int((values > HALF).sum())
    return Answer(
        state=decide(head_intervals(result, quantity), HALF)[head],
        sentence=f"Head {head.label()} puts {measured(values[head], result.interval(quantity)[head])} "
        f"of its attention on the {quantity} token; {over} of {values.size} heads put more than {HALF} there.",
        head=head,
        quantity=quantity,
        number=f"{values[head]:.3f}",
    )


def highest_over(result: HeadAverages, quantity: str, threshold: float) -> Answer:
    """Whether the highest head of a quantity is over a reader's threshold, compared as in `head_over_half`."""
    values = result[quantity]
    head = highest(values)
    return Answer(
        state=decide(head_intervals(result, quantity), threshold)[head],
        sentence=f"{int((values > threshold).sum())} of {values.size} heads have more than {threshold:g} as their "
        f"{BY_QUANTITY[quantity].label}; the highest is {head.label()}, with "
        f"{measured(values[head], result.interval(quantity)[head])}.",
        head=head,
        quantity=quantity,
    )


def over_finding(result: HeadAverages, quantity: str, threshold: float) -> Finding:
    """The finding of `highest_over`, for a threshold other than the paper's."""
    rule = f"One head is above {threshold:g}, with an interval corrected for the number of heads."
    answer = partial(highest_over, quantity=quantity, threshold=threshold)
    return Statement(name=quantity, section="", statement="", rule=rule, answer=answer).finding(
        "surface_patterns", "", result
    )


def heads_over(result: HeadAverages, quantity: str, threshold: float) -> str:
    """The heads that have more than a threshold of a quantity, in a sentence."""
    weights = result.provenance["settings"]["weights"]
    description = f"Over {threshold:.0%} of the {weights} on {BY_QUANTITY[quantity].short}"
    return name_heads_over(result[quantity], threshold, description)


def little_to_itself(result: HeadAverages) -> Answer:
    """Whether most heads put little attention on the token itself.

    The share of heads below TO_ITSELF, from those whose interval, corrected for their number, is below it as a whole to
    those whose interval begins below it, is compared with MOST_HEADS (docs/methods.md, section 2; section 6,
    Decisions).
    """
    values = result["current"]
    heads = head_intervals(result, "current")
    share = Interval((heads.high < TO_ITSELF).mean(), (heads.low < TO_ITSELF).mean(), heads.enough)
    return Answer(
        state=decide(share, MOST_HEADS),
        sentence=f"{(values < TO_ITSELF).mean():.0%} of the heads put less than {TO_ITSELF} on the token itself.",
        head=highest(values),
        quantity="current",
    )


def layer_over(result: HeadAverages, quantity: str, threshold: float) -> Answer:
    """Whether the highest mean of a layer is above a threshold.

    It is compared by its interval, corrected for the number of layers (docs/methods.md, section 2; section 6,
    Decisions).

    Args:
        quantity: The column that is compared.
        threshold: A share of attention, 0 to 1.
    """
    values = result[quantity]
    layer = int(values.mean(1).argmax())
    label = BY_QUANTITY[quantity].label
    return Answer(
        state=decide(layer_intervals(result, quantity), threshold)[layer],
        sentence=f"{label[0].upper()}{label[1:]} is highest in layer {layer + first_number()}, with a mean of "
        f"{values[layer].mean():.2f}.",
        head=highest(values),
        quantity=quantity,
    )


def sink(result: HeadAverages) -> Answer:
    """Whether one special token, or the first token, receives over half of a layer's attention.

    The highest mean of a layer, of all these tokens, is compared with HALF by its interval, corrected for the number of
    layers and of tokens (docs/methods.md, section 2; section 6, Decisions).

    Raises:
        KeyError: No input has such a token, so that the statement is about something absent.
    """
    ranked = sinks(result)
    if not ranked:
        raise KeyError("special tokens")
    quantity = ranked[0]
    mean = result[quantity].mean(1)
    layer = int(mean.argmax())
    over = [str(index + first_number()) for index in np.flatnonzero(mean > HALF)]
    where = f"layer{'s' * (len(over) > 1)} {', '.join(over)}" if over else "no layer"
    return Answer(
        state=decide(layer_intervals(result, quantity, len(ranked)), HALF)[layer],
        sentence=f"The sink, the special {'or first ' * (quantity == 'to_first')}token that receives the most "
        f"attention, is {BY_QUANTITY[quantity].short}: "
        f"{mean[layer]:.2f} of the attention in layer {layer + first_number()}, the highest mean of a layer, and "
        f"{mean.mean():.2f} over all layers; more than {HALF} in {where}.",
        head=highest(result[quantity]),
        quantity=quantity,
        number=f"{BY_QUANTITY[quantity].short}, with {mean[layer]:.2f} in layer {layer + first_number()}",
    )


def order_of_layers(result: HeadAverages) -> Answer:
    """Whether the layers with the highest means of to_cls, to_sep and to_punct stand in this order, and stand out.

    A layer may be the highest where its interval reaches the highest lower end of all layers. In order where every
    choice of such layers is, not where none is. Each of the three means is to be EFFECT or more above the mean of all
    layers, and above it with the intervals of both: some layer is the highest in any network (docs/methods.md, section
    2; section 6, Decisions).
    """
    means = {name: result[name].mean(1) for name in PEAKS}
    peaks = {name: int(values.argmax()) for name, values in means.items()}
    candidates = []
    states = []
    for name, values in means.items():
        low, high, enough = layer_intervals(result, name, len(PEAKS))
        is_known = enough and not np.isnan(low).any()
        candidates.append(np.flatnonzero(high >= low.max()) if is_known else np.arange(len(low)))
        gain = Interval(low, high, enough).at(peaks[name]).minus(Interval(low.mean(), high.mean(), enough))
        states.append(str(decide_worth(gain, values.max() - values.mean(), EFFECT)))
    cls, sep, punct = candidates
    in_order = cls.max() < sep.min() and sep.max() < punct.min()
    possible = any(cls.min() < layer < punct.max() for layer in sep)
    tops = {name: f"layer {at + first_number()} ({means[name][at]:.2f})" for name, at in peaks.items()}
    flat = [BY_QUANTITY[name].short for name, state in zip(PEAKS, states, strict=True) if state == NOT_SHOWN]
    note = f" No layer stands out by {100 * EFFECT:.0f} points in attention to {' or '.join(flat)}." if flat else ""
    return Answer(
        all_of(str(decide(Interval(in_order, possible))), *states),
        f"Attention to [CLS] is highest in {tops['to_cls']}, to [SEP] in {tops['to_sep']}, to full stops and commas in "
        f"{tops['to_punct']}.{note}",
    )


STATEMENTS = (
    *(
        Statement(
            name=name,
            section="3.1",
            statement=f"Some heads attend mostly to the {name} token: {count} put over half of their attention there.",
            rule=f"One head is above {HALF}, with an interval corrected for the number of heads.",
            answer=partial(head_over_half, quantity=name),
            role=f"{name} token",
        )
        for name, count in paper.HEADS_OVER_HALF.items()
    ),
    Statement(
        name="current",
        section="3.1",
        statement="Most heads put little attention on the current token.",
        rule=f"More than {MOST_HEADS:.0%} of the heads are below {TO_ITSELF}, with intervals corrected for their "
        "number.",
        answer=little_to_itself,
    ),
    Statement(
        name="sink",
        section="3.2",
        statement=f"One special token, [SEP], receives most of the attention: up to {max(paper.LAYER_MEANS['to_sep'])} "
        f"of a layer's attention, in layer {PEAKS['to_sep']}.",
        rule=f"The special token with the highest mean of a layer, the first token included, is above {HALF} there, "
        "with an interval corrected for the number of layers and tokens.",
        answer=sink,
        role="the sink",
    ),
    Statement(
        name="to_sep",
        section="3.2",
        statement="In layers 6 to 10 more than half of the attention goes to [SEP], up to "
        f"{max(paper.LAYER_MEANS['to_sep'])} in a layer's mean; by chance a token that occurs twice in 128 would get "
        "about 1/64.",
        rule=f"The mean of one layer is above {HALF}, {ONE_LAYER}",
        answer=partial(layer_over, quantity="to_sep", threshold=HALF),
    ),
    Statement(
        name="sep_to_sep",
        section="3.2",
        statement="Heads that process [SEP] attend almost entirely (more than 90%) to themselves and the other [SEP].",
        rule=f"The mean of one layer, from [SEP] to [SEP], is above {SEP_TO_SEP}, {ONE_LAYER}",
        answer=partial(layer_over, quantity="sep_to_sep", threshold=SEP_TO_SEP),
    ),
    Statement(
        name="order",
        section="3.2",
        statement="Early heads attend to [CLS], middle ones to [SEP], deep ones to full stops and commas: highest in "
        f"layers {PEAKS['to_cls']}, {PEAKS['to_sep']} and {PEAKS['to_punct']}.",
        rule="The layers with the highest means stand in this order, and so do all layers that the intervals allow; "
        f"each is {100 * EFFECT:.0f} points or more above the mean of all layers, with the intervals of both.",
        answer=order_of_layers,
    ),
)


def lengths_sentence(norms: HeadAverages) -> str:
    """How long the vectors of special tokens are beside others, and how their length goes with attention weight."""
    correlation = norms["norm_correlation"]
    lowest = highest(-correlation)
    means = {name: norms[f"norm_{name}"].mean() for name in CLASSES if f"norm_{name}" in norms}
    compared = ""
    if "other" in means:
        other = means.pop("other")
        ratios = [f"{TOKENS[name][0]} {mean / other:.2f} times" for name, mean in means.items()]
        compared = f"Beside other tokens' vectors, those of {', '.join(ratios)} as long. "
    return (
        f"{compared}Within a passage, the rank correlation of a token's vector length with the weight that it receives "
        f"is {np.nanmean(correlation):z.2f} on average over heads, and lowest in head {lowest.label()} "
        f"({correlation[lowest]:z.2f})"
    )
