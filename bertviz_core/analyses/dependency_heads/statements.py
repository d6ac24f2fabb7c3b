"""What the paper says of dependency heads (section 4.2; Table 1), and how a result decides it (docs/methods.md, section
6)."""

from functools import partial

import numpy as np

from bertviz_core import paper
from bertviz_core.analyses.base.findings import GAIN, HELD_OUT, Answer, Finding, Interval, Statement, decide, tiny
from bertviz_core.analyses.base.presentation import NamedHead
from bertviz_core.analyses.base.result import cached_on_result
from bertviz_core.analyses.base.statistics import MIN_SCORED, MIN_UNITS, wilson
from bertviz_core.analyses.dependency_heads.guess_counts import NO_RELATION
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, SIDES, offset_words
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.corpora.treebank import ALL, UAS, meaning
from bertviz_core.heads import DirectedHead, arrow

MIN_DIFFERENCE = 0.1  # a substantial difference of shares
OVERALL = 0.15  # A head that is less far above an offset does not parse.
TOTALS = {ALL: "governors, punctuation included", UAS: "governors, punctuation left out"}
ALL_1, DOBJ, DET = (paper.TABLE_1[name] for name in (ALL, "dobj", "det"))
MAX_NAMED = 6  # The best heads of so many relations are named, as many as the paper names.
CONTROL_NOTE = " (of a causal model also above a random word)"
CORRECTED = f"with an interval corrected for the number of relations. {HELD_OUT}"


def relation_sentence(counts: RelationCounts, relation: str) -> str:
    """A sentence on what the best head of a relation finds, the best fixed offset, and of a causal model a random word.

    Args:
        counts: The counts under one view of the trees.
        relation: A relation of `counts`, or one of the totals.
    """
    row = counts.row(relation)
    choice = counts.best_choice(relation)
    words = f"{row['n']:,} {TOTALS.get(relation, relation)}"
    interval = "no interval"
    if not np.isnan(row["low"]):
        interval = f"95% interval {row['low']:.1%} to {row['high']:.1%} over {counts.units_of(relation)}"
    offset = f"the best fixed offset, {row['baseline_offset']:+d}, finds {row['baseline_accuracy']:.1%}"
    notes = f" Trees: {counts.trees}."
    if counts.is_causal:
        side = SIDES[choice.direction]
        words += f" (only those whose governor comes {side} count)"
        offset += f", a random word among those that come {side} {row['random_accuracy']:.1%}"
        whole = f" Of all {row['n_of_all_words']:,} words the head finds {row['accuracy_of_all_words']:.1%}."
        notes = whole + notes
    if not np.isnan(row["heldout_accuracy"]):
        interval += f"; {row['heldout_accuracy']:.1%} held out"
    if row["n"] < MIN_SCORED:
        notes += f" Fewer than {MIN_SCORED} words are too few to decide."
    notes = _other_direction(counts, relation) + notes
    direction = arrow(DIRECTIONS[choice.direction])
    finds = f"Head {choice.head.label()}, {direction}, finds {row['accuracy']:.1%}"
    return f"{finds} of {words} ({interval}); {offset}.{notes}"


def _other_direction(counts: RelationCounts, relation: str) -> str:
    """Where the heads of one direction compete: the best head of both, if it is of the other direction."""
    both = counts.in_direction(None)
    best = both.best_choice(relation)
    if counts.direction in (None, best.direction):
        return ""
    accuracy = both.best_accuracy[counts.relations.index(relation)]
    direction = arrow(DIRECTIONS[best.direction])
    return f" The best head of both directions is {best.head.label()}, {direction}, with {accuracy:.1%}."


