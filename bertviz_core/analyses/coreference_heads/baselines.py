"""What heads are compared with: baselines for antecedent selection, over the candidates that the heads have (4.3;
Table 2), and another system's chains.

chance: the mean of 1 / candidates, what guessing one given antecedent at random would find.
random candidate: the mean of antecedents / candidates, since any antecedent is right; not below chance.

nearest: the last preceding mention.
head match: the nearest with the same head word; where there is none, no mention is guessed, which counts as wrong.
head match, else nearest: the same, with the nearest mention where there is none; the paper has no such row.
rule-based: the nearest mention that satisfies the earliest of four sieves: (1) the same words, (2) the same head word,
(3) number, gender and person agree, by the lists of `corpora.coreference.agreement`, (4) any. Words are compared
without case.

another system: the nearest preceding mention that the system puts into one chain with the item; mentions are found by
their head words, so that spans need not be equal. An item that the system does not link counts as wrong. Unlike a
head, the system may point out of the window.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from bertviz_core.analyses.coreference_heads.document_counts import ROWS, CountSums
from bertviz_core.analyses.coreference_heads.guesses import GROUPS, groups_of
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.annotated import CoreferenceCorpus
from bertviz_core.corpora.coreference.agreement import Features, features
from bertviz_core.corpora.coreference.documents import CoreferenceDocument
from bertviz_core.corpora.coreference.head_words import head_words
from bertviz_core.corpora.coreference.items import Item
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.errors import InputError
from bertviz_core.models.annotated import Window, Windows

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


def score(request: Request, predictions: Source) -> tuple[np.ndarray, np.ndarray]:
    """(group,) items that the system gets right, and (2, row) their moments as in AntecedentCounts; raises InputError
    where its documents are not the corpus's."""
    from bertviz_core.models.loading import load_tokens

    return score_windows(Windows(request.source, load_tokens(request.checkpoint), request.settings), predictions)


def score_windows(windows: Iterable[Window], predictions: Source) -> tuple[np.ndarray, np.ndarray]:
    """What `score` gives, of windows that are made already."""
    right, moments = np.zeros(GROUPS, dtype=np.int64), np.zeros((2, ROWS))
    predicted = CoreferenceCorpus(predictions, predicted=True).documents(Skipped())  # in the order of the corpus
    for _, group in groupby(windows, key=lambda window: window.document.number):
        windows_of_one = list(group)
        linked = _links(_document(predicted, windows_of_one[0].document, predictions.name))
        counts = np.zeros((1, 2, GROUPS))  # right guesses, and items, of one document
        for window in windows_of_one:
            hits = np.array([_is_right(window, item.mention, linked) for item in window.items])
            counts[0] += np.stack([hits, np.ones_like(hits)]).astype(np.int64) @ groups_of(window)
        right += counts[0, 0].astype(np.int64)
        moments += CountSums.moments(counts)[2:, 0]
    return right, moments


def _is_right(window: Window, mention: int, linked: dict[int, int]) -> bool:
    """Whether the guess heads any mention of the item's chain that precedes it."""
    document, heads = window.document, window.heads
    cluster = document.mentions[mention].cluster
    antecedents = {heads[other] for other in range(mention) if document.mentions[other].cluster == cluster}
    return linked.get(heads[mention], -1) in antecedents - {heads[mention]}


def _document(predicted: Iterator[CoreferenceDocument], gold: CoreferenceDocument, name: str) -> CoreferenceDocument:
    """The gold words, tags and trees with the mentions of the predicted document of the same number."""
    document = next((document for document in predicted if document.number == gold.number), None)
    if document is None or len(document.words) != len(gold.words):
        text = "ends before it" if document is None else f"has {len(document.words)} words there"
        raise InputError(
            f"The predictions do not match document {gold.number + 1} ({gold.name}, {len(gold.words)} words): the "
            f"file {text}.",
            where=name,
            hint="Give predictions for the same documents, in the same order and words.",
        )
    return replace(gold, mentions=document.mentions)


def _links(document: CoreferenceDocument) -> dict[int, int]:
    """Head word of each predicted mention -> head word of the nearest one before it in its chain."""
    latest: dict[int, int] = {}  # chain -> head word of its last mention so far
    links: dict[int, int] = {}
    for mention, head in zip(document.mentions, head_words(document), strict=True):
        if latest.get(mention.cluster, head) != head:
            links.setdefault(head, latest[mention.cluster])
        latest[mention.cluster] = head
    return links
