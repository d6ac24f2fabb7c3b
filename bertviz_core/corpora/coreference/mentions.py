"""Mentions: their head words, their types, and the items of an analysis (docs/methods.md, section 7)."""

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.coreference import CoreferenceDocument, Mention, Span

TYPES = ("pronoun", "proper", "nominal")
PREPOSITIONS = (
    "about above across after against along among around as at before behind below beneath beside between beyond by "
    "despite down during except for from in inside into like near of off on onto out outside over past since through "
    "throughout till to toward towards under until up upon via with within without"
)
BREAKS = frozenset((*PREPOSITIONS.split(), "that", "which", "who", "whom", "whose", "where", "when", ","))
POSSESSIVES = ("'s", "’s", "'", "’")
PRONOUN_TAGS = ("PRP", "PRP$", "PRON")
PROPER_TAGS = ("NNP", "NNPS", "PROPN")
# Words that begin a sentence as mentions of their own, and are no names.
INDEFINITE = (
    "all another any anybody anyone anything both each either enough everybody everyone everything few many more most "
    "much neither nobody none nothing others people several some somebody someone something such"
)
MARK = re.compile(r"\(([^()*\s]+)|(\*)|(\))")
NOUN_PHRASES = ("NP", "NX", "NML", "WHNP")
LAST, FIRST = -1, 1
# An NP's head is the last (or first) child in the first of these sets that has any, else the last word; 's never is.
RULES = (
    (("NN", "NNP", "NNPS", "NNS", "NX", "NML", "JJR"), LAST),
    (("NP", "WHNP"), FIRST),
    (("$", "ADJP", "PRN"), LAST),
    (("CD",), LAST),
    (("JJ", "JJS", "RB", "QP"), LAST),
)


@dataclass(frozen=True)
class AgreementFeatures:
    """Features in which a pronoun and its antecedent agree.

    Attributes:
        number: Singular or plural; empty where unknown.
        gender: Masculine, feminine or neuter; empty where unknown.
        person: 1 to 3.
    """

    number: str
    gender: str
    person: int

    def agrees(self, other: "AgreementFeatures") -> bool:
        """Whether all features that are known of both are equal."""
        pairs = ((self.number, other.number), (self.gender, other.gender))
        return self.person == other.person and all(not a or not b or a == b for a, b in pairs)


PRONOUNS = {
    word: AgreementFeatures(number, gender, person)
    for words, number, gender, person in (
        ("i me my mine myself", "singular", "", 1),
        ("we us our ours ourselves", "plural", "", 1),
        ("you your yours yourself yourselves", "", "", 2),
        ("he him his himself", "singular", "masculine", 3),
        ("she her hers herself", "singular", "feminine", 3),
        ("it its itself", "singular", "neuter", 3),
        ("they them their theirs themselves these those", "plural", "", 3),
        ("this that one oneself", "singular", "", 3),
        ("who whom whose which", "", "", 3),
    )
    for word in words.split()
}


def head_words(document: CoreferenceDocument) -> tuple[int, ...]:
    """The head word of each mention, by its index among the document's words."""
    mentions = document.mentions
    source = head_word_source(document)
    heads: list[int | None] = [None] * len(mentions)
    if source == "trees":
        governors = np.array(document.governors)
        heads = [_first_outside(governors, mention) for mention in mentions]
    elif source == "parse":
        phrases = _phrase_heads(document.parse or (), document.tags or ())
        heads = [phrases.get((mention.start, mention.end)) for mention in mentions]
    find_by_rule = _head_finder(document.words)
    pairs = zip(mentions, heads, strict=True)
    return tuple(find_by_rule(mention) if head is None else head for mention, head in pairs)


def head_word_source(document: CoreferenceDocument) -> str:
    """ "trees", "parse" or "rule": what decides head words, the rule also where the first two find none."""
    if document.governors is not None:
        return "trees"
    return "rule" if document.parse is None or document.tags is None else "parse"


def mention_type(document: CoreferenceDocument, head: int) -> int:
    """The index in TYPES, by the head's tag; without tags by a closed list of pronouns and by capitals.

    Any word has a capital where it begins a sentence. There it is no name if it is one of INDEFINITE, or if the
    document has it in lower case too.
    """
    if document.tags is not None:
        tag = document.tags[head]
        is_pronoun = tag in PRONOUN_TAGS
        is_proper = tag in PROPER_TAGS
    else:
        word = document.words[head]
        start = document.sentences[bisect_right(document.sentences, head) - 1]
        is_pronoun = word.lower() in PRONOUNS
        is_common = head == start and (word.lower() in INDEFINITE.split() or word.lower() in document.distinct_words)
        is_proper = word[:1].isupper() and not is_common
    if is_pronoun:
        return 0
    return 1 if is_proper else 2


