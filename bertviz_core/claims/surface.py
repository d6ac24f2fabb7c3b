"""Claims of section 3: what heads look at (Figures 2 to 4)."""

from __future__ import annotations

from functools import partial

import numpy as np

from bertviz_core import paper
from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.sep_gradients.result import SepGradients
from bertviz_core.claims.claim import Claim, Verdict, compare, decided, no_op_layer, present_values
from bertviz_core.heads import highest
from bertviz_core.numbers import half_width

HALF = 0.5
TO_ITSELF, MOST_HEADS = 0.1, 0.5
SEP_TO_SEP = 0.9
NO_OP = 0.5  # of the gradient to other tokens
BROAD = 0.1  # the largest weight of a broad head's rows
EARLY = 1 / 3  # of the layers
PEAKS = {name: int(np.argmax(paper.LAYER_MEANS[name])) + 1 for name in ("to_cls", "to_sep", "to_punct")}


def _one_head_over_half(result: HeadAverages, quantity: str, token: str) -> Verdict:
    values = present_values(result, quantity)
    head = highest(values)
    value, half = values[head], result.interval(quantity)[head]
    over = int((values > HALF).sum())
    return Verdict(
        compare(value - half, value + half, HALF),
        f"Head {head.label()} puts {value:.2f} ± {half_width(half, '.1g')} of its attention on the {token} token; "
        f"{over} of {values.size} heads put more than {HALF} there.",
    )


def _little_to_itself(result: HeadAverages) -> Verdict:
    little = float((present_values(result, "current") < TO_ITSELF).mean())
    return Verdict(
        decided(little > MOST_HEADS), f"{little:.0%} of the heads put less than {TO_ITSELF} on the token itself."
    )


def _layer_over(result: HeadAverages, quantity: str, threshold: float, what: str) -> Verdict:
    means = present_values(result, quantity).mean(axis=1)
    layer = int(means.argmax())
    return Verdict(
        decided(means[layer] > threshold), f"The mean of layer {layer + 1} is {means[layer]:.2f}, the highest, {what}."
    )


def _order_of_layers(result: HeadAverages) -> Verdict:
    peaks = {name: int(present_values(result, name).mean(axis=1).argmax()) + 1 for name in PEAKS}
    cls, sep, punct = peaks.values()
    return Verdict(
        decided(cls < sep < punct),
        f"Attention to [CLS] is highest in layer {cls}, to [SEP] in layer {sep}, to full stops and commas in layer "
        f"{punct}.",
    )


def _no_op(result: SepGradients) -> Verdict:
    layer, attention, ratio = no_op_layer(result)
    if np.isnan(ratio):
        return Verdict("undecided", f"In layer {layer + 1} no attention has a gradient.")
    return Verdict(
        decided(ratio < NO_OP),
        f"Layer {layer + 1} puts {attention:.0%} of its attention on [SEP]; the gradient there is {ratio:.2f} "
        "times that to other tokens.",
    )


def _broad_early_head(result: HeadAverages) -> Verdict:
    largest = present_values(result, "max_weight")
    early = largest[: max(1, round(EARLY * len(largest)))]
    head = highest(-early)
    value, half = early[head], result.interval("max_weight")[head]
    return Verdict(
        compare(-value - half, -value + half, -BROAD),
        f"Of layers 1 to {len(early)} head {head.label()} is the broadest: its largest weight is {value:.1%} ± "
        f"{half_width(100 * half)} on average.",
    )


def _broad_from_cls(result: HeadAverages) -> Verdict:
    means = present_values(result, "from_cls").mean(axis=1)
    return Verdict(
        decided(means[-1] > means.mean()),
        f"From [CLS] the last layer has {means[-1]:.2f} nats, all layers have {means.mean():.2f} on average.",
    )


SURFACE = (
    Claim(
        "3.1",
        "surface_patterns",
        f"Some heads attend mostly to the previous token: {paper.HEADS_OVER_HALF['previous']} put over half of their "
        "attention there.",
        f"One head is above {HALF}, with its interval.",
        partial(_one_head_over_half, quantity="previous", token="previous"),
    ),
    Claim(
        "3.1",
        "surface_patterns",
        f"Some heads attend mostly to the next token: {paper.HEADS_OVER_HALF['next']} put over half of their attention "
        "there.",
        f"One head is above {HALF}, with its interval.",
        partial(_one_head_over_half, quantity="next", token="next"),
    ),
    Claim(
        "3.1",
        "surface_patterns",
        "Most heads put little attention on the current token.",
        f"More than {MOST_HEADS:.0%} of the heads are below {TO_ITSELF}.",
        _little_to_itself,
    ),
    Claim(
        "3.2",
        "surface_patterns",
        "In layers 6 to 10 more than half of the attention goes to [SEP], up to "
        f"{max(paper.LAYER_MEANS['to_sep'])} in a layer's mean.",
        f"The mean of one layer is above {HALF}.",
        partial(_layer_over, quantity="to_sep", threshold=HALF, what="for attention to [SEP]"),
    ),
    Claim(
        "3.2",
        "surface_patterns",
        "Heads that process [SEP] attend almost entirely (more than 90%) to themselves and the other [SEP].",
        f"The mean of one layer, from [SEP] to [SEP], is above {SEP_TO_SEP}.",
        partial(_layer_over, quantity="sep_to_sep", threshold=SEP_TO_SEP, what="for attention from [SEP] to [SEP]"),
    ),
    Claim(
        "3.2",
        "surface_patterns",
        f"Early heads attend to [CLS], middle ones to [SEP], deep ones to full stops and commas: highest in layers "
        f"{PEAKS['to_cls']}, {PEAKS['to_sep']} and {PEAKS['to_punct']}.",
        "The layers with the highest means stand in this order.",
        _order_of_layers,
    ),
    Claim(
        "3.2",
        "sep_gradients",
        f"From layer {paper.NO_OP_FROM_LAYER} on, where attention to [SEP] is high, its gradient is very small: it is "
        "a no-op.",
        f"In the layer that attends most to [SEP], the mean gradient to [SEP] is below {NO_OP} times that to other "
        "tokens.",
        _no_op,
    ),
    Claim(
        "3.3",
        "entropy",
        "Some heads of the lower layers attend very broadly: at most 10% of their attention goes to any one token.",
        f"In the first third of the layers one head's mean largest weight is below {BROAD:.0%}, with its interval.",
        _broad_early_head,
    ),
    Claim(
        "3.3",
        "entropy",
        f"From [CLS] the last layer attends very broadly: {paper.FROM_CLS_LAST_LAYER} nats.",
        "The last layer's mean entropy from [CLS] is above the mean of all layers.",
        _broad_from_cls,
    ),
)
