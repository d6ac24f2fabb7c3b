"""The heads that find relations best, and sentences that show it: on the overview and in a report."""

from collections.abc import Iterator
from functools import partial

from bertviz_core.analyses.base.found_heads import DrawnExample, FoundHead, MarkedInput
from bertviz_core.analyses.dependency_heads.figure import example_svg, examples
from bertviz_core.analyses.dependency_heads.head_relations import Relation, relation_heads, surest_sentences
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.sentences import SentenceExample
from bertviz_core.analyses.dependency_heads.statements import relation_finding

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