def relation_answer(counts: RelationCounts, relation: str) -> Answer:
    """Whether the best head of a relation is above every baseline, see `RelationCounts.states`.

    Args:
        counts: The counts under one view of the trees.
        relation: A relation of `counts`, or one of the totals.
    """
    at = counts.relations.index(relation)
    difference = counts.held_out()[0][at] - counts.control[at]
    sentence = relation_sentence(counts, relation)
    sentence += tiny(counts.gain().at(at), difference, GAIN, f"{100 * GAIN:.0f} points")
    row = counts.row(relation)
    points = f"{relation}, {100 * (row['accuracy'] - row['baseline_accuracy']):.1f} points above the best offset"
    head = counts.best_choice(relation).head
    return Answer(counts.states()[at], sentence, head, number=points, claim=_claim(counts, relation))


def _claim(counts: RelationCounts, relation: str) -> str:
    """The numbers of `relation_sentence` in one line, beside the paper's."""
    row = counts.row(relation)
    head = counts.best_choice(relation).head.label()
    name = TOTALS.get(relation) or relation + (f" ({known})" if (known := meaning(relation)) else "")
    claim = f"Head {head} finds {row['accuracy']:.1%} of {row['n']:,} {name}"
    claim += f"; always {offset_words(row['baseline_offset'])}: {row['baseline_accuracy']:.1%}"
    both = counts.in_direction(None)
    best = both.best_choice(relation)
    if counts.direction not in (None, best.direction):
        accuracy = both.best_accuracy[counts.relations.index(relation)]
        claim += f"; the other direction's {best.head.label()}, {accuracy:.1%}"
    elif relation in counts.in_paper:
        claim += f"; the paper's head, {counts.in_paper[relation][1]}%"
    return claim


@cached_on_result
def relation_finding(counts: RelationCounts, relation: str) -> Finding:
    """The finding of one relation, of the direction whose heads compete, beside what Table 1 says of it where that is
    of the same words and language."""
    statement = ""
    if relation in counts.in_paper:
        head, accuracy, baseline, offset = counts.in_paper[relation]
        statement = f"Head {head} finds {accuracy}% of {relation}, the fixed offset {offset:+d} {baseline}%."
    rule = f"The best head is {GAIN:.0%} or more above the best fixed offset{CONTROL_NOTE}, {CORRECTED}"
    declared = Statement(
        name=relation, section="4.2", statement=statement, rule=rule, answer=partial(relation_answer, relation=relation)
    )
    return declared.finding("dependency_heads", "", counts)


def head_sentence(counts: RelationCounts, relation: str, choice: DirectedHead) -> str:
    """What one head finds of a relation in one direction, with the interval."""
    at = (choice.direction, counts.relations.index(relation))
    low, high = (float(end[at][choice.head]) for end in counts.intervals())
    words = int(counts.counted.sum(0)[at])
    finds = f"finds {counts.accuracy[at][choice.head]:.1%} of {words:,} {TOTALS.get(relation, relation)}"
    interval = "no interval" if np.isnan(low) else f"95% interval {low:.1%} to {high:.1%}"
    return f"The chosen head {choice.head.label()}, {arrow(DIRECTIONS[choice.direction])}, {finds} ({interval})."


def clearest_relation(counts: RelationCounts) -> Answer:
    """Whether the best head of the clearest relation is more than MIN_DIFFERENCE above every baseline.

    The interval of the held-out gain, see `RelationCounts.gain`, is to be above MIN_DIFFERENCE. The clearest
    relation is the first of `RelationCounts.by_gain` (docs/methods.md, section 6, Decisions).

    Raises:
        KeyError: The treebank has no relation with enough words.
    """
    relation = counts.clearest_relation()
    if relation in NO_RELATION:
        raise KeyError("relations")
    state = decide(counts.gain(), MIN_DIFFERENCE)[counts.relations.index(relation)]
    return relation_answer(counts, relation)._replace(state=state)


def no_head_parses(counts: RelationCounts) -> Answer:
    """Whether on all words the best head is less than OVERALL above the best offset.

    With [low, high] the interval of the held-out gain on all words, not corrected for the number of relations, it is
    shown where high < OVERALL: where all of [-high, -low] is above -OVERALL (docs/methods.md, section 6, Decisions).
    """
    states = decide(counts.gain(1).negative(), -OVERALL)
    text = relation_sentence(counts, ALL)
    return Answer(states[counts.relations.index(ALL)], text, counts.best_choice(ALL).head)


