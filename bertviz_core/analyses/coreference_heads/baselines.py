"""What heads are compared with: baselines for antecedent selection, over the candidates that the heads have (4.3;
Table 2).

chance: the mean of 1 / candidates, what guessing one given antecedent at random would find.
random candidate: the mean of antecedents / candidates, since any antecedent is right; not below chance.

nearest: the last preceding mention.
head match: the nearest with the same head word; where there is none, no mention is guessed, which counts as wrong.
head match, else nearest: the same, with the nearest mention where there is none; the paper has no such row.
rule-based: the nearest mention that satisfies the earliest of four sieves: (1) the same words, (2) the same head word,
(3) number, gender and person agree, (4) any. Words are compared without case.

Pronouns say number, gender and person; for other mentions (third person) a plural tag (NNS, NNPS), a plural ending or
an "and" says plural, and the nouns and titles listed here say a gender. What nothing says is unknown and agrees with
everything.
"""

from collections.abc import Sequence

import numpy as np

from bertviz_core.corpora.coreference.mentions import PRONOUNS, Features
from bertviz_core.models.annotated import Window

ELSE_NEAREST = "head match, else nearest"
CHANCE, RANDOM = "chance (1 / candidates)", "random candidate"
BASELINES = ("nearest", "head match", ELSE_NEAREST, "rule-based")
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


def baselines_right(window: Window) -> np.ndarray:
    """(system, item) bool: whether each of BASELINES guesses an antecedent."""
    document, heads, described = window.document, window.heads, {}
    for mention in {mention for item in window.items for mention in (item.mention, *item.candidates)}:
        span, head = document.mentions[mention], document.words[heads[mention]]
        words = [word.lower() for word in document.words[span.start : span.end]]
        tag = document.tags[heads[mention]] if document.tags else ""
        described[mention] = words, head.lower(), features(words, head, tag)
    rows = []
    for item in window.items:
        words, head, known = described[item.mention]
        backwards = item.candidates[::-1]
        same_words = next((other for other in backwards if described[other][0] == words), None)
        same_head = next((other for other in backwards if described[other][1] == head), None)
        agreeing = next((other for other in backwards if described[other][2].agrees(known)), None)
        sieves = (same_words, same_head, agreeing, backwards[0])
        either = backwards[0] if same_head is None else same_head
        guesses = backwards[0], same_head, either, next(guess for guess in sieves if guess is not None)
        right = {heads[antecedent] for antecedent in item.antecedents}
        rows.append([guess is not None and heads[guess] in right for guess in guesses])
    return np.array(rows, dtype=bool).T


def features(words: Sequence[str], head: str, tag: str = "") -> Features:
    """Features of a mention with these words and this head word."""
    head, lowered = head.lower(), {word.lower() for word in words}
    if head in PRONOUNS:
        return PRONOUNS[head]
    ending = head.endswith("s") and not head.endswith(SINGULAR_ENDINGS) and len(head) > 3
    is_plural = tag in {"NNS", "NNPS"} or "and" in lowered or head in PLURAL_NOUNS
    is_plural = is_plural or (ending and tag not in {"NN", "NNP"})
    # The head word decides the gender where it can, else a title or noun anywhere in the mention.
    genders = {GENDERED[word] for word in lowered if word in GENDERED}
    gender = GENDERED.get(head) or (genders.pop() if len(genders) == 1 else "")
    return Features("plural" if is_plural else "singular", gender, 3)
