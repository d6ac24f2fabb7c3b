"""What dependency heads say of one head: its best relations, the words that it attends to, and example sentences."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.head_facts import ExampleDrawing, FactColumn, FactTable, HeadExamples, HeadFacts
from bertviz_core.analyses.base.head_figures import HeadFigure, HeadRow, share_row
from bertviz_core.analyses.dependency_heads.figure import example_svg
from bertviz_core.analyses.dependency_heads.guesses import DEFAULT_VIEW, DIRECTIONS
from bertviz_core.analyses.dependency_heads.head_relations import (
    Relation,
    every_relation,
    relation_heads,
    relations,
    surest_sentences,
)
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.analyses.dependency_heads.statements import relation_finding
from bertviz_core.analyses.dependency_heads.word_classes import WordClasses
from bertviz_core.corpora.treebank import meaning
from bertviz_core.heads import Head, arrow

MAX_CLASSES = 6  # the most classes of words that are listed, by attention
TIMES = "The attention divided by the share of such words among all words."


def best_relations(counts: RelationCounts, head: Head) -> list[HeadFacts]:
    """A table of the relations that the head finds; none where it is above no fixed offset."""
    (best,) = relations(counts, [head])
    if not best:
        return []
    columns = relation_columns(best, int(np.prod(counts.correct.shape[3:])))
    table = FactTable(columns, f"The best relations of head {head.label()}")
    return [HeadFacts("Best relations", f" ({counts.trees}), with the best fixed offset", (table,))]


def relation_columns(best: Sequence[Relation], heads: int) -> tuple[FactColumn, ...]:
    """A row for each relation of a head: its accuracy beside the best fixed offset's, and its rank among `heads`."""
    return (
        FactColumn("relation", [each.name for each in best]),
        FactColumn("meaning", [meaning(each.name) for each in best]),
        FactColumn("found", [f"{each.accuracy:.1%}" for each in best]),
        FactColumn("best offset", [f"{each.baseline:.1%} ({each.offset:+d})" for each in best]),
        FactColumn("rank", [f"{each.rank} of {heads}" for each in best]),
        FactColumn("words", [f"{each.n:,}" + (f", {each.counted}" if each.counted else "") for each in best]),
        FactColumn("direction", [arrow(DIRECTIONS[each.choice.direction]) for each in best]),
    )


def relation_rows(counts: RelationCounts, head: Head) -> list[HeadRow]:
    """The relations that the head finds above the best fixed offset, each head in its better direction."""
    (best,) = relations(counts, [head])
    accuracy = counts.better[0]
    ends = counts.intervals()
    return [_relation_row(counts, each, accuracy[counts.relations.index(each.name)], ends) for each in best]


def every_relation_row(counts: RelationCounts, head: Head) -> list[HeadRow]:
    """The same of all relations; of a causal model in each direction, among the words that this direction counts."""
    ends = counts.intervals()
    return [_relation_row(counts, each, shares, ends) for each, shares in every_relation(counts, head)]


def _relation_row(
    counts: RelationCounts, relation: Relation, shares: np.ndarray, ends: tuple[np.ndarray, np.ndarray]
) -> HeadRow:
    """A row of `relation_rows`, among the (layer, head) accuracies of all heads; `ends` is `counts.intervals()`."""
    at = (relation.choice.direction, counts.relations.index(relation.name), *relation.choice.head)
    return share_row(
        f"{_with_meaning(relation.name)} found" + (f", {relation.counted}" if relation.counted else ""),
        shares,
        relation.choice.head,
        interval=(float(ends[0][at]), float(ends[1][at])),
        baseline=relation.baseline,
        baseline_name=f"best offset {relation.offset:+d}:",
    )


def word_figures(result: DependencyHeads, view: str, head: Head) -> list[HeadFigure]:
    """The shares of the head's attention to words by part of speech and by relation, beside uniform attention's."""
    classes = WordClasses(result)
    figures = []
    for scheme in classes.schemes(view):
        rows = tuple(_word_rows(classes, scheme, head)[:MAX_CLASSES])
        (preferred,) = classes.preferred(scheme, [head])
        sentence = f"Of its attention to words most beyond their share: {preferred}." if preferred else ""
        title = f"Words that it attends to, by {'relation' if scheme == view else scheme}"
        if rows:
            figures.append(HeadFigure(title, rows, sentence=sentence))
    return figures


