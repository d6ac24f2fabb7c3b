"""What dependency heads say of one head: its best relations, the words that it attends to, and example sentences."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.head_facts import FactColumn, FactTable, HeadFacts
from bertviz_core.analyses.base.head_figures import HeadFigure, HeadRow, column_rows, share_row
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS
from bertviz_core.analyses.dependency_heads.head_relations import (
    Relation,
    every_relation,
    relations,
)
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.analyses.dependency_heads.word_classes import WordClasses
from bertviz_core.corpora.treebank import ALL, UAS, meaning
from bertviz_core.heads import Head, arrow

MAX_CLASSES = 6  # the most classes of words that are listed, by attention
TIMES = "The attention divided by the share of such words among all words."


def relations_figure(columns: Sequence[HeadColumn], result: DependencyHeads, head: Head) -> HeadFigure:
    """The head's UAS, and the relations that it finds furthest above an offset; heads are found by all relations, of
    which each has its better direction."""
    counts = result.default_view()
    best = relations(counts, head)
    ends = counts.intervals()
    uas = tuple(row for _, row in column_rows(columns, result, head))
    return HeadFigure(
        title="Relations that it finds",
        rows=(*uas, *(_relation_row(counts, each, ends) for each in best)),
        sentence="" if best else "It finds no relation better than a fixed offset.",
        candidates=(*uas, *(_relation_row(counts, each, ends) for each in every_relation(counts, head))),
        facts=(_best_relations(counts, best),) if best else (),
        searched={
            name: accuracy
            for name, accuracy in zip(counts.relations, counts.better[0], strict=True)
            if name not in (ALL, UAS)
        },
    )


def _best_relations(counts: RelationCounts, best: Sequence[Relation]) -> HeadFacts:
    """A table of the relations that a head finds."""
    table = FactTable(relation_columns(best), f"The best relations of head {best[0].choice.head.label()}")
    return HeadFacts("Best relations", f" ({counts.trees}), with the best fixed offset", (table,))


def relation_columns(best: Sequence[Relation]) -> tuple[FactColumn, ...]:
    """A row for each relation of a head: its accuracy beside the best fixed offset's, and its rank among all heads."""
    return (
        FactColumn("relation", [each.name for each in best]),
        FactColumn("meaning", [meaning(each.name) for each in best]),
        FactColumn("found", [f"{each.accuracy:.1%}" for each in best]),
        FactColumn("best offset", [f"{each.baseline:.1%} ({each.offset:+d})" for each in best]),
        FactColumn("rank", [f"{each.rank} of {each.others.size}" for each in best]),
        FactColumn("words", [f"{each.n:,}" + (f", {each.counted}" if each.counted else "") for each in best]),
        FactColumn("direction", [arrow(DIRECTIONS[each.choice.direction]) for each in best]),
    )


def relation_row(counts: RelationCounts, relation: Relation) -> HeadRow:
    """A relation of a head among the accuracies of all heads."""
    return _relation_row(counts, relation, counts.intervals())


def _relation_row(counts: RelationCounts, relation: Relation, ends: tuple[np.ndarray, np.ndarray]) -> HeadRow:
    """A relation among the accuracies of all heads; `ends` is `counts.intervals()`."""
    at = (relation.choice.direction, counts.relations.index(relation.name), *relation.choice.head)
    return share_row(
        f"{_with_meaning(relation.name)} found" + (f", {relation.counted}" if relation.counted else ""),
        relation.others,
        relation.choice.head,
        interval=(float(ends[0][at]), float(ends[1][at])),
        baseline=relation.baseline,
        baseline_name=f"best offset {relation.offset:+d}:",
    )


def words_figure(result: DependencyHeads, view: str, scheme: str, head: Head) -> HeadFigure:
    """The shares of the head's attention to words of each class of a scheme, the largest first, beside uniform
    attention's; the class that gets most beyond its share may set the head apart."""
    classes = result.word_classes
    rows = _word_rows(classes, scheme, head)
    best = max(rows, key=lambda row: row.value - row.baseline, default=None)
    return HeadFigure(
        title=f"Words that it attends to, by {'relation' if scheme == view else scheme}",
        rows=tuple(rows[:MAX_CLASSES]),
        distinctive=(_with_whole_name(best),) if best and best.value > best.baseline else (),
        candidates=tuple(map(_with_whole_name, rows)),
    )


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
    classes = result.word_classes
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


def words_facts(result: DependencyHeads, view: str, head: Head) -> HeadFigure:
    """The same as tables, under the head's numbers."""
    return HeadFigure(f"Words that head {head.label()} attends to", facts=tuple(attended_words(result, view, head)))


def preferred(result: DependencyHeads, view: str, head: Head) -> list[str]:
    """The part of speech and the relation whose words the head attends to most beyond their share."""
    classes = result.word_classes
    return [text for scheme in classes.schemes(view) for text in classes.preferred(scheme, [head]) if text]
