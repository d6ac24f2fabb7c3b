"""Heads of noun phrases in a bracketed parse, by Collins' rules (1999, appendix A).

Of an NP's children the head is the last NN, NNP, NNPS, NNS, NX, NML or JJR; else the first NP; else the last $, ADJP or
PRN; else the last CD; else the last JJ, JJS, RB or QP; else the last word. A possessive 's is never the head.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

MARK = re.compile(r"\(([^()*\s]+)|(\*)|(\))")
NOUN_PHRASES = frozenset(("NP", "NX", "NML", "WHNP"))
LAST, FIRST = -1, 1
RULES: tuple[tuple[frozenset[str], int], ...] = (
    (frozenset(("NN", "NNP", "NNPS", "NNS", "NX", "NML", "JJR")), LAST),
    (frozenset(("NP", "WHNP")), FIRST),
    (frozenset(("$", "ADJP", "PRN")), LAST),
    (frozenset(("CD",)), LAST),
    (frozenset(("JJ", "JJS", "RB", "QP")), LAST),
)


@dataclass(slots=True)
class Phrase:
    """`children` are phrases, or words by their index; a phrase spans words[start:end]."""

    label: str
    start: int
    end: int = 0
    children: list[Phrase | int] = field(default_factory=list)
    head: int | None = None


def noun_phrases(parse: Sequence[str]) -> dict[tuple[int, int], Phrase]:
    """(start, end) -> the noun phrase that spans just these words, from one piece of brackets for each word.

    Pieces that do not bracket a tree give the phrases that did close; words outside them have none.
    """
    phrases: dict[tuple[int, int], Phrase] = {}
    unclosed: list[Phrase] = []
    for word, piece in enumerate(parse):
        for label, leaf, closes in MARK.findall(piece):
            if label:
                phrase = Phrase(label.split("-")[0], word)
                if unclosed:
                    unclosed[-1].children.append(phrase)
                unclosed.append(phrase)
            elif leaf and unclosed:
                unclosed[-1].children.append(word)
            elif closes and unclosed:
                done = unclosed.pop()
                done.end = word + 1
                if done.label in NOUN_PHRASES:
                    phrases[done.start, done.end] = done
    return phrases


def phrase_head(phrase: Phrase, tags: Sequence[str]) -> int:
    """The index of the head word; of any phrase but a noun phrase, its last word."""
    passed = []
    node: Phrase | int = phrase
    while isinstance(node, Phrase) and node.head is None:  # phrases nest thousands deep: no recursion, nothing twice
        passed.append(node)
        node = _head_child(node, tags)
    head = node if isinstance(node, int) else node.head
    assert head is not None
    for above in passed:
        above.head = head
    return head


def _head_child(phrase: Phrase, tags: Sequence[str]) -> Phrase | int:
    """The child that the rules choose; the last word where there is none."""
    children = [child for child in phrase.children if isinstance(child, Phrase) or tags[child] != "POS"]
    for labels, order in RULES if phrase.label in NOUN_PHRASES else ():
        for child in children[::order]:
            if (child.label if isinstance(child, Phrase) else tags[child]) in labels:
                return child
    words = [child for child in children if not isinstance(child, Phrase)]
    if words:
        return words[-1]
    inner = [child for child in children if isinstance(child, Phrase)]
    return inner[-1] if inner else phrase.end - 1