def _first_outside(governors: np.ndarray, mention: Mention) -> int | None:
    """The first word governed from outside."""
    own = governors[mention.start : mention.end]
    outside = np.flatnonzero((own < mention.start) | (own >= mention.end))
    return mention.start + int(outside[0]) if outside.size else None


def _head_finder(words: Sequence[str]) -> Callable[[Mention], int]:
    """A function that finds the head: the last word, without punctuation and a possessive 's, before the first of
    BREAKS after the mention's first word. It is fast for mentions that nest thousands deep."""
    breaks = [index for index, word in enumerate(words) if word.lower() in BREAKS]
    heads = [i for i, word in enumerate(words) if any(map(str.isalnum, word)) and word.lower() not in POSSESSIVES]

    def head(mention: Mention) -> int:
        after = bisect_right(breaks, mention.start)
        end = min([mention.end, *breaks[after : after + 1]])
        before = bisect_left(heads, end)
        return max(mention.start, heads[before - 1]) if before else mention.start

    return head


class Child(NamedTuple):
    """A child of a node in a constituency parse.

    Attributes:
        label: Its label, or its tag where it is a word.
        head: Its head word.
    """

    label: str
    head: int
    is_word: bool


def _phrase_heads(parse: Sequence[str], tags: Sequence[str]) -> dict[Span, int]:
    """The heads of noun phrases that close, by Collins' rules (1999, appendix A), from a piece of brackets a word."""
    heads: dict[Span, int] = {}
    unclosed: list[tuple[str, int, list[Child]]] = []  # label, first word, children
    for word, piece in enumerate(parse):
        for label, leaf, closes in MARK.findall(piece):
            if label:
                unclosed.append((label.split("-")[0], word, []))
            elif leaf and unclosed:
                unclosed[-1][2].append(Child(tags[word], word, True))
            elif closes and unclosed:
                name, start, children = unclosed.pop()
                head = _phrase_head(name, children, word)
                if name in NOUN_PHRASES:
                    heads[start, word + 1] = head
                if unclosed:
                    unclosed[-1][2].append(Child(name, head, False))
    return heads


def _phrase_head(label: str, children: Sequence[Child], last: int) -> int:
    """The head of the child that the rules choose, else the last word."""
    known = [child for child in children if not (child.is_word and child.label == "POS")]
    for labels, order in RULES if label in NOUN_PHRASES else ():
        for child in known[::order]:
            if child.label in labels:
                return child.head
    words = [child for child in known if child.is_word] or known
    return words[-1].head if words else last


@dataclass(frozen=True)
class Item:
    """A mention with an antecedent; numbers are indices of the document's mentions, in its order.

    Attributes:
        candidates: Preceding mentions whose head words are in the window and differ from its own.
        antecedents: Candidates of the same chain; never empty.
    """

    mention: int
    candidates: tuple[int, ...]
    antecedents: tuple[int, ...]


def find_items(
    document: CoreferenceDocument, heads: Sequence[int], windows: Sequence[Span], skipped: Skipped
) -> list[list[Item]]:
    """The items of each window; an item belongs to the first that has its head word. Windows are ordered, by start and
    by end; mentions that reach past the last are skipped."""
    items: list[list[Item]] = [[] for _ in windows]
    ends = [end for _, end in windows]
    # The preceding mentions as (head word, mention), sorted
    before: list[tuple[int, int]] = []
    chains: dict[int, set[int]] = {}  # chain -> its head words so far
    for index, (mention, head) in enumerate(zip(document.mentions, heads, strict=True)):
        if mention.end > ends[-1]:
            continue
        earlier = chains.setdefault(mention.cluster, set())
        where = f"{document.name}, word {mention.start + 1}"
        if len(earlier) > (head in earlier):
            window = bisect_left(ends, head + 1)
            first, end = (bisect_left(before, (edge, -1)) for edge in windows[window])
            candidates = tuple(sorted(other for word, other in before[first:end] if word != head))
            antecedents = tuple(c for c in candidates if document.mentions[c].cluster == mention.cluster)
            if antecedents:
                items[window].append(Item(index, candidates, antecedents))
            else:
                skipped.add("a mention with no antecedent in its window (out of reach)", where)
        elif earlier:
            skipped.add("a mention whose only antecedents share its head word", where)
        insort(before, (head, index))
        earlier.add(head)
    return items
