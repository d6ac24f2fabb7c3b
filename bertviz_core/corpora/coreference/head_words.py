"""The head word of a mention, and whether it is a pronoun, a proper name or a nominal (4.3).

With trees: the first of the mention's words whose governor lies outside it. With a bracketed parse and tags: where a
noun phrase spans just the mention, its head by Collins' rules (1999, appendix A). Else the rule: the last word before
the first preposition, comma or relative pronoun (BREAKS) that is not the mention's first word, where marks without a
letter or digit and a possessive 's at the end of what is left are passed over.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from bertviz_core.corpora.coreference.documents import CoreferenceDocument, Mention
from bertviz_core.corpora.coreference.mentions import PRONOUNS, word_list

TYPES = ("pronoun", "proper", "nominal")
PREPOSITIONS = word_list(
    "about above across after against along among around as at before behind below beneath beside between beyond by "
    "despite down during except for from in inside into like near of off on onto out outside over past since through "
    "throughout till to toward towards under until up upon via with within without"
)
RELATIVES = word_list("that which who whom whose where when")
BREAKS = PREPOSITIONS | RELATIVES | {","}
POSSESSIVES = frozenset(("'s", "’s", "'", "’"))
PRONOUN_TAGS = frozenset(("PRP", "PRP$", "PRON"))
PROPER_TAGS = frozenset(("NNP", "NNPS", "PROPN"))
MARK = re.compile(r"\(([^()*\s]+)|(\*)|(\))")
NOUN_PHRASES = frozenset(("NP", "NX", "NML", "WHNP"))
LAST, FIRST = -1, 1
# Of an NP's children the head is the last of the first set that has any, and so on; else the last word. A possessive 's
# is never the head.
RULES: tuple[tuple[frozenset[str], int], ...] = (
    (frozenset(("NN", "NNP", "NNPS", "NNS", "NX", "NML", "JJR")), LAST),
    (frozenset(("NP", "WHNP")), FIRST),
    (frozenset(("$", "ADJP", "PRN")), LAST),
    (frozenset(("CD",)), LAST),
    (frozenset(("JJ", "JJS", "RB", "QP")), LAST),
)


def head_words(document: CoreferenceDocument) -> tuple[int, ...]:
    """The head word of each mention, by its index among the document's words."""
    rule = _rule(document.words)
    if document.governors is not None:
        first_outside = _first_outside(document.governors)
        return tuple(rule(m) if (head := first_outside(m)) is None else head for m in document.mentions)
    if document.parse is None or document.tags is None:
        return tuple(map(rule, document.mentions))
    phrases, tags = noun_phrases(document.parse), document.tags
    spans = ((phrases.get((mention.start, mention.end)), mention) for mention in document.mentions)
    return tuple(phrase_head(phrase, tags) if phrase else rule(mention) for phrase, mention in spans)


def head_word_source(document: CoreferenceDocument) -> str:
    """ "trees", "parse" or "rule": what decides the document's head words, the rule where the first two say nothing."""
    if document.governors is not None:
        return "trees"
    return "rule" if document.parse is None or document.tags is None else "parse"


def mention_type(document: CoreferenceDocument, head: int) -> int:
    """The index in TYPES, by the head's tag; without tags by a closed list of pronouns and by capitals."""
    if document.tags is not None:
        tag = document.tags[head]
        return 0 if tag in PRONOUN_TAGS else 1 if tag in PROPER_TAGS else 2
    if document.words[head].lower() in PRONOUNS:
        return 0
    return 1 if document.words[head][:1].isupper() and head not in _starts(document.sentences) else 2


@lru_cache(maxsize=2)
def _starts(sentences: tuple[int, ...]) -> frozenset[int]:
    return frozenset(sentences)


# Mentions may nest thousands deep: neither way below looks at every word of every mention.


def _first_outside(governors: tuple[int, ...]) -> Callable[[Mention], int | None]:
    """Gives the first word of a mention whose governor lies outside it, by the extremes of ever longer blocks."""
    levels: list[tuple[Sequence[int], Sequence[int]]] = [(governors, governors)]  # blocks of 1, 2, 4, ... words
    while len(levels[-1][0]) > 1:
        low, high = levels[-1]
        pairs = range(0, len(low), 2)
        levels.append(([min(low[i : i + 2]) for i in pairs], [max(high[i : i + 2]) for i in pairs]))

    def first(mention: Mention) -> int | None:
        word, level = mention.start, 0
        while word < mention.end:
            low, high = levels[level]
            if low[word >> level] < mention.start or high[word >> level] >= mention.end:
                if not level:
                    return word
                level -= 1
            else:
                word += 1 << level
                level += level + 1 < len(levels) and not (word >> level) & 1
        return None

    return first


def _rule(words: tuple[str, ...]) -> Callable[[Mention], int]:
    """Gives the head of a mention without trees or parse."""
    breaks = [index for index, word in enumerate(words) if word.lower() in BREAKS]
    heads = [i for i, word in enumerate(words) if any(map(str.isalnum, word)) and word.lower() not in POSSESSIVES]

    def head(mention: Mention) -> int:
        after = bisect_right(breaks, mention.start)
        end = min([mention.end, *breaks[after : after + 1]])
        before = bisect_left(heads, end)
        return max(mention.start, heads[before - 1]) if before else mention.start

    return head


@dataclass
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