def preferred_rows(result: DependencyHeads, view: str, head: Head) -> list[HeadRow]:
    """The class of words that gets most beyond its share of the head's attention, by part of speech and by relation."""
    classes = WordClasses(result)
    by_scheme = [_word_rows(classes, scheme, head) for scheme in classes.schemes(view)]
    best = [max(rows, key=lambda row: row.value - row.baseline) for rows in by_scheme if rows]
    return [_with_whole_name(row) for row in best if row.value > row.baseline]


def every_class_row(result: DependencyHeads, view: str, head: Head) -> list[HeadRow]:
    """The share of every class of words in the head's attention, under the names of `preferred_rows`."""
    classes = WordClasses(result)
    return [_with_whole_name(row) for scheme in classes.schemes(view) for row in _word_rows(classes, scheme, head)]


def _with_whole_name(row: HeadRow) -> HeadRow:
    return replace(row, name=f"attention to words that goes to {row.name}")


def _word_rows(classes: WordClasses, scheme: str, head: Head) -> list[HeadRow]:
    """A row for each class of words, the largest share first."""
    names, shares, expected = classes.shares(scheme)
    order = [names.index(name) for name in classes.attended(scheme, head)["name"]]
    uniform = "uniform attention"
    return [
        share_row(_with_meaning(names[row]), shares[row], head, baseline=float(expected[row]), baseline_name=uniform)
        for row in order
    ]


def _with_meaning(name: str) -> str:
    return f"{name} ({meaning(name)})" if meaning(name) else name


def attended_words(result: DependencyHeads, view: str, head: Head) -> list[HeadFacts]:
    """The head's attention to words by part of speech and by relation under a view; none where it attends to none."""
    classes = WordClasses(result)
    by_scheme = {scheme: classes.attended(scheme, head) for scheme in classes.schemes(view)}
    by_scheme = {scheme: attended[:MAX_CLASSES] for scheme, attended in by_scheme.items() if len(attended)}
    if not by_scheme:
        return []
    text = f"{classes.to_words[head]:.0%} of this head's attention goes to words, the rest to special tokens."
    preferred = [name for scheme in by_scheme for name in classes.preferred(scheme, [head]) if name]
    if preferred:
        text += f" Beyond their share it attends most to {' and '.join(preferred)}."
    titles = {scheme: "relation" if scheme == view else scheme for scheme in by_scheme}
    label = head.label()
    tables = (_attended_table(attended, titles[scheme], label) for scheme, attended in by_scheme.items())
    title = f"Words that head {label} attends to"
    return [HeadFacts(title, " (% of its attention to words)", tuple(tables), text)]


def _attended_table(attended: pd.DataFrame, title: str, head: str) -> FactTable:
    """The classes of words of one scheme, from `WordClasses.attended`."""
    columns = (
        FactColumn(title, [*map(_with_meaning, attended["name"])], width=190),
        FactColumn("attention", (100 * attended["share"]).tolist(), "bar", width=95),
        FactColumn("of all words", (100 * attended["expected"]).tolist(), "percent", width=90),
        FactColumn("times", attended["times"].tolist(), "times", width=60, help=TIMES),
    )
    return FactTable(columns, f"How the attention of head {head} to words divides by {title}")


def attends_to(result: DependencyHeads, heads: Sequence[Head]) -> list[list[str]]:
    """For each head the part of speech and the relation whose words it attends to most beyond their share."""
    classes = WordClasses(result)
    preferred = [classes.preferred(scheme, heads) for scheme in classes.schemes(DEFAULT_VIEW)]
    return [[text for text in of_head if text] for of_head in zip(*preferred, strict=True)]


def relation_examples(counts: RelationCounts) -> list[HeadExamples]:
    """Sentences that show the best heads of the clearest relations."""
    return [_examples_of(counts, relation) for relation in relation_heads(counts)]


def _examples_of(counts: RelationCounts, relation: Relation) -> HeadExamples:
    drawings = []
    for each in surest_sentences(counts, relation):
        words = tuple(each.sentence["words"])
        drawings.append(ExampleDrawing(each.where, example_svg(each, relation.choice), words, tuple(each.chosen)))
    return HeadExamples(
        finding=relation_finding(counts, relation.name),
        target=relation.name,
        head=relation.choice.head,
        direction=relation.choice.direction,
        drawings=tuple(drawings),
        more="Show all sentences",
    )
