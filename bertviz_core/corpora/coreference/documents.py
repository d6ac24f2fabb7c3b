"""What every coreference reader gives: words, sentences and mentions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bertviz_core.errors import InputError

# What one document may hold, for it is in memory as a whole: "War and Peace" has 580,000 words and 3.2 million letters.
MAX_WORDS, MAX_BRACKETS, MAX_LETTERS = 700_000, 500_000, 5_000_000
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

    Attributes:
        number: Its place in the corpus, from 0.
        where: "line 12", for people.
        sentences: The first word of each.
        tags: Part of speech of each word, or None where the file has none.
        governors: The word that governs each word, -1 for roots; None without trees.
        parse: CoNLL-2012's bracketed parse, a piece for each word; None where the column is empty.
        line: Where it begins.
        header: What the reader of another document knows from the beginning of the file.
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
    line: int = 1
    header: str = ""


@dataclass(slots=True)
class Extent:
    """How much of a document has been read from `file`."""

    file: str
    words: int = 0
    brackets: int = 0
    letters: int = 0

    def add(self, line: int, *cells: str) -> None:
        """Count a row by the cells that are kept of it; raises InputError where the document grows too large."""
        self.words += 1
        self.brackets += sum(cell.count("(") for cell in cells)
        self.letters += sum(map(len, cells))
        if self.words > MAX_WORDS or self.brackets > MAX_BRACKETS or self.letters > MAX_LETTERS:
            raise InputError(
                f"The document has more than {MAX_WORDS:,} words, {MAX_BRACKETS:,} brackets or {MAX_LETTERS:,} "
                "letters.",
                where=f"{self.file}, line {line}",
                hint="Split it into several documents.",
            )


def ordered(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """By (start, -end), chains in the order of the file."""
    return tuple(sorted(mentions, key=lambda mention: (mention.start, -mention.end)))


def sentence_starts(words: Sequence[str]) -> tuple[int, ...]:
    """First words of sentences in files that mark none: one ends at `.`, `?` or `!` and the closing marks after it."""
    starts, ended = [0], False
    for index, word in enumerate(words):
        if ended and word not in CLOSERS and word not in ENDS:
            starts.append(index)
            ended = False
        ended = word in ENDS or (ended and word in CLOSERS)
    return tuple(starts)
