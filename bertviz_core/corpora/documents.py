"""What every coreference reader gives: words, sentences and mentions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ENDS = frozenset(".?!")
CLOSERS = frozenset(["''", "”", '"', "’", "'", ")", "]", "-RRB-"])


@dataclass(frozen=True, slots=True)
class Mention:
    """`words[start:end]` of a document; `cluster` counts the document's chains from 0."""

    start: int
    end: int
    cluster: int


@dataclass(frozen=True, slots=True)
class CoreferenceDocument:
    """One document. Mentions are ordered by (start, -end): what stands earlier precedes.

    number: its place in the corpus, from 0.   where: "line 12", for people.
    sentences: the first word of each.   tags: part of speech of each word, or None where the file has none.
    governors: the word that governs each word, -1 for roots; None without trees.
    parse: CoNLL-2012's bracketed parse, a piece for each word; None where the column is empty.
    """

    number: int
    name: str
    where: str
    words: tuple[str, ...]
    sentences: tuple[int, ...]
    mentions: tuple[Mention, ...]
    tags: tuple[str, ...] | None = None
    governors: tuple[int, ...] | None = None
    parse: tuple[str, ...] | None = None


def ordered(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """By (start, -end), chains in the order of the file."""
    return tuple(sorted(mentions, key=lambda mention: (mention.start, -mention.end)))


def sentence_starts(words: Sequence[str]) -> tuple[int, ...]:
    """For files that mark no sentences: one ends at `.`, `?` or `!` and the closing marks after it."""
    starts, ended = [0], False
    for index, word in enumerate(words):
        if ended and word not in CLOSERS and word not in ENDS:
            starts.append(index)
            ended = False
        ended = word in ENDS or (ended and word in CLOSERS)
    return tuple(starts)
