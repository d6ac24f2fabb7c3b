"""What the heads of a model do, as a finding of all analyses together, a map, rows for one head, and cards."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np

from bertviz_core.analyses.base.findings import (
    NOT_COMPUTED,
    NOT_SHOWN,
    SHOWN,
    STATES,
    UNDECIDED,
    Finding,
    counted,
    decide,
    head_intervals,
)
from bertviz_core.analyses.base.registry import ANALYSES, findings
from bertviz_core.analyses.base.result import Results
from bertviz_core.analyses.behaviors import (
    BROAD,
    COREFERENCE,
    DUPLICATE,
    INDUCTION,
    LINGUISTIC,
    OTHER,
    UNTRAINED,
    Thresholds,
    found_by_heads,
    linguistic,
    with_behavior,
)
from bertviz_core.heads import Head, all_heads
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.numbers import quantity
from bertviz_core.overview.head_columns import (
    Column,
    behavior_averages,
    behavior_heads,
    behavior_labels,
    behaviors_of,
    columns,
    of_head,
)
from bertviz_core.overview.sentence_values import SentenceValues
from bertviz_core.plotting import BEHAVIORS
from bertviz_core.plotting.head_map import HeadMap, MarkerGroup

NONE = "no named behavior"
REPEATED = {INDUCTION: "what followed the same token earlier", DUPLICATE: "the same token earlier"}
ENCODER = ("Encoder", "Tokens see those after them, too.")
DECODER = ("Decoder", "Each token sees only itself and those before it.")
ON_CARD = 2  # quantities in which the head ranks highest, on its card


def every_finding(results: Results) -> list[Finding]:
    """The finding of all analyses together, then those of each."""
    return [behaviors_finding(results), *findings(results)]


def roles() -> dict[str, str]:
    """The ids of the findings whose heads have a role, and the role, in the order of ANALYSES."""
    return {
        f"{name}.{statement.name}": statement.role
        for name, analysis in ANALYSES.items()
        for statement in analysis.statements
        if statement.role
    }


def count_states(findings: Iterable[Finding]) -> str:
    """How many of the paper's statements are in each state, without findings beyond the paper. A demonstration is none
    of those that are shown."""
    return "Of {} statements of the paper: {}".format(*_counts(each for each in findings if each.statement))


def count_beyond(findings: Iterable[Finding]) -> str:
    """The same of the statements beyond the paper."""
    return "Of {} statements beyond it: {}".format(*_counts(each for each in findings if not each.statement))


def _counts(findings: Iterable[Finding]) -> tuple[int, str]:
    """How many findings there are, and how many of them are in each state."""
    counts = Counter(finding.state for finding in findings)
    return counts.total(), ", ".join(counted(state, counts[state]) for state in STATES if counts[state])


def describe_model(checkpoint: Checkpoint) -> tuple[str, str]:
    """What kind of model it is and how large, in a line, and what its tokens see, as a sentence."""
    kind, sight = ENCODER if not checkpoint.reads_one_text else DECODER
    family = checkpoint.config.get("model_type", "of unknown family")
    size = f"{checkpoint.layers} × {checkpoint.heads} heads"
    return f"{kind} ({family}), {size}, {checkpoint.parameters() / 1e6:,.1f} M weights", sight


def behaviors_finding(results: Results) -> Finding:
    """How many heads have a behavior of Figure 6; NOT_COMPUTED without surface patterns and entropy."""
    state = NOT_COMPUTED
    sentence = "Neither surface patterns nor entropy is computed for this model."
    number = claim = ""
    labels = behavior_labels(results)
    members = behavior_heads(results)
    if labels is not None and members is not None:
        named = linguistic(results)
        state = SHOWN if named else _state(results)
        sentence = _describe(labels, members, named)
        number = f"{with_behavior(labels)} of {labels.size} heads"
        claim = one_line(labels)
    return Finding(
        id="overview.behaviors",
        analysis="overview",
        section="3",
        statement="Many of BERT-base's 12 × 12 heads do one simple thing: they attend to the next or the previous "
        "token, to [SEP], to full stops and commas, or broadly to everything.",
        rule="One head is above a threshold of Figure 6, or is shown to find a relation or antecedents; broad heads do "
        "not count, since a randomly initialized network has them too.",
        state=state,
        sentence=sentence,
        number=number,
        claim=claim,
    )


def _state(results: Results) -> str:
    """Whether a head is above a threshold of a behavior that untrained networks lack, corrected for all of these
    thresholds and heads."""
    averages = [each for each in behavior_averages(results) if each[0] not in UNTRAINED]
    comparisons = sum(result[name].size for _, name, result in averages)
    states = set()
    for _, name, result in averages:
        intervals = head_intervals(result, name, comparisons)
        states |= set(decide(intervals, getattr(Thresholds(), name)).flat)
    if not states:
        return UNDECIDED
    return next((state for state in (SHOWN, UNDECIDED) if state in states), NOT_SHOWN)


def _describe(labels: np.ndarray, members: Mapping[str, np.ndarray], named: Mapping[str, str]) -> str:
    """How many heads have which behavior, from (layer, head) labels, the heads of each behavior, some of which have
    several, and what linguistic heads find."""
    groups = {name: int(heads.sum()) for name, heads in members.items()}
    antecedents = sum(name == COREFERENCE for name in named.values())
    names = {
        behavior: each.column(quantity).short
        for each in ANALYSES.values()
        for quantity, behavior in each.behaviors.items()
    } | REPEATED
    counts = {names[name]: count for name, count in groups.items() if name in names and name not in UNTRAINED}
    counts |= {"governors": len(named) - antecedents, "antecedents": antecedents}
    parts = [f"{target} ({count})" for target, count in counts.items() if count]
    which = f": attention to {', '.join(parts)}" if parts else ""
    broad = groups.get(BROAD, 0)
    others = f" Of the others, {broad} attend broadly, as heads of an untrained network do." if broad else ""
    if broad == labels.size:
        return f"All {broad} heads attend broadly, as those of an untrained network do."
    return f"{with_behavior(labels)} of {labels.size} heads have a recognizable pattern{which}.{others}"


def one_line(labels: np.ndarray) -> str:
    """How many heads of (layer, head) labels do one thing; the legend of their map says which."""
    broad = int((labels == BROAD).sum())
    attend = "attends" if broad == 1 else "attend"
    others = f"; {broad} {attend} broadly, as heads of an untrained network do" if broad else ""
    return f"{with_behavior(labels)} of {labels.size} heads do something recognizable{others}."


def behavior_map(
    members: Mapping[str, np.ndarray],
    columns: list[Column],
    named: Mapping[str, str],
    shown: Iterable[str] = (),
    found: Mapping[str, str] | None = None,
) -> HeadMap:
    """The map of all heads by their behaviors; a head of several has the marker of each.

    Args:
        members: The heads of each behavior, (layer, head) bool, as `behavior_heads` returns them.
        columns: The quantities of which hover texts have a value.
        named: Key of a linguistic head -> what it finds, for hover texts.
        shown: The behaviors in the legend; by default those of some head.
        found: Key of a linguistic head -> a word for what it finds, each of which has an entry in the legend; None for
            one entry for all of them.
    """
    layers, heads = next(iter(members.values())).shape
    known = {ANALYSES[each.analysis].behaviors.get(each.quantity): each for each in columns}
    hover = tuple(_hover(members, named, known, head) for head in all_heads(layers, heads))
    groups = []
    for behavior in sorted(shown or members, key=lambda name: name == OTHER):
        is_member = members.get(behavior, np.zeros((layers, heads), dtype=bool))
        keys = tuple(head.key() for head in all_heads(layers, heads) if is_member[head])
        groups += _found_groups(keys, found) if behavior == LINGUISTIC and found else [_group(behavior, keys)]
    return HeadMap(hover, layers, heads, groups=tuple(groups))


def without_broad(members: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The heads of each behavior, (layer, head) bool, where broad ones have none, as those of an untrained network."""
    others = [members[name] for name in UNTRAINED if name in members]
    named = {name: heads for name, heads in members.items() if name not in UNTRAINED}
    return named | ({OTHER: np.any(others, axis=0)} if others else {})


