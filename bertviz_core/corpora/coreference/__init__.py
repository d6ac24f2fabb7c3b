"""Coreference: documents with words, sentences and mentions, and their drafts, which every reader gives."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.errors import shorten

# What one document may hold, for it is in memory as a whole: "War and Peace" has 580,000 words and 3.2 million letters.
MAX_WORDS = 700_000
MAX_BRACKETS = 500_000
MAX_LETTERS = 5_000_000
MAX_OPEN = 10_000  # mentions that have begun and not yet ended
ENDS = frozenset(".?!")
CLOSERS = frozenset(["''", "”", '"', "’", "'", ")", "]", "-RRB-"])
NONE = frozenset(["", "-", "_", "*"])  # cells of a column that say nothing
BRACKET = re.compile(r"(\()?([^()|]+)(\))?")

Span = tuple[int, int]  # first word, one past the last
Bracket = tuple[bool, str, bool]  # whether it opens a mention, the chain's label, whether it closes one


@dataclass(frozen=True)
class Mention:
    """`words[start:end]` of a document; `cluster` counts the document's chains from 0."""

    start: int
    end: int
    cluster: int


@dataclass(frozen=True)
class CoreferenceDocument:
    """One document. Mentions are ordered by (start, -end): what stands earlier precedes."""

    number: int  # its index in the corpus
    name: str
    where: str  # "line 12", for people
    words: tuple[str, ...]
    sentences: tuple[int, ...]  # the first word of each
    mentions: tuple[Mention, ...]
    tags: tuple[str, ...] | None = None  # part of speech of each word, or None where the file has none
    governors: tuple[int, ...] | None = None  # the word that governs each word, -1 for roots; None without trees
    parse: tuple[str, ...] | None = None  # CoNLL-2012's bracketed parse, a piece for each word; None without


@dataclass
class Draft:
    """A document under construction: a list for each column, as a tuple for each row would keep the garbage collector
    busy. Mentions come as brackets (`(3`, `3)`, `(3)`; nested, crossing, several at one word) or as spans."""

    source: Source
    skipped: Skipped
    name: str
    line: int  # where it begins
    is_sentence_over: bool = True  # whether the sentence of the last row has ended
    rows: int = 0  # how many have been read, of words or not, with how many brackets and letters
    brackets: int = 0
    letters: int = 0
    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    parse: list[str] = field(default_factory=list)
    governors: list[int | None] = field(default_factory=list)  # None for what is no number
    sentences: list[int] = field(default_factory=list)
    unclosed: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # chain -> (first word, line) of open ones
    opened: int = 0  # how many are open
    clusters: dict[str, int] = field(default_factory=dict)
    mentions: dict[Mention, None] = field(default_factory=dict)

    def begin_row(self, line: int, *cells: str) -> None:
        """Count a row by the cells that are kept of it; raises InputError where the document grows too large."""
        self.rows += 1
        self.brackets += sum(cell.count("(") for cell in cells)
        self.letters += sum(map(len, cells))
        if self.rows > MAX_WORDS or self.brackets > MAX_BRACKETS or self.letters > MAX_LETTERS:
            limits = f"{MAX_WORDS:,} words, {MAX_BRACKETS:,} brackets or {MAX_LETTERS:,} letters"
            what = f"The document has more than {limits}."
            raise self.source.error(what, "Split it into several documents.", line)
        if self.is_sentence_over:
            self.sentences.append(len(self.words))
        self.is_sentence_over = False

    def brackets_of(self, cell: str, line: int) -> list[Bracket]:
        """Every bracket at a word; raises InputError for a cell that holds anything else."""
        parts = brackets(cell)
        if parts is None:
            what = f"{shorten(cell)!r} is not a list of chain brackets."
            raise self.source.error(what, "Write (3, 3) or (3), joined by |.", line)
        return parts

    def bracket(self, chain: str, opens: bool, closes: bool, span: Span, line: int) -> None:
        """A bracket at the words of `span`. One that closes ends the latest open mention of its chain: mentions of
        different chains may cross, those of one chain nest. Raises InputError for one that closes nothing, or too many
        open ones."""
        if opens:
            self.opened += 1
            if self.opened > MAX_OPEN:
                what = f"More than {MAX_OPEN:,} brackets of chains are open here."
                raise self.source.error(what, "Close each at the last word of its mention.", line)
            self.unclosed.setdefault(chain, []).append((span[0], line))
        if closes:
            if not self.unclosed.get(chain):
                what = f"Chain {chain} is closed here, but no bracket of it is open."
                raise self.source.error(what, "Open it before, or remove this bracket.", line)
            start, _ = self.unclosed[chain].pop()
            self.opened -= 1
            self.add(start, span[1], chain, line)

    def add(self, start: int, end: int, chain: str, line: int) -> None:
        """Take in `words[start:end]`; the same words twice in one chain count once."""
        mention = Mention(start, end, self.clusters.setdefault(chain, len(self.clusters)))
        if start >= end:
            self.skipped.add("a mention without a word of its own (a zero)", f"line {line}")
        elif mention in self.mentions:
            self.skipped.add("a mention given twice (read once)", f"line {line}")
        else:
            self.mentions[mention] = None

    def finished(self, number: int) -> CoreferenceDocument:
        """The document, number `number` of the corpus; raises InputError for a bracket that never closes."""
        if still := [(line, chain) for chain, entries in self.unclosed.items() for _, line in entries]:
            line, chain = min(still)
            what = f"The bracket of chain {chain} that opens here never closes."
            raise self.source.error(what, "Close it at its last word: the chain's name and a closing bracket.", line)
        governors = [g for g in self.governors if g is not None and g < len(self.words)]
        whole = tuple(governors) if governors and len(governors) == len(self.words) else None
        mentions = tuple(sorted(self.mentions, key=lambda mention: (mention.start, -mention.end)))
        tags = None if NONE.issuperset(self.tags) else tuple(self.tags)
        parse = tuple(self.parse) if any("(" in piece for piece in self.parse) else None
        about = number, self.name or f"document {number + 1}", f"line {self.line}"
        return CoreferenceDocument(*about, tuple(self.words), tuple(self.sentences), mentions, tags, whole, parse)


def brackets(cell: str) -> list[Bracket] | None:
    """The chain brackets of a cell: `(3`, `3)`, `(3)`, joined by | or nothing; None for a cell that holds anything
    else."""
    if cell in NONE:
        return []
    parts = list(BRACKET.finditer(cell))
    if "".join(match[0] for match in parts) != cell.replace("|", "") or not all(m[1] or m[3] for m in parts):
        return None
    return [(bool(match[1]), match[2], bool(match[3])) for match in parts]


def sentence_starts(words: Sequence[str]) -> list[int]:
    """First words of sentences in files that mark none: one ends at `.`, `?` or `!` and the closing marks after it."""
    starts, ended = [0], False
    for index, word in enumerate(words):
        if ended and word not in CLOSERS and word not in ENDS:
            starts.append(index)
            ended = False
        ended = word in ENDS or (ended and word in CLOSERS)
    return starts
