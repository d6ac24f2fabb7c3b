"""What the heads of a model do: as a finding of all analyses together, as a map, one head's rows, and cards."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict

import numpy as np

from bertviz_core.analyses.behaviors import COREFERENCE, OTHER, Thresholds, linguistic, with_behavior
from bertviz_core.analyses.dependency_heads.figure import examples
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, SentenceExample
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.findings import NOT_COMPUTED, NOT_SHOWN, SHOWN, UNDECIDED, Finding, decide, head_intervals
from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.registry import findings
from bertviz_core.analyses.results import Results
from bertviz_core.analyses.surface_patterns.figure import BY_QUANTITY
from bertviz_core.corpora.treebank import meaning
from bertviz_core.heads import Head, all_heads, arrow
from bertviz_core.numbers import quantity
from bertviz_core.overview import Column, Relation, attends_to, behavior_counts, behavior_labels, columns, relations
from bertviz_core.plotting import BEHAVIORS
from bertviz_core.plotting.head_map import HeadMap, MarkerGroup

NONE = "no named behavior"
ON_CARD = 3  # quantities: those in which a head ranks highest
SENTENCES = 2  # of a relation
SHORT = 70  # characters of a sentence that is seen without scrolling


def every_finding(results: Results, base: int = 1) -> list[Finding]:
    """The finding of all analyses together, then those of each."""
    return [behaviors_finding(results), *findings(results, base)]


def behaviors_finding(results: Results) -> Finding:
    """How many heads have a behavior of Figure 6; NOT_COMPUTED without surface patterns and entropy."""
    state = NOT_COMPUTED
    sentence = "Neither surface patterns nor entropy is stored for this model."
    if (labels := behavior_labels(results)) is not None:
        named = linguistic(results)
        state = SHOWN if named else _state(results)
        sentence = _sentence(labels, named)
    return Finding(
        "overview.behaviors",
        "overview",
        "3",
        "Many of BERT-base's 12 × 12 heads do one simple thing: they attend to the next or the previous token, to "
        "[SEP], to full stops and commas, or broadly to everything.",
        "One head is above a threshold of Figure 6, or is shown to find a relation or antecedents; broad heads do not "
        "count, since a randomly initialized network has them too.",
        state,
        sentence,
    )


def _state(results: Results) -> str:
    """Whether one head is above a threshold other than that of broad heads, corrected for all of them."""
    result = results.get("surface_patterns")
    if not isinstance(result, HeadAverages):
        return UNDECIDED
    limits = {name: limit for name, limit in asdict(Thresholds()).items() if name in result.present}
    states = set()
    for name, limit in limits.items():
        states |= set(decide(head_intervals(result, name, len(limits) * result[name].size), limit).flat)
    return next((state for state in (SHOWN, UNDECIDED) if state in states), NOT_SHOWN)


def _sentence(labels: np.ndarray, named: Mapping[str, str]) -> str:
    """(layer, head) names of behaviors, and what the linguistic heads find, in one sentence."""
    groups = behavior_counts(labels)
    antecedents = sum(name == COREFERENCE for name in named.values())
    counts = {BY_QUANTITY[name].short: count for name, count in groups.items() if name in BY_QUANTITY}
    counts |= {"governors": len(named) - antecedents, "antecedents": antecedents}
    parts = [f"{count} to {target}" for target, count in counts.items() if count]
    which = f": {', '.join(parts)}".replace(" to ", " attend to ", 1) if parts else ""
    broad = groups.get("broad", 0)
    others = f" Of the others, {broad} attend broadly, as heads of an untrained network do." if broad else ""
    return f"{with_behavior(labels)} of {labels.size} heads have a recognizable pattern{which}.{others}"


def behavior_map(
    labels: np.ndarray, columns: list[Column], named: Mapping[str, str], base: int = 1, shown: Iterable[str] = ()
) -> HeadMap:
    """The map of all heads by what they do, from `labels` (layer, head), names of behaviors; `columns` are in hover
    texts, `named` says what linguistic heads find, and `shown` behaviors are in the legend, by default those that
    some head has."""
    layers, heads = labels.shape
    known = {c.quantity: c for c in columns if c.analysis in ("surface_patterns", "entropy")}
    hover = []
    for head in all_heads(layers, heads):
        behavior = str(labels[head])
        shows = "entropy" if behavior in ("broad", OTHER) else behavior
        text = f"{head.label(base)}: {named.get(head.label(), BEHAVIORS[behavior][-1])}"
        if column := known.get(shows):
            value = quantity(column.spec.label, column.spec.text(column.values[head]))
            text += f"; {value}, rank {column.rank(head)}"
        hover.append(text)
    groups = []
    for behavior in shown or behavior_counts(labels):
        color, symbol, letter, name = BEHAVIORS[behavior]
        members = tuple(head.label() for head in all_heads(layers, heads) if labels[head] == behavior)
        groups.append(MarkerGroup(f"{name} ({len(members)})", color, symbol, letter, members, behavior == OTHER))
    return HeadMap(tuple(hover), layers, heads, base, groups=tuple(groups))


def head_rows(columns: list[Column], head: Head) -> list[dict[str, str]]:
    """One row for each quantity: its value, beside it the baseline where there is one, and its rank."""
    return [
        {
            "quantity": column.spec.label,
            "value": column.spec.text(column.values[head]),
            "rank": column.rank(head),
            "baseline": f"{column.spec.text(column.baseline)} ({column.baseline_name})" if column.baseline_name else "",
        }
        for column in columns
    ]


def relation_rows(relations: list[Relation], heads: int) -> list[dict[str, str]]:
    """One row for each relation: what the head reaches, what the best fixed offset does, and its rank."""
    return [
        {
            "relation": relation.name,
            "meaning": meaning(relation.name),
            "found": f"{relation.accuracy:.1%}",
            "best offset": f"{relation.baseline:.1%} ({relation.offset:+d})",
            "rank": f"{relation.rank} of {heads}",
            "words": f"{relation.n:,}" + (f", {relation.counted}" if relation.counted else ""),
            "direction": arrow(DIRECTIONS[relation.choice.direction]),
        }
        for relation in relations
    ]


def encoded_cards(results: Results, base: int) -> bytes:
    """A card for each head, layer by layer, as JSON for the browser: what it does, its highest ranks, the relation
    that it is the furthest above the best fixed offset in, and what words it attends to beyond their share."""
    named = linguistic(results)
    labels = behavior_labels(results)
    quantities = columns(results)
    assert labels is not None, "surface patterns or entropy is stored"
    heads, cards = all_heads(*labels.shape), []
    for head, strongest, words in zip(heads, relations(results, heads, 1), attends_to(results, heads), strict=True):
        first = sorted(quantities, key=lambda column: column.ranks[head])[:ON_CARD]
        relation = ""
        for best in strongest:
            of = f"{best.n:,} with the {best.counted}" if best.counted else f"{best.n:,}"
            offset = f"(best fixed offset {best.baseline:.1%})"
            relation = f"Strongest relation: {best.name}, {best.accuracy:.1%} of {of} {offset}"
        does = NONE if labels[head] == OTHER else BEHAVIORS[str(labels[head])][-1]
        cards.append(
            {
                "title": f"Head {head.label(base)}",
                "behavior": named.get(head.label()) or does,
                "numbers": [(c.spec.label, c.spec.text(c.values[head]), c.rank(head)) for c in first],
                "relation": relation,
                "attended": "".join(f"Attends to {text}" for text in words[:1]),
            }
        )
    return json.dumps({"cards": cards}).encode()


def surest_sentences(result: RelationCounts, relation: Relation) -> list[SentenceExample]:
    """The sentences of a relation that are shown: all guesses are right."""
    sentences = [each for each in examples(result, relation.choice, relation.name) if each.right == len(each.chosen)]
    sentences.sort(key=lambda example: -example.weight)
    short = [example for example in sentences if len(" ".join(example.sentence["words"])) <= SHORT]
    return (short or sentences)[:SENTENCES]