def role_words(members: Mapping[str, np.ndarray], named: Mapping[str, str], head: Head) -> str:
    """What a head does, in a few words, as "dobj, previous token"; empty where it has no behavior.

    Args:
        members: The heads of each behavior, (layer, head) bool.
        named: Key of a linguistic head -> what it finds.
    """
    words = (
        named[head.key()] if name == LINGUISTIC and head.key() in named else BEHAVIORS[name][-1]
        for name in behaviors_of(members, head)
    )
    return ", ".join(words)


def _hover(
    members: Mapping[str, np.ndarray], named: Mapping[str, str], known: Mapping[str | None, Column], head: Head
) -> str:
    """The hover text of a head: what it does, and the values of the `known` column of each behavior."""
    behaviors = behaviors_of(members, head)
    text = f"{head.label()}: {role_words(members, named, head) or BEHAVIORS[OTHER][-1]}"
    for behavior in behaviors or [BROAD]:  # of a head without any, how broadly it attends
        if column := known.get(behavior):
            value = quantity(column.spec.label, column.spec.text(column.values[head]))
            text += f"; {value}, rank {column.rank(head)}"
    return text


def _group(behavior: str, members: tuple[str, ...]) -> MarkerGroup:
    """The heads of a behavior; those without any have small dots, and no entry in the legend."""
    color, symbol, letter, name = BEHAVIORS[behavior]
    is_other = behavior == OTHER
    title = "" if is_other else f"{name} ({len(members)})"
    return MarkerGroup(name=title, color=color, symbol=symbol, letter=letter, heads=members, small=is_other)


