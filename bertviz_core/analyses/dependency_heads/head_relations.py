"""Which relations a head finds, above the best fixed offset, and which heads find relations best."""

from dataclasses import dataclass

import numpy as np

from bertviz_core.analyses.dependency_heads.figure import examples
from bertviz_core.analyses.dependency_heads.guess_counts import NO_RELATION
from bertviz_core.analyses.dependency_heads.guesses import COUNTED, DIRECTIONS, SIDES
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.sentences import SentenceExample
from bertviz_core.heads import DirectedHead, Head, ranks

SENTENCES = 2  # sentences that are drawn for a relation
SHORT = 70  # characters that need no scrolling


@dataclass(frozen=True)
class Relation:
    """How well a head finds a relation, in its better direction.

    Attributes:
        choice: The head, and the direction in which it finds the relation best.
        accuracy: Its accuracy, 0 to 1.
        baseline: The accuracy of the best fixed offset, 0 to 1.
        offset: That offset, in words to the right.
        n: The number of words that are counted.
        others: (layer, head) the same accuracy of every head.
        counted: Which words are counted, as "governor earlier"; empty for all.
    """

    name: str
    choice: DirectedHead
    accuracy: float
    baseline: float
    offset: int
    n: int
    others: np.ndarray
    counted: str = ""

    @property
    def rank(self) -> int:
        """The rank of the head among all heads, from 1."""
        return int(ranks(self.others)[self.choice.head])

    @property
    def sentence(self) -> str:
        """The relation as the strongest one of its head."""
        of = f"{self.n:,} with the {self.counted}" if self.counted else f"{self.n:,}"
        offset = f"(best fixed offset {self.baseline:.1%})"
        return f"Strongest relation: {self.name}, {self.accuracy:.1%} of {of} {offset}"


def relations(counts: RelationCounts, head: Head, count: int = 3) -> list[Relation]:
    """The relations in which a head is above the best fixed offset, the furthest above first."""
    gain = counts.above_offset[:, *head]
    rows = np.array([row for row, name in enumerate(counts.relations) if name not in NO_RELATION], dtype=np.int64)
    order = rows[np.argsort(-gain[rows], kind="stable")[:count]]
    return [_relation(counts, counts.better, row, head) for row in order.tolist() if gain[row] > 0]


def every_relation(counts: RelationCounts, head: Head) -> list[Relation]:
    """All relations of which words count, whether or not the head is above an offset, in its better direction; of a
    causal model in each direction, because each counts other words."""
    words = np.broadcast_to(counts.counted.sum(0)[..., None, None], counts.accuracy.shape)
    directions = np.broadcast_to(np.arange(len(DIRECTIONS))[:, None, None, None], words.shape)
    in_each = zip(counts.accuracy, words, directions, strict=True)
    return [
        _relation(counts, values, row, head)
        for values in (in_each if counts.is_causal else [counts.better])
        for row, name in enumerate(counts.relations)
        if name not in NO_RELATION and values[1][row, *head]
    ]


def relation_of(counts: RelationCounts, name: str, head: Head) -> Relation:
    """How well a head finds a relation."""
    return _relation(counts, counts.better, counts.relations.index(name), head)


def relation_heads(counts: RelationCounts, count: int = 3) -> list[Relation]:
    """The best heads of the relations that they find, see `RelationCounts.above`, the clearest ones first."""
    best = counts.best()
    is_above = counts.above()
    found = [row for row in counts.by_gain() if is_above[row]][:count]
    return [_relation(counts, counts.better, row, Head(*best[row, 1:].tolist())) for row in found]


def _relation(counts: RelationCounts, values: tuple[np.ndarray, ...], row: int, head: Head) -> Relation:
    """A head's relation, from the (relation, layer, head) accuracies, words and directions of all heads."""
    accuracy, n, directions = (each[row][head] for each in values)
    direction = int(directions)
    offsets = counts.offset_accuracy(direction)[:, row]
    return Relation(
        name=counts.relations[row],
        choice=DirectedHead(direction, head),
        accuracy=float(accuracy),
        baseline=float(offsets.max()),
        offset=int(counts.offsets[offsets.argmax()]),
        n=int(n),
        others=values[0][row],
        counted=COUNTED.format(SIDES[direction]) if counts.is_causal else "",
    )


def surest_sentences(counts: RelationCounts, relation: Relation, longest: int = SHORT) -> list[SentenceExample]:
    """The sentences that are shown of a relation: in each all guesses are right, the surest first; of `longest`
    characters at most where there are such."""
    sentences = [each for each in examples(counts, relation.choice, relation.name) if each.right == len(each.chosen)]
    sentences.sort(key=lambda example: -example.weight)
    short = [example for example in sentences if len(" ".join(example.sentence["words"])) <= longest]
    return (short or sentences)[:SENTENCES]
