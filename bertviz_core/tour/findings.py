"""What a model's stored results say to each step of the tour, beside what the paper says of BERT-base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from bertviz_core import paper
from bertviz_core.analyses.ablation.result import Ablation
from bertviz_core.analyses.behaviors import UNTAUGHT, Thresholds, with_behavior
from bertviz_core.analyses.clustering.result import Clustering, nats
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.baselines import RANDOM
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.entropy.result import Entropy
from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.linguistic import linguistic
from bertviz_core.analyses.probes.result import Probes
from bertviz_core.analyses.results import Results, result_of
from bertviz_core.analyses.sep_gradients.result import SepGradients
from bertviz_core.analyses.surface_patterns.norms import change
from bertviz_core.claims.claim import no_op_layer, present_values
from bertviz_core.heads import Head, highest
from bertviz_core.numbers import half_width
from bertviz_core.overview.head_summary import behavior_labels, counted
from bertviz_core.plotting.style import BEHAVIORS

NORMS = "surface_patterns through norms"  # among the results, beside those of attention weights
ALIKE = 0.1  # ratios so close to 1 tell no difference
TABLE_3, HEAD_2 = paper.TABLE_3, paper.TABLE_2["head 5-4"][0]


@dataclass(frozen=True, slots=True)
class Findings:
    """What this model's results say to a step of the tour.

    Attributes:
        answer: To the step's question.
        differs: This model beside BERT-base.
        head: The one to look at, if any.
        unclear: Why there is no clear case of what the step is about; empty where there is one.
    """

    answer: str
    differs: str
    head: Head | None = None
    unclear: str = ""


def specialists(results: Results, base: int) -> Findings:
    labels = behavior_labels(results, Thresholds(), linguistic(results))
    if labels is None:
        raise KeyError("behaviors")
    groups, number = counted(labels), with_behavior(labels)
    parts = ", ".join(f"{count} {BEHAVIORS[name][-1]}" for name, count in groups.items() if name not in UNTAUGHT)
    rest = " and ".join(f"{groups.get(name, 0)} {name}" for name in UNTAUGHT)
    layers, heads = labels.shape
    size = f"BERT-base has 12 × 12 heads, this model {layers} × {heads}. "
    young = groups.get("broad", 0) > labels.size / 2
    return Findings(
        f"{number} of {labels.size}{f': {parts}' if parts else ''}; the rest are {rest}.",
        size + ("Most of its heads are still broad, as before training: it has been trained little." if young else ""),
        unclear=""
        if number
        else "No head of this model is above a threshold of Figure 6 other than that of broad heads.",
    )


def surface_patterns(results: Results) -> HeadAverages:
    """Raises KeyError where there are none."""
    return cast(HeadAverages, results["surface_patterns"])


def one_head(results: Results, base: int) -> Findings:
    values = present_values(surface_patterns(results), "previous")
    head = highest(values)
    return Findings(
        f"To the token before it: over the whole corpus head {head.label(base)} puts "
        f"{values[head]:.0%} of its attention there.",
        "In BERT-base head 3-1 does the same with the next token; in this model the clearest head is "
        f"{head.label(base)}.",
        head,
    )


def neighbors(results: Results, base: int) -> Findings:
    patterns = surface_patterns(results)
    previous, following = (present_values(patterns, name) for name in ("previous", "next"))
    head = highest(previous)
    bert = paper.HEADS_OVER_HALF
    return Findings(
        f"Head {head.label(base)}, with {previous[head]:.2f} on average.",
        f"BERT-base has {bert['previous']} heads over 0.5 for the previous token and {bert['next']} for the next; "
        f"this model has {int((previous > 0.5).sum())} and {int((following > 0.5).sum())}.",
        head,
    )


def separators(results: Results, base: int) -> Findings:
    values = present_values(surface_patterns(results), "to_sep")
    means, bert = values.mean(axis=1), paper.LAYER_MEANS["to_sep"]
    layer, maximum = int(means.argmax()), float(means.max())
    kinds = (("to_punct", "full stops and commas get"), ("to_cls", "[CLS] gets"))
    others = "; ".join(highest_layers(results, base, *kind) for kind in kinds)
    return Findings(
        f"Layer {layer + base}, with {maximum:.2f}: {'half and more' if maximum >= 0.5 else 'it does not reach half'}.",
        f"BERT-base: {max(bert):.2f} in layer {int(np.argmax(bert)) + 1}; this model: {maximum:.2f} in layer "
        f"{layer + base}."
        + (" It has not (yet) learned to attend to [SEP]." if maximum < max(bert) / 2 else "")
        + f" The rest of Figure 2: {others}.",
        highest(values),
    )


def highest_layers(results: Results, base: int, quantity: str, name: str) -> str:
    """The layer whose mean is the highest, in BERT-base and in this model; raises KeyError for what no segment has."""
    means, bert = (
        present_values(surface_patterns(results), quantity).mean(axis=1),
        paper.LAYER_MEANS[quantity],
    )
    return (
        f"{name} at most {max(bert):.2f} there, in layer {int(np.argmax(bert)) + 1}, and {means.max():.2f} "
        f"here, in layer {int(means.argmax()) + base}"
    )


def no_op(results: Results, base: int) -> Findings:
    gradients = result_of(results, SepGradients)
    layer, attention, ratio = no_op_layer(gradients)
    less, than = ("less", "than") if ratio < 1 - ALIKE else ("about as much", "as")
    less, than = ("more", "than") if ratio > 1 + ALIKE else (less, than)
    return Findings(
        f"{less.capitalize()}: in layer {layer + base} the gradient to [SEP] is {ratio:.2f} times that to other "
        "tokens.",
        f"In BERT-base it is near 0 from layer {paper.NO_OP_FROM_LAYER} on, and in layers 6 to 10 over half of the "
        f"attention goes to [SEP]; here {attention:.0%} goes there, and a weight on [SEP] matters {less} {than} "
        f"one elsewhere.{moved_by_sep(results, base)}",
        highest(gradients["attention_to_sep"]),
    )


def switched_off(results: Results, base: int) -> Findings:
    ablation = result_of(results, Ablation)
    change, whole = present_values(ablation, "to_sep_loss_change"), present_values(ablation, "loss_change")
    head = ablation.largest("to_sep_loss_change")
    largest, interval = change[head], ablation.interval("to_sep_loss_change")[head]
    resting = next((group for group in ablation.groups if group["name"] == "to_sep"), None)
    together = (
        f"All {len(resting['heads'])} heads that attend mostly to [SEP] switched off together change it by "
        f"{resting['loss_change']:+.2f} ± {half_width(resting['interval'], '.2f')} nats"
        if resting
        else "No head of this model attends mostly to [SEP]"
    )
    important = highest(whole)
    return Findings(
        f"At most {abs(largest):.3f} nats of {ablation.loss:.2f}, for head {head.label(base)} ({largest:+.3f} ± "
        f"{half_width(interval, '.3f')}).",
        f"{together}; head {important.label(base)} alone, the most important one, "
        f"{whole[important]:+.2f}. The paper has no such numbers for BERT-base.",
        head,
        "" if resting else "No head of this model attends mostly to [SEP], so there is little to take away.",
    )


def moved_by_sep(results: Results, base: int) -> str:
    """A sentence on the norms of [SEP], where they are stored: nothing moves where vectors are short."""
    weights, norms = results.get("surface_patterns"), results.get(NORMS)
    if not isinstance(weights, HeadAverages) or not isinstance(norms, HeadAverages):
        return ""
    if weights.provenance["corpus"] != norms.provenance["corpus"]:
        return ""
    return f" Norms ask how much the weights move: {change(weights, norms, base)} (methods, section 11)."


def breadth(results: Results, base: int) -> Findings:
    result = result_of(results, Entropy)
    values, uniform = present_values(result, "entropy"), result.uniform
    means, bert = values.mean(axis=1), paper.LAYER_MEANS["entropy"]
    head = highest(values)
    largest = result["max_weight"][head]
    return Findings(
        f"Head {head.label(base)}, {values[head]:.2f} nats, where uniform attention would have "
        f"{uniform:.2f}; its largest weight is {largest:.1%} on average.",
        f"The layer with the lowest mean is layer {int(np.argmin(bert)) + 1} in BERT-base, with {min(bert):.1f} "
        f"nats; in this model it is layer {int(means.argmin()) + base}, with {means.min():.1f}.",
        head,
    )


def syntax(results: Results, base: int) -> Findings:
    result = result_of(results, RelationCounts)
    relation = result.most_telling()
    row, choice = result.relations.index(relation), result.best_choice(relation)
    best, accuracy, offset = choice.head, result.accuracy_of(choice, relation), result.offset_accuracy[:, row].max()
    gain, dobj = 100 * (accuracy - offset), paper.TABLE_1["dobj"]
    return Findings(
        f"“{relation}”, by head {best.label(base)}: {accuracy:.1%}, where the best fixed offset has "
        f"{offset:.1%} (n = {int(result.n[:, row].sum()):,}).",
        f"Direct objects are {dobj[1] - dobj[2]:.0f} points above their offset in BERT-base; this model's clearest "
        f"relation is {gain:.0f} points above its own."
        + (" It has been trained too little, or is too small, for the paper's linguistic heads." if gain < 15 else ""),
        best,
    )


def coreference(results: Results, base: int) -> Findings:
    result = result_of(results, AntecedentCounts)
    best, baselines = result.best(), dict(zip(result.systems, result.systems_accuracy[:, 0], strict=True))
    accuracy = result.accuracy[best.direction, 0, *best.head]
    beaten = " and ".join(name for name in ("nearest", "head match", "rule-based") if accuracy > baselines[name])
    return Findings(
        f"Head {best.head.label(base)} finds {accuracy:.1%}; a random candidate {baselines[RANDOM]:.1%}, nearest "
        f"{baselines['nearest']:.1%}, head match {baselines['head match']:.1%}. It beats "
        f"{beaten or 'none of them'}.",
        f"BERT-base's head 5-4 has {HEAD_2}% and beats both on CoNLL-2012; this model's best has {accuracy:.1%} on "
        "this corpus.",
        best.head,
    )


def probe(results: Results, base: int) -> Findings:
    result = result_of(results, Probes)
    read, right = result.of("attention-only"), result.of("right-branching")
    return Findings(
        f"Attention only finds {read:.1%} of the governors, the word to the right {right:.1%}: a difference of "
        f"{100 * (read - right):.0f} points, from maps alone.",
        f"In BERT-base attention only has {TABLE_3['attention-only']} UAS, with word vectors "
        f"{TABLE_3['attention-and-words']}; this model {100 * read:.0f} and "
        f"{100 * result.of('attention-and-words'):.0f}."
        + (" There is little more syntax in its maps than in word order." if read - right < 0.1 else ""),
        highest(result.attention.max(0)),
    )


def clusters(results: Results, base: int) -> Findings:
    result = result_of(results, Clustering)
    closeness, nearer = result.closeness, result.closeness.ratio < 1
    if np.isnan(closeness.ratio):
        return Findings(
            f"{closeness.text(nats(result.summed))}.", "In BERT-base heads of one layer are often fairly close."
        )
    return Findings(
        f"{'Yes' if nearer else 'No'}: heads of one layer differ by {closeness.within:.3f} {nats(result.summed)}, "
        f"heads of different layers by {closeness.between:.3f}.",
        "In BERT-base heads of one layer are often fairly close, and heads with the same behavior form clusters; here "
        f"heads of one layer are {abs(1 - closeness.ratio):.0%} {'closer' if nearer else 'further apart'}.",
    )