def _found_groups(members: Iterable[str], found: Mapping[str, str]) -> list[MarkerGroup]:
    """Linguistic heads by what they find, on diamonds with its first letter: a cross would look like an error here."""
    color = BEHAVIORS[LINGUISTIC][0]
    by_word: dict[str, list[str]] = {}
    for label in members:
        by_word.setdefault(found[label], []).append(label)
    return [
        MarkerGroup(
            name=f"{word} ({len(labels)})", color=color, symbol="diamond", letter=word[0].upper(), heads=tuple(labels)
        )
        for word, labels in by_word.items()
    ]


def head_rows(columns: list[Column], head: Head) -> list[dict[str, str]]:
    """A row for each quantity: the head's value and rank, and the baseline where there is one."""
    rows = []
    for column in columns:
        spec = column.spec
        baseline = ""
        if column.baseline is not None and column.baseline_name:
            baseline = f"{spec.text(float(column.baseline[head]))} ({column.baseline_name})"
        row = {
            "quantity": spec.label,
            "value": spec.text(column.values[head]),
            "rank": column.rank(head),
            "baseline": baseline,
        }
        rows.append(row)
    return rows


def encoded_cards(results: Results, on_sentence: SentenceValues = MappingProxyType({})) -> bytes:
    """A card for each head, layer by layer, as JSON for the browser.

    Args:
        on_sentence: What the sentence whose lines it shows has of the same numbers; empty where that is not known.
    """
    named = linguistic(results)
    members = behavior_heads(results)
    found = found_by_heads(results)
    quantities = columns(results)
    assert members is not None, "surface patterns or entropy is stored"
    titles = {label: _found(named[label], found[label]) for label in named}
    heads = all_heads(*quantities[0].values.shape)
    cards = []
    for head in heads:
        highest = sorted(_plain(quantities, head), key=lambda column: column.ranks[head])[:ON_CARD]
        card = {
            "title": f"Head {head.full_label()}",
            "behavior": role_words(members, titles, head) or NONE,
            "numbers": [_card_row(each, on_sentence, head) for each in highest],
            "lines": [each.line for each in of_head(results, head) if each.line],
        }
        cards.append(card)
    return json.dumps({"cards": cards}).encode()


def _card_row(column: Column, on_sentence: SentenceValues, head: Head) -> tuple[str, str, str, str]:
    """A quantity, its value on the sentence, which may be empty, its value on the corpora, and its rank there."""
    value = on_sentence.get(column.quantity)
    here = "" if value is None else column.spec.text(float(value[head]))
    return column.spec.label, here, column.spec.text(column.values[head]), column.rank(head)


def _found(name: str, word: str) -> str:
    """What a linguistic head finds, with the relations as their treebank names them."""
    return word if name == COREFERENCE else f"{word} ({name})"


def _plain(quantities: Iterable[Column], head: Head) -> list[Column]:
    """The quantities that say what a head looks at: those of behaviors, and guesses that no other head makes better."""
    return [
        each
        for each in quantities
        if each.quantity in ANALYSES[each.analysis].behaviors
        or (ANALYSES[each.analysis].names_heads and each.ranks[head] == 1)
    ]
