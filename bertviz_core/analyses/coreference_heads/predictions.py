"""Another system's chains, scored on the items that the heads are scored on.

The system's guess for an item: the nearest preceding mention that the system puts into one chain with it; mentions
are found by their head words, so that spans need not be equal. An item that the system does not link counts as wrong.
Unlike a head, the system may point out of the window.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bertviz_core.analyses.coreference_heads.groups import GROUPS, groups_of
from bertviz_core.corpora.annotated import CoreferenceCorpus
from bertviz_core.corpora.coreference.documents import CoreferenceDocument
from bertviz_core.corpora.coreference.head_words import head_words
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.errors import InputError
from bertviz_core.import_lock import IMPORTING
from bertviz_core.models.annotated import Window, Windows

if TYPE_CHECKING:
    from bertviz_core.analyses.request import Request


def score(request: Request, predictions: Source) -> np.ndarray:
    """(group,) items that the system gets right; raises InputError where its documents are not the corpus's."""
    with IMPORTING:
        from bertviz_core.models.loading import load_tokens

    return score_windows(Windows(request.source, load_tokens(request.checkpoint), request.settings), predictions)


def score_windows(windows: Windows, predictions: Source) -> np.ndarray:
    """(group,) items that the system gets right in windows that are made already; raises InputError as `score` does."""
    right = np.zeros(GROUPS, dtype=np.int64)
    predicted = _Predicted(predictions)
    for window in windows:
        linked = predicted.links(window.document)
        hits = np.array([_is_right(window, item.mention, linked) for item in window.items])
        right += hits.astype(np.int64) @ groups_of(window)
    return right


def _is_right(window: Window, mention: int, linked: dict[int, int]) -> bool:
    """Whether the guess heads any mention of the item's chain that precedes it."""
    document, heads = window.document, window.heads
    cluster = document.mentions[mention].cluster
    antecedents = {heads[other] for other in range(mention) if document.mentions[other].cluster == cluster}
    return linked.get(heads[mention], -1) in antecedents - {heads[mention]}


class _Predicted:
    """Predicted documents, which stand in the order of the corpus."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.documents = CoreferenceCorpus(source, predicted=True).documents(Skipped())
        self.current: tuple[int, dict[int, int]] = (-1, {})

    def links(self, gold: CoreferenceDocument) -> dict[int, int]:
        """Head word of each predicted mention -> head word of the nearest one before it in its chain."""
        if self.current[0] != gold.number:
            self.current = (gold.number, _links(self._document(gold)))
        return self.current[1]

    def _document(self, gold: CoreferenceDocument) -> CoreferenceDocument:
        """The gold words, tags and trees with the predicted mentions."""
        document = next((document for document in self.documents if document.number == gold.number), None)
        if document is None or len(document.words) != len(gold.words):
            text = "ends before it" if document is None else f"has {len(document.words)} words there"
            raise InputError(
                f"The predictions do not match document {gold.number + 1} ({gold.name}, {len(gold.words)} words): the "
                f"file {text}.",
                where=self.source.name,
                hint="Give predictions for the same documents, in the same order and words.",
            )
        return replace(gold, mentions=document.mentions)


def _links(document: CoreferenceDocument) -> dict[int, int]:
    latest: dict[int, int] = {}  # chain -> head word of its last mention so far
    links: dict[int, int] = {}
    for mention, head in zip(document.mentions, head_words(document), strict=True):
        if latest.get(mention.cluster, head) != head:
            links.setdefault(head, latest[mention.cluster])
        latest[mention.cluster] = head
    return links
