"""What baselines guess: the nearest mention, a match of head words, rules (docs/methods.md, section 7)."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from bertviz_core.corpora.coreference.mentions import PRONOUNS, AgreementFeatures
from bertviz_core.inputs.annotated_words import DocumentWindow

EXACT = CHANCE, RANDOM = "chance", "random candidate"  # means, without an interval
BASELINES = ("nearest", "head match", "head match, else nearest", "rule-based")
SIMPLE = (RANDOM, "nearest", "head match")  # a head that finds antecedents is above each of them
COMPARED = (RANDOM, "nearest", "head match", "rule-based")  # drawn beside a head; the table has the others too
# Mentions other than pronouns: nouns and titles with a gender, and plurals without a plural ending.
MASCULINE_NOUNS = (
    "man men boy boys father son brother uncle husband nephew grandfather king prince duke lord sir mr mr. mister "
    "gentleman gentlemen fellow lad waiter actor widower count baron monk priest"
)
FEMININE_NOUNS = (
    "woman women girl girls mother daughter sister aunt wife niece grandmother queen princess duchess lady ladies "
    "madam mrs mrs. ms ms. miss waitress actress widow countess baroness nun"
)
GENDERED = dict.fromkeys(MASCULINE_NOUNS.split(), "masculine") | dict.fromkeys(FEMININE_NOUNS.split(), "feminine")
PLURAL_NOUNS = frozenset(("men", "women", "children", "people", "police", "feet", "teeth", "mice", "geese"))
SINGULAR_ENDINGS = ("ss", "us", "is", "'s")


def baselines_right(window: DocumentWindow) -> np.ndarray:
    """(system, item) bool: whether each of BASELINES guesses an antecedent (docs/methods.md, section 7)."""
    document = window.document
    heads = window.heads

    @cache
    def described(mention: int) -> tuple[list[str], str, AgreementFeatures]:
        span = document.mentions[mention]
        words = [word.lower() for word in document.words[span.start : span.end]]
        at = heads[mention]
        head = document.words[at].lower()
        tag = document.tags[at] if document.tags else ""
        return words, head, features(words, head, tag)

    rows = []
    for item in window.items:
        words, head, known = described(item.mention)
        backwards = item.candidates[::-1]
        same_words = next((each for each in backwards if described(each)[0] == words), None)
        same_head = next((each for each in backwards if described(each)[1] == head), None)
        agreeing = next((each for each in backwards if described(each)[2].agrees(known)), None)
        sieves = (same_words, same_head, agreeing, backwards[0])
        either = backwards[0] if same_head is None else same_head
        rule_based = next(guess for guess in sieves if guess is not None)
        guesses = (backwards[0], same_head, either, rule_based)
        antecedents = {heads[mention] for mention in item.antecedents}
        rows.append([guess is not None and heads[guess] in antecedents for guess in guesses])
    return np.array(rows, dtype=bool).T


def features(words: Sequence[str], head: str, tag: str = "") -> AgreementFeatures:
    """Features of a mention, from its words and its head word in lower case. All but pronouns are third person, and
    plural by their tag, their ending or an "and"."""
    if head in PRONOUNS:
        return PRONOUNS[head]
    ending = head.endswith("s") and not head.endswith(SINGULAR_ENDINGS) and len(head) > 3
    is_plural = tag in {"NNS", "NNPS"} or "and" in words or head in PLURAL_NOUNS
    is_plural = is_plural or (ending and tag not in {"NN", "NNP"})
    # The head word decides the gender where it can, else a title or noun anywhere in the mention.
    genders = {GENDERED[word] for word in words if word in GENDERED}
    gender = GENDERED.get(head) or (genders.pop() if len(genders) == 1 else "")
    return AgreementFeatures("plural" if is_plural else "singular", gender, 3)
