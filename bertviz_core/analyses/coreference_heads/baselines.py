"""What heads are compared with: baselines for antecedent selection, over the candidates that the heads have (4.3;
Table 2).

chance: the mean of 1 / candidates, what guessing one given antecedent at random would find.
random candidate: the mean of antecedents / candidates, since any antecedent is right; not below chance.

nearest: the last preceding mention.
head match: the nearest with the same head word; where there is none, no mention is guessed, which counts as wrong.
head match, else nearest: the same, with the nearest mention where there is none; the paper has no such row.
rule-based: the nearest mention that satisfies the earliest of four sieves: (1) the same words, (2) the same head word,
(3) number, gender and person agree, by the lists of `corpora.coreference.mentions`, (4) any. Words are compared
without case.
"""

from collections.abc import Sequence

import numpy as np

from bertviz_core.corpora.coreference.documents import CoreferenceDocument
from bertviz_core.corpora.coreference.mentions import Features, Item, features
from bertviz_core.models.annotated import Window

ELSE_NEAREST = "head match, else nearest"
CHANCE, RANDOM = "chance (1 / candidates)", "random candidate"
BASELINES = ("nearest", "head match", ELSE_NEAREST, "rule-based")
Described = tuple[tuple[str, ...], str, Features]  # the words and the head word in small letters, and what they say


def baselines_right(window: Window) -> np.ndarray:
    """(system, item) bool: whether each of BASELINES guesses an antecedent."""
    heads, items = window.heads, window.items
    mentions = {mention for item in items for mention in (item.mention, *item.candidates)}
    described = {mention: _describe(window.document, heads, mention) for mention in mentions}
    rows = []
    for item in items:
        antecedents = {heads[antecedent] for antecedent in item.antecedents}
        rows.append([guess is not None and heads[guess] in antecedents for guess in _guess(item, described)])
    return np.array(rows, dtype=bool).T


def _describe(document: CoreferenceDocument, heads: Sequence[int], mention: int) -> Described:
    span, head = document.mentions[mention], heads[mention]
    words = document.words[span.start : span.end]
    tag = document.tags[head] if document.tags else ""
    lowered = tuple(word.lower() for word in words)
    return lowered, document.words[head].lower(), features(words, document.words[head], tag)


def _guess(item: Item, described: dict[int, Described]) -> tuple[int | None, ...]:
    """The mention that each of BASELINES guesses; None where it guesses none."""
    words, head, features = described[item.mention]
    backwards = item.candidates[::-1]
    nearest = backwards[0]
    same_words = (mention for mention in backwards if described[mention][0] == words)
    same_head = next((mention for mention in backwards if described[mention][1] == head), None)
    agreeing = (mention for mention in backwards if described[mention][2].agrees(features))
    either = nearest if same_head is None else same_head
    fallback = next(agreeing, nearest) if same_head is None else same_head
    return nearest, same_head, either, next(same_words, fallback)
