"""Sentences of the test part with the guesses of every probe: a page of all that there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bertviz_core.analyses.details import StoredParts, stored_parts
from bertviz_core.analyses.probes.result import Probes
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.treebank.trees import Sentence
from bertviz_core.corpora.treebank_reader import Treebank
from bertviz_core.corpora.word_search import has
from bertviz_core.engine.store import Store


def parts_of(store: Store, request: Request) -> StoredParts | None:
    """The guesses in all sentences of the test part, where the store has them, with the file that has their words."""
    return stored_parts(store, request.key(), request.others.get("dev", request.source))


def find(
    result: Probes, parts: StoredParts | None, searched: Sequence[str], first: int, count: int
) -> tuple[int, list[dict[str, Any]]]:
    """How many sentences have the searched words; and those from number `first` on, `count` of them, in file order, as
    a result has them."""
    total, shown = 0, []
    for sentence in _stored(parts) if parts else result.sentences:
        if has(sentence["words"], searched):
            if first <= total < first + count:
                shown.append(sentence)
            total += 1
    return total, shown


def _stored(parts: StoredParts) -> Iterator[dict[str, Any]]:
    """The words from the treebank, the guesses from the disk: both are in the order of the file."""
    sentences = Treebank(parts.source).sentences(Skipped())
    for values in parts.read():
        for entry in values["sentences"]:
            sentence = next(sentence for sentence in sentences if sentence.number == entry["number"])
            yield described(sentence, entry["guesses"])


def described(sentence: Sentence, guesses: dict[str, Any]) -> dict[str, Any]:
    """A sentence as a result has it; `guesses` are those of each probe."""
    return {
        "where": sentence.where,
        "words": list(sentence.words),
        "governors": list(sentence.governors),
        "relations": list(sentence.relations),
        "guesses": guesses,
    }
