"""What dependency heads say of one head: its best relations and the words that it attends to; and example sentences."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.head_facts import ExampleDrawing, FactColumn, FactTable, HeadExamples, HeadFacts
from bertviz_core.analyses.dependency_heads.figure import example_svg
from bertviz_core.analyses.dependency_heads.guesses import DEFAULT_VIEW, DIRECTIONS
from bertviz_core.analyses.dependency_heads.head_relations import (
    Relation,
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


def best_relations(counts: RelationCounts, head: Head, base: int) -> list[HeadFacts]:
    """A table of the relations that the head finds; none where it is above no fixed offset."""
    (best,) = relations(counts, [head])
    if not best:
        return []
    columns = relation_columns(best, int(np.prod(counts.correct.shape[3:])))
    table = FactTable(columns, f"The best relations of head {head.label(base)}")
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


def attended_words(result: DependencyHeads, view: str, head: Head, base: int) -> list[HeadFacts]:
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
    label = head.label(base)
    tables = (_attended_table(attended, titles[scheme], label) for scheme, attended in by_scheme.items())
    title = f"Words that head {label} attends to"
    return [HeadFacts(title, " (% of its attention to words)", tuple(tables), text)]


def _attended_table(attended: pd.DataFrame, title: str, head: str) -> FactTable:
    """The classes of words of one scheme, from `WordClasses.attended`."""
    names = [f"{name} ({meaning(name)})" if meaning(name) else name for name in attended["name"]]
    columns = (
        FactColumn(title, names, width=190),
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


def relation_examples(counts: RelationCounts, base: int) -> list[HeadExamples]:
    """Sentences that show the best heads of the clearest relations."""
    return [_examples_of(counts, relation, base) for relation in relation_heads(counts)]


def _examples_of(counts: RelationCounts, relation: Relation, base: int) -> HeadExamples:
    drawings = []
    for each in surest_sentences(counts, relation):
        words = tuple(each.sentence["words"])
        drawings.append(ExampleDrawing(each.where, example_svg(each, relation.choice), words, tuple(each.chosen)))
    return HeadExamples(
        relation_finding(counts, relation.name, base),
        relation.name,
        relation.choice.head,
        relation.choice.direction,
        tuple(drawings),
        "Show all sentences",
    )
