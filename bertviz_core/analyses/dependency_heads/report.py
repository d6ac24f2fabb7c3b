"""What a report says of the heads that find relations: their rows, and the sentences on which they are drawn."""

from collections.abc import Iterator

from bertviz_core.analyses.base.drawn_inputs import DrawnInput, first_drawable
from bertviz_core.analyses.dependency_heads.figure import examples
from bertviz_core.analyses.dependency_heads.head_relations import relation_heads
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.inputs.tokens import Tokens

DRAWN = 5  # relations whose best heads are drawn


def drawn_inputs(counts: RelationCounts, tokens: Tokens) -> Iterator[DrawnInput]:
    """Figure 5: each clear relation in the short sentence in which its head is right and surest, its words red."""
    for relation in relation_heads(counts, DRAWN):
        direction, head = relation.choice
        sentences = examples(counts, relation.choice, relation.name)
        surest = sorted(sentences, key=lambda each: (each.right / len(each.chosen), each.weight), reverse=True)
        inputs = ((each.sentence["words"], each.where, each.chosen) for each in surest)
        if drawable := first_drawable(inputs, tokens, counts):
            yield DrawnInput(5, head, f"{relation.name}, {relation.accuracy:.1%}", *drawable, red_keys=bool(direction))


def clear_head_rows(counts: RelationCounts) -> list[tuple[str, str, str, str]]:
    """The head of each clear relation, the relation, the head's accuracy, and the best fixed offset's."""
    rows = []
    for each in relation_heads(counts):
        name = f"{each.name}, {each.counted}" if each.counted else each.name
        rows.append((each.choice.head.key(), name, f"{each.accuracy:.1%}", f"best fixed offset {each.baseline:.1%}"))
    return rows
