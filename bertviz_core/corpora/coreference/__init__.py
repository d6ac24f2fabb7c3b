"""Coreference: documents with words, sentences and mentions, and the drafts from which readers build them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.errors import InputError, shorten
from bertviz_core.numbers import small_int

# Limits of a document, which is in memory as a whole: "War and Peace" has 580,000 words and 3.2 million letters.
MAX_WORDS = 700_000
MAX_BRACKETS = 500_000
MAX_LETTERS = 5_000_000
MAX_OPEN = 10_000  # mentions that are open at a time
MAX_AT_WORD = 100  # mentions that begin at one word: each is compared with those of the words before
SENTENCE_ENDS = frozenset(".?!")
CLOSING_MARKS = frozenset(["''", "”", '"', "’", "'", ")", "]", "-RRB-"])
EMPTY_CELLS = frozenset(["", "-", "_", "*"])
BRACKET = re.compile(r"(\()?([^()|]+)(\))?")

Span = tuple[int, int]  # start and end, as in words[start:end]
Bracket = tuple[bool, str, bool]  # whether it opens a mention, the chain's label, whether it closes one


@dataclass(frozen=True)
class Mention:
    """The words [start:end] of a document that name something.

    Attributes:
        start: The first word, from 0.
        end: The word after the last one.
        cluster: The chain to which it belongs, counted from 0 in the document.
    """

    start: int
    end: int
    cluster: int


@dataclass(frozen=True)
class CoreferenceDocument:
    """One document, its mentions ordered by (start, -end).

    Attributes:
        number: Its index in the corpus.
        sentences: The first word of each sentence, from 0.
        mentions: All mentions, in order.
        tags: Part of speech of each word; None where the file has none.
        governors: The word that governs each word, from 0, -1 for roots; None without trees.
        parse: CoNLL-2012's bracketed parse, a piece for each word; None without.
    """

    number: int
    name: str
    words: tuple[str, ...]
    sentences: tuple[int, ...]
    mentions: tuple[Mention, ...]
    tags: tuple[str, ...] | None = None
    governors: tuple[int, ...] | None = None
    parse: tuple[str, ...] | None = None

    @cached_property
    def distinct_words(self) -> frozenset[str]:
        """Its words, as they are written, each once."""
        return frozenset(self.words)


class Draft:
    """A document under construction: a list for each column, as a tuple for each row would keep the garbage collector
    busy.

    Mentions come as brackets (`(3`, `3)`, `(3)`; nested, crossing, several at one word) or as spans.

    Attributes:
        line: The line where it begins.
        is_bounded: Whether it is known where it begins and ends, whatever is wrong with it.
        error: What is wrong with the document, of which the rest is then not read; None for nothing.
        skipped: What was skipped within the document.
        is_sentence_over: Whether the next word begins a sentence.
        index: The last word's number, as its row gives it; -1 without one.
        row_count: The number of its rows, with or without a word.
        bracket_count: The number of brackets so far.
        letter_count: The number of letters so far.
        words: The words so far.
        tags: Their parts of speech.
        parse: Their pieces of the bracketed parse.
        governors: Their governors, counted in the document; None where the cell is not a number.
        sentences: The first word of each sentence.
        open_brackets: From a chain to the (first word, line) of each open mention.
        open_count: The number of open mentions.
        clusters: From a chain's label to its number.
        mentions: The mentions that are closed, in the order in which they were.
        begun: From a word to the number of mentions that begin there.
    """

    def __init__(self, source: Source, name: str, line: int, *, is_bounded: bool = False) -> None:
        self.source = source
        self.name = name
        self.line = line
        self.is_bounded = is_bounded
        self.error: InputError | None = None
        self.skipped = Skipped()
        self.is_sentence_over = True
        self.index = -1
        self.row_count = 0
        self.bracket_count = 0
        self.letter_count = 0
        self.words: list[str] = []
        self.tags: list[str] = []
        self.parse: list[str] = []
        self.governors: list[int | None] = []
        self.sentences: list[int] = []
        self.open_brackets: dict[str, list[tuple[int, int]]] = {}
        self.open_count = 0
        self.clusters: dict[str, int] = {}
        self.mentions: dict[Mention, None] = {}
        self.begun = Counter[int]()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Keep an InputError that is raised within as what is wrong with a document whose bounds are known."""
        try:
            yield
        except InputError as error:
            if not self.is_bounded:
                raise
            self.error = error

    def note_index(self, cell: str) -> None:
        """Read the number of a word, with which a sentence begins also where no blank line stands before it."""
        index = small_int(cell.strip())
        if index is None:
            return
        # Two words numbered 1 are sentences of one word. Where all are numbered 0, the column says nothing.
        if self.words and (index < self.index or index == self.index == 1):
            self.is_sentence_over = True
        self.index = index

    def begin_row(self, line: int, *cells: str) -> None:
        """Count a row and the cells that are kept of it.

        Raises:
            InputError: The document grows too large.
        """
        self.row_count += 1
        self.bracket_count += sum(cell.count("(") for cell in cells)
        self.letter_count += len("".join(cells))
        is_large = self.row_count > MAX_WORDS or self.bracket_count > MAX_BRACKETS
        if is_large or self.letter_count > MAX_LETTERS:
            limits = f"{MAX_WORDS:,} words, {MAX_BRACKETS:,} brackets or {MAX_LETTERS:,} letters"
            what = f"The document has more than {limits}."
            raise self.source.error(what, "Split it into several documents.", line)
        if self.is_sentence_over:
            self.sentences.append(len(self.words))
        self.is_sentence_over = False

    def add_governor(self, cell: str) -> None:
        """The governor of the last word, which the cell counts from 1 in its sentence, with 0 for the root."""
        governor = small_int(cell.strip())
        if governor:
            governor += self.sentences[-1]
        self.governors.append(None if governor is None else governor - 1)

    def read_brackets(self, cell: str, line: int) -> list[Bracket]:
        """Every bracket of a cell; raises InputError for a cell with anything else."""
        brackets = parse_brackets(cell)
        if brackets is None:
            what = f"{shorten(cell)!r} is not a list of chain brackets."
            raise self.source.error(what, "Write (3, 3) or (3), joined by |.", line)
        return brackets

    def add_bracket(self, chain: str, opens: bool, closes: bool, span: Span, line: int) -> None:
        """Open or close a mention at the words of `span`; mentions of different chains may cross, those of a chain
        nest.

        Raises:
            InputError: The bracket closes nothing, or too many are open.
        """
        starts = self.open_brackets.setdefault(chain, [])
        if opens:
            self.open_count += 1
            if self.open_count > MAX_OPEN:
                what = f"More than {MAX_OPEN:,} brackets of chains are open here."
                raise self.source.error(what, "Close each at the last word of its mention.", line)
            starts.append((span[0], line))
        if closes:
            if not starts:
                what = f"Chain {chain} is closed here, but no bracket of it is open."
                raise self.source.error(what, "Open it before, or remove this bracket.", line)
            start, _ = starts.pop()
            self.open_count -= 1
            self.add_mention(start, span[1], chain, line)

    def add_mention(self, start: int, end: int, chain: str, line: int) -> None:
        """Add `words[start:end]` to a chain, once.

        Raises:
            InputError: Too many mentions begin at one word.
        """
        mention = Mention(start, end, self.clusters.setdefault(chain, len(self.clusters)))
        if start >= end:
            self.skipped.add("a mention without a word of its own (a zero)", f"line {line}")
        elif mention in self.mentions:
            self.skipped.add("a mention given twice (read once)", f"line {line}")
        else:
            self.mentions[mention] = None
            self.begun[start] += 1
            if self.begun[start] > MAX_AT_WORD:
                what = f"More than {MAX_AT_WORD} mentions begin at word {start + 1} of the document."
                raise self.source.error(what, "Put each mention into one chain.", line)

    def to_document(self, number: int) -> CoreferenceDocument:
        """The document with this number in the corpus.

        Raises:
            InputError: The document is broken, or has a bracket that never closes.
        """
        if self.error:
            raise self.error
        if self.open_count:
            line, chain = min((line, chain) for chain, starts in self.open_brackets.items() for _, line in starts)
            what = f"The bracket of chain {chain} that opens here never closes."
            raise self.source.error(what, "Close it at its last word: the chain's name and a closing bracket.", line)
        governors = tuple(word for word in self.governors if word is not None and word < len(self.words))
        return CoreferenceDocument(
            number=number,
            name=self.name or f"document {number + 1}",
            words=tuple(self.words),
            sentences=tuple(self.sentences),
            mentions=tuple(sorted(self.mentions, key=lambda mention: (mention.start, -mention.end))),
            tags=None if EMPTY_CELLS.issuperset(self.tags) else tuple(self.tags),
            governors=governors if governors and len(governors) == len(self.words) else None,
            parse=tuple(self.parse) if any("(" in piece for piece in self.parse) else None,
        )


def parse_brackets(cell: str) -> list[Bracket] | None:
    """The chain brackets of a cell, `(3`, `3)` or `(3)`, joined by | or nothing; None for a cell with anything else."""
    if cell in EMPTY_CELLS:
        return []
    matches = list(BRACKET.finditer(cell))
    is_complete = "".join(match[0] for match in matches) == cell.replace("|", "")
    if not is_complete or not all(match[1] or match[3] for match in matches):
        return None
    return [(bool(match[1]), match[2], bool(match[3])) for match in matches]


def sentence_starts(words: Sequence[str]) -> list[int]:
    """First words of sentences in files that mark none: one ends at `.`, `?` or `!` and the closing marks after it."""
    starts = [0]
    is_over = False
    for index, word in enumerate(words):
        if word in SENTENCE_ENDS:
            is_over = True
        elif is_over and word not in CLOSING_MARKS:
            starts.append(index)
            is_over = False
    return starts
