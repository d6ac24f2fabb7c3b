"""Sentences of the test part with the guesses of every probe: a page of all that there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bertviz_core.analyses import details
from bertviz_core.analyses.probes.result import Probes
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.annotated import Treebank
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.treebank.trees import Sentence
from bertviz_core.corpora.word_search import has
from bertviz_core.engine.store import Store


def find(
    result: Probes, store: Store, request: Request, searched: Sequence[str], first: int, count: int
) -> tuple[bool, int, list[dict[str, Any]]]:
    """The sentences with the searched words from number `first` on, `count` of them, in file order.

    Returns:
        Whether they are of the whole test part, not of the first sentences alone; how many have the words; and the
        sentences as a result has them.
    """
    parts = details.parts(store, request.key())
    every = _stored(store, request, parts) if parts else iter(result.sentences)
    total, shown = 0, []
    for sentence in every:
        if has(sentence["words"], searched):
            if first <= total < first + count:
                shown.append(sentence)
            total += 1
    return bool(parts) or len(result.sentences) == result.about["sentences"]["test"], total, shown


def _stored(store: Store, request: Request, parts: int) -> Iterator[dict[str, Any]]:
    """The words from the treebank, the guesses from the disk: both are in the order of the file."""
    sentences = Treebank(request.others.get("dev", request.source)).sentences(Skipped())
    for number in range(parts):
        for entry in details.read(store, request.key(), number, {})["sentences"]:
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
