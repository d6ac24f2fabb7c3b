"""Dependency heads: which head finds which relation of a treebank (section 4.2; Table 1)."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from bertviz_core import paper
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.findings import HELD_OUT, Answer, Finding, Interval, Statement, decide
from bertviz_core.analyses.base.request import Options
from bertviz_core.analyses.base.statistics import MIN_SCORED, MIN_UNITS, wilson
from bertviz_core.analyses.dependency_heads.figure import latex, more_figures, paper_figure
from bertviz_core.analyses.dependency_heads.guesses import DEFAULT_VIEW, DIRECTIONS, SIDES, VIEW_NAMES
from bertviz_core.analyses.dependency_heads.relations import NO_RELATION, RelationCounts
from bertviz_core.analyses.dependency_heads.result import DependencyHeads, RelationFilter
from bertviz_core.corpora.treebank import ALL, UAS
from bertviz_core.heads import arrow

POINTS = 0.1  # a substantial gap between shares
OVERALL = 0.15  # how far above an offset one head may be, and still not parse
TOTALS = {ALL: "governors, punctuation included", UAS: "governors, punctuation left out"}
ALL_1, DOBJ, DET = (paper.TABLE_1[name] for name in (ALL, "dobj", "det"))
CONTROL = " (of a causal model also above a random word)"
CORRECTED = f"with an interval corrected for the number of relations. {HELD_OUT}"


def relation_sentence(shown: RelationCounts, relation: str, base: int) -> str:
    """What the best head of a relation finds, the best fixed offset, and of a causal model a random word."""
    row = shown.row(relation)
    choice = shown.best_choice(relation)
    words = f"{row['n']:,} {TOTALS.get(relation, relation)}"
    interval = "no interval"
    if not np.isnan(row["low"]):
        interval = f"95% interval {row['low']:.1%} to {row['high']:.1%} over {shown.units_of(relation)}"
    offset = f"the best fixed offset, {row['baseline_offset']:+d}, finds {row['baseline_accuracy']:.1%}"
    notes = f" Trees: {shown.trees}."
    if shown.is_causal:
        side = SIDES[choice.direction]
        words += f" (only those whose governor comes {side} count)"
        offset += f", a random word among those that come {side} {row['random_accuracy']:.1%}"
        whole = f" Of all {row['n_of_all_words']:,} words the head finds {row['accuracy_of_all_words']:.1%}."
        notes = whole + notes
    if not np.isnan(row["heldout_accuracy"]):
        interval += f"; {row['heldout_accuracy']:.1%} held out"
    if row["n"] < MIN_SCORED:
        notes += f" Fewer than {MIN_SCORED} words are too few to decide."
    direction = arrow(DIRECTIONS[choice.direction])
    finds = f"Head {choice.head.label(base)}, {direction}, finds {row['accuracy']:.1%}"
    return f"{finds} of {words} ({interval}); {offset}.{notes}"


def relation_answer(shown: RelationCounts, base: int, relation: str, points: float = 0.0) -> Answer:
    """Whether the best head of a relation is more than `points` above `RelationCounts.control`."""
    state = decide(shown.gain(), points)[shown.relations.index(relation)]
    return Answer(state, relation_sentence(shown, relation, base), shown.best_choice(relation).head)


def relation_finding(shown: RelationCounts, relation: str, base: int = 1) -> Finding:
    """The finding of one relation, beside what Table 1 says of it."""
    statement = ""
    if relation in paper.TABLE_1:
        head, accuracy, baseline, offset = paper.TABLE_1[relation]
        statement = f"Head {head} finds {accuracy}% of {relation}, the fixed offset {offset:+d} {baseline}%."
    rule = f"The best head is above the best fixed offset{CONTROL}, {CORRECTED}"
    declared = Statement(relation, "4.2", statement, rule, partial(relation_answer, relation=relation))
    return declared.finding("dependency_heads", "", shown, base)


def clearest_relation(shown: RelationCounts, base: int) -> Answer:
    relation = shown.clearest_relation()
    if relation in NO_RELATION:
        raise KeyError("relations")
    return relation_answer(shown, base, relation, POINTS)


def no_head_parses(shown: RelationCounts, base: int) -> Answer:
    states = decide(shown.gain(1).negative(), -OVERALL)
    text = relation_sentence(shown, ALL, base)
    return Answer(states[shown.relations.index(ALL)], text, shown.best_choice(ALL).head)


def dependents_attend(shown: RelationCounts, base: int) -> Answer:
    """Only relations above their baseline count: of the others, most best heads may share a direction by chance."""
    if shown.is_causal:  # each arc has one direction alone, whatever its heads do
        raise KeyError("direction")
    is_above = shown.above() & ~np.isin(shown.relations, NO_RELATION)
    directions = shown.best()[is_above, 0]
    n = len(directions)
    forward = int((directions == 0).sum())
    return Answer(
        decide(Interval(*wilson(forward, n), n >= MIN_UNITS), 0.5),
        f"For {forward} of the {n} relations whose best head is above the best fixed offset, that head reads "
        "dependent → governor.",
    )


STATEMENTS = (
    Statement(
        "relation",
        "4.2",
        f"Single heads find single relations, far above fixed offsets: {DOBJ[0]} direct objects in {DOBJ[1]}% of cases "
        f"(offset {DOBJ[2]}%), {DET[0]} determiners in {DET[1]}% ({DET[2]}%).",
        f"For the clearest relation the best head is more than {POINTS:.0%} above the best offset"
        f"{CONTROL}, {CORRECTED}",
        clearest_relation,
    ),
    Statement(
        "overall",
        "4.2",
        f"No single head does syntax as a whole: the best finds {ALL_1[1]}% of all governors, a fixed offset "
        f"{ALL_1[2]}%.",
        f"On all words the best head is less than {OVERALL:.0%} above the best offset, with its interval. {HELD_OUT}",
        no_head_parses,
    ),
    Statement(
        "direction",
        "4.2",
        "Dependents attend to their governors rather than the other way around, since a word has one governor and any "
        "number of dependents.",
        "Of the relations whose best head is above the best fixed offset, more than half have one that reads "
        f"dependent → governor, with the interval of that share; at least {MIN_UNITS} relations.",
        dependents_attend,
    ),
)


@dataclass(frozen=True)
class DependencyOptions(Options):
    """Options that change the counts."""

    possessives: Annotated[bool, Doc("The paper's rule for poss before 's.")] = False


def _uas(result: DependencyHeads) -> np.ndarray:
    """(layer, head) UAS of each head alone, in its better direction."""
    shown = result.default_view()
    return np.asarray(shown.better[0][shown.relations.index(UAS)])


def _best_offset(result: DependencyHeads) -> tuple[float, str]:
    shown = result.default_view()
    return float(shown.baseline[shown.relations.index(UAS)]), "best offset"


class DependencyAnalysis(Analysis):
    """Right guesses of governors by every head."""

    name = "dependency_heads"
    title = "Dependency heads"
    summary = "Which head finds which relation of a treebank, against fixed offsets (section 4.2; Table 1)."
    section = "Section 4.2, Table 1"
    icon = ":material/account_tree:"
    corpus = "treebank"
    forward_passes = 1.4
    result_class = DependencyHeads
    options = DependencyOptions
    view = RelationFilter
    columns = (
        HeadColumn("UAS", f"UAS of this head alone ({VIEW_NAMES[DEFAULT_VIEW]})", _uas, _best_offset, percent=True),
    )
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    latex = staticmethod(latex)
    prefix = ""