def dependents_attend(counts: RelationCounts) -> Answer:
    """Whether of the relations whose best head is above every baseline, more than half have one that reads dependent →
    governor.

    For k of these n relations the interval is Wilson's of k / n; it is shown where all of it is above 0.5, and nothing
    is decided of fewer than MIN_UNITS relations. The other relations do not count: most of their best heads may share a
    direction by chance (docs/methods.md, section 6, Decisions).

    Raises:
        KeyError: The model is causal.
    """
    if counts.is_causal:  # The mask leaves each arc one direction, whatever the heads do.
        raise KeyError("direction")
    is_above = counts.above() & ~np.isin(counts.relations, NO_RELATION)
    directions = counts.best()[is_above, 0]
    n = len(directions)
    forward = int((directions == 0).sum())
    return Answer(
        decide(Interval(*wilson(forward, n), n >= MIN_UNITS), 0.5),
        f"For {forward} of the {n} relations whose best head is above the best fixed offset, that head reads "
        "dependent → governor.",
    )


STATEMENTS = (
    Statement(
        name="relation",
        section="4.2",
        statement=f"Single heads find single relations, far above fixed offsets: {DOBJ[0]} direct objects in "
        f"{DOBJ[1]}% of cases (offset {DOBJ[2]}%), {DET[0]} determiners in {DET[1]}% ({DET[2]}%).",
        rule=f"For the clearest relation the best head is more than {MIN_DIFFERENCE:.0%} above the best offset"
        f"{CONTROL_NOTE}, {CORRECTED}",
        answer=clearest_relation,
        role="a relation",
    ),
    Statement(
        name="overall",
        section="4.2",
        statement=f"No single head does syntax as a whole: the best finds {ALL_1[1]}% of all governors, a fixed offset "
        f"{ALL_1[2]}%.",
        rule=f"On all words the best head is less than {OVERALL:.0%} above the best offset, with its interval. "
        f"{HELD_OUT}",
        answer=no_head_parses,
    ),
    Statement(
        name="direction",
        section="4.2",
        statement="Dependents attend to their governors rather than the other way around, since a word has one "
        "governor and any number of dependents.",
        rule="Of the relations whose best head is above the best fixed offset, more than half have one that reads "
        f"dependent → governor, with the interval of that share; at least {MIN_UNITS} relations.",
        answer=dependents_attend,
    ),
)


# What a head of a relation, Stanford's or UD's, finds in a word.
FOUND = {
    **dict.fromkeys(("dobj", "obj", "iobj", "pobj"), "objects"),
    **dict.fromkeys(("nsubj", "nsubjpass", "nsubj:pass"), "subjects"),
    **dict.fromkeys(("aux", "auxpass", "aux:pass", "cop"), "auxiliaries"),
    **dict.fromkeys(("poss", "nmod:poss"), "possessors"),
    **dict.fromkeys(("prt", "compound:prt"), "particles"),
    **dict.fromkeys(("prep", "case"), "prepositions"),
    **dict.fromkeys(("nn", "compound"), "compounds"),
    "det": "determiners",
    "amod": "adjectives",
    "advmod": "adverbs",
    "num": "numbers",
    "nummod": "numbers",
}


def named_heads(counts: RelationCounts) -> list[NamedHead]:
    """The best head of each relation where that is above the best fixed offset on held-out sentences, largest gain
    first."""
    table = counts.to_frame()
    table = table[~table["relation"].isin(NO_RELATION) & table["above_baseline"]]
    gains = table["heldout_accuracy"] - table["baseline_accuracy"]
    order = gains.sort_values(ascending=False, kind="stable").index[:MAX_NAMED]
    found = zip(table["head"][order], table["relation"][order], strict=True)
    return [NamedHead(head, relation, FOUND.get(relation, "governors")) for head, relation in found]
