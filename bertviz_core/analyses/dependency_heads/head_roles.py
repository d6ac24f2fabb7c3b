"""What a head is named for: relations, each with sentences that show it."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from bertviz_core.analyses.base.found_heads import HeadRole
from bertviz_core.analyses.base.shown_inputs import Example
from bertviz_core.analyses.dependency_heads.head_facts import relation_row
from bertviz_core.analyses.dependency_heads.head_relations import Relation, relation_of, surest_sentences
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.sentence_list import sentence_example
from bertviz_core.analyses.dependency_heads.statements import named_heads, relation_finding
from bertviz_core.corpora.treebank import meaning
from bertviz_core.heads import Head
from bertviz_core.plotting.arcs import Arc, sentence_svg
from bertviz_core.text_display import isolated

FITS = 56  # characters of a sentence with arcs that need no scrolling beside small figures
CLEAR = 0.3  # the attention from which on a guess is drawn with its number; the others are faint


def head_roles(counts: RelationCounts, head: Head) -> Iterator[HeadRole]:
    """The relations of which it is the best head, as maps mark it."""
    for named in named_heads(counts):
        if named.label == head.key():
            relation = relation_of(counts, named.name, head)
            yield HeadRole(
                name=named.name,
                row=relation_row(counts, relation),
                summary=f"finds {_plural(named.name)} in {100 * relation.accuracy:.0f} of 100",
                finding=relation_finding(counts, named.name),
                examples=partial(_examples, counts, relation),
                draw=partial(guesses_svg, direction=relation.choice.direction),
            )


def _plural(relation: str) -> str:
    """The words of a relation, as "direct objects" or "objects of a preposition"; its label where it has no meaning."""
    noun, of, rest = meaning(relation).partition(" of ")
    if not noun.replace(" ", "").isalpha():  # none, or more than a noun
        return relation
    return f"{noun.removesuffix('y')}ies{of}{rest}" if noun.endswith("y") else f"{noun}s{of}{rest}"


def _examples(counts: RelationCounts, relation: Relation, longest: int) -> list[Example]:
    """The surest sentences; none of a checkpoint of a training, whose sentences are not stored."""
    if counts.stored is None:
        return []
    sentences = surest_sentences(counts, relation, min(longest, FITS))
    return [sentence_example(each, relation.name, relation.choice, every=False) for each in sentences]


def guesses_svg(words: Sequence[str], weights: np.ndarray, direction: int) -> str:
    """A sentence without annotation: the governor that the head guesses for each word, the stronger the nearer to the
    words' color.

    Args:
        words: Two or more.
        weights: (query, key) attention between them.
        direction: 0 where the dependent attends to its governor, 1 where the governor attends to it.
    """
    others = np.where(np.eye(len(words), dtype=bool), -1, weights.T if direction else weights)  # (word, governor)
    arcs = []
    for word, governor in enumerate(others.argmax(1).tolist()):
        weight = float(others[word, governor])
        note = f"{isolated(words[word])} ← {isolated(words[governor])}: {weight:.2f}"
        is_clear = weight >= CLEAR
        arcs.append(Arc(word, governor, f"{weight:.2f}" if is_clear else "", note, faint=not is_clear))
    return sentence_svg(words, [], arcs, f"Governors that the head guesses in: {' '.join(words)}")
