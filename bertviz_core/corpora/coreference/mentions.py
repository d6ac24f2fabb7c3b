"""Mentions: their number, gender and person, for the third sieve of the rule-based baseline; and items, the mentions
that have an antecedent, with what each may choose from in its window (docs/methods.md, section 7).

Pronouns say number, gender and person; for other mentions (third person) a plural tag (NNS, NNPS), a plural ending or
an "and" says plural, and the nouns and titles listed here say a gender. What nothing says is unknown and agrees with
everything.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass

from bertviz_core.corpora.coreference.documents import CoreferenceDocument
from bertviz_core.corpora.skipped import Skipped


def word_list(text: str) -> frozenset[str]:
    """Words set apart by spaces."""
    return frozenset(text.split())


PRONOUN_FEATURES = (  # words, number, gender, person
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
MASCULINE_NOUNS = word_list(
    "man men boy boys father son brother uncle husband nephew grandfather king prince duke lord sir mr mr. mister "
    "gentleman gentlemen fellow lad waiter actor widower count baron monk priest"
)
FEMININE_NOUNS = word_list(
    "woman women girl girls mother daughter sister aunt wife niece grandmother queen princess duchess lady ladies "
    "madam mrs mrs. ms ms. miss waitress actress widow countess baroness nun"
)
PLURAL_NOUNS = word_list("men women children people police feet teeth mice geese")
SINGULAR_ENDINGS = ("ss", "us", "is", "'s")


@dataclass(frozen=True)
class Features:
    """What has to agree between a pronoun and its antecedent.

    Attributes:
        number: "singular" or "plural"; "" where unknown.
        gender: "masculine", "feminine" or "neuter"; "" where unknown.
        person: 1 to 3.
    """

    number: str
    gender: str
    person: int

    def agrees(self, other: Features) -> bool:
        """Equal in all that both know."""
        same_number = not self.number or not other.number or self.number == other.number
        same_gender = not self.gender or not other.gender or self.gender == other.gender
        return same_number and same_gender and self.person == other.person


PRONOUNS = {
    word: Features(number, gender, person)
    for words, number, gender, person in PRONOUN_FEATURES
    for word in words.split()
}


def features(words: Sequence[str], head: str, tag: str = "") -> Features:
    """Features of a mention with these words and this head word."""
    head = head.lower()
    if head in PRONOUNS:
        return PRONOUNS[head]
    lowered = {word.lower() for word in words}
    return Features("plural" if _is_plural(head, tag, lowered) else "singular", _gender(head, lowered), 3)


def pronoun_gender(head: str) -> str:
    """ "masculine", "feminine" or "neuter" for a third-person singular pronoun, "" for other words."""
    return PRONOUNS[head.lower()].gender if head.lower() in PRONOUNS else ""


def _is_plural(head: str, tag: str, words: set[str]) -> bool:
    if tag in {"NNS", "NNPS"} or "and" in words or head in PLURAL_NOUNS:
        return True
    if tag in {"NN", "NNP"}:
        return False
    return head.endswith("s") and not head.endswith(SINGULAR_ENDINGS) and len(head) > 3


def _gender(head: str, words: set[str]) -> str:
    """The head word decides where it can, else a title or noun anywhere in the mention."""
    for known in ({head}, words):
        masculine, feminine = not known.isdisjoint(MASCULINE_NOUNS), not known.isdisjoint(FEMININE_NOUNS)
        if masculine != feminine:
            return "masculine" if masculine else "feminine"
    return ""


Span = tuple[int, int]  # first word, one past the last
OUT_OF_REACH = "a mention with no antecedent in its window (out of reach)"
SAME_HEAD = "a mention whose only antecedents share its head word"


@dataclass(frozen=True)
class Item:
    """A mention with an antecedent. All numbers are places in the document's list of mentions, in its order.

    Attributes:
        candidates: The preceding mentions whose head word the window shows, but for those with the item's own head.
        antecedents: The candidates of the item's chain; never empty.
    """

    mention: int
    candidates: tuple[int, ...]
    antecedents: tuple[int, ...]


def items_of(
    document: CoreferenceDocument, heads: Sequence[int], windows: Sequence[Span], skipped: Skipped
) -> list[list[Item]]:
    """The items of each window; an item is scored in the first that shows its head word. `heads` has the head word
    of every mention; windows come in order, neither start nor end going back, and mentions that reach past the last
    are cut off."""
    items: list[list[Item]] = [[] for _ in windows]
    ends = [end for _, end in windows]
    before: list[tuple[int, int]] = []  # (head word, mention) of all that precede, sorted
    chains: dict[int, set[int]] = {}  # the head words of each chain so far
    for index, (mention, head) in enumerate(zip(document.mentions, heads, strict=True)):
        if mention.end > ends[-1]:
            continue
        earlier = chains.setdefault(mention.cluster, set())
        if earlier - {head}:
            position = bisect_left(ends, head + 1)
            candidates = _candidates(before, head, windows[position])
            antecedents = tuple(c for c in candidates if document.mentions[c].cluster == mention.cluster)
            if antecedents:
                items[position].append(Item(index, candidates, antecedents))
            else:
                skipped.add(OUT_OF_REACH, f"{document.name}, word {mention.start + 1}")
        elif earlier:
            skipped.add(SAME_HEAD, f"{document.name}, word {mention.start + 1}")
        insort(before, (head, index))
        earlier.add(head)
    return items


def _candidates(before: list[tuple[int, int]], head: int, window: Span) -> tuple[int, ...]:
    first, end = (bisect_left(before, (edge, -1)) for edge in window)
    return tuple(sorted(mention for word, mention in before[first:end] if word != head))
