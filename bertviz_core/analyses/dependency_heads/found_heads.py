"""The heads that find relations best, and sentences that show it: on the overview and in a report."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from bertviz_core.analyses.base.found_heads import ChosenHeads, DrawnExample, FoundHead, MarkedInput
from bertviz_core.analyses.base.result import cached_on_result
from bertviz_core.analyses.dependency_heads.figure import example_svg, examples
from bertviz_core.analyses.dependency_heads.guess_counts import NO_RELATION
from bertviz_core.analyses.dependency_heads.head_relations import Relation, relation_heads, surest_sentences
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.sentences import SentenceExample
from bertviz_core.analyses.dependency_heads.statements import relation_finding
from bertviz_core.heads import Head

MOST = 5  # relations


def found_heads(counts: RelationCounts) -> Iterator[FoundHead]:
    """The best head of each of the clearest relations."""
    for relation in relation_heads(counts, MOST):
        yield FoundHead(
            head=relation.choice.head,
            name=relation.name,
            text=f"{relation.accuracy:.1%}",
            is_of_keys=bool(relation.choice.direction),
            inputs=partial(_inputs, counts, relation),
            counted=relation.counted,
            baseline=f"best fixed offset {relation.baseline:.1%}",
            finding=relation_finding(counts, relation.name),
            target=relation.name,
            more="Show all sentences",
            draw=partial(_drawings, counts, relation),
        )


@cached_on_result
def chosen_heads(counts: RelationCounts) -> list[ChosenHeads]:
    """The heads that are chosen on each half of the treebank for each relation with words in both."""
    heads = np.stack(counts.best_of_halves())[..., 1:].tolist()  # (fold, relation, 2)
    has_heads = ~np.isnan(counts.held_out()[0]) & ~np.isin(counts.relations, NO_RELATION)
    rows = zip(counts.relations, zip(*heads, strict=True), counts.above().tolist(), has_heads, strict=True)
    return [
        ChosenHeads(name, tuple(sorted({Head(*head) for head in chosen})), is_found)
        for name, chosen, is_found, is_known in rows
        if is_known
    ]


def _inputs(counts: RelationCounts, relation: Relation) -> list[MarkedInput]:
    """The sentences in which the head is right and surest first, with the words of the relation."""
    sentences = examples(counts, relation.choice, relation.name)
    surest = sorted(sentences, key=lambda each: (each.right / len(each.chosen), each.weight), reverse=True)
    return list(map(_marked, surest))


def _drawings(counts: RelationCounts, relation: Relation) -> list[DrawnExample]:
    sentences = surest_sentences(counts, relation)
    return [DrawnExample(_marked(each), example_svg(each, relation.choice)) for each in sentences]


def _marked(example: SentenceExample) -> MarkedInput:
    return MarkedInput(example.where, tuple(example.sentence["words"]), tuple(example.chosen))
