"""What every coreference reader gives: words, sentences and mentions; and what those that read rows have in common."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.errors import shorten

# What one document may hold, for it is in memory as a whole: "War and Peace" has 580,000 words and 3.2 million letters.
MAX_WORDS, MAX_BRACKETS, MAX_LETTERS = 700_000, 500_000, 5_000_000
MAX_OPEN = 10_000  # mentions that have begun and not yet ended
ENDS = frozenset(".?!")
CLOSERS = frozenset(["''", "”", '"', "’", "'", ")", "]", "-RRB-"])
NONE = frozenset(["", "-", "_", "*"])  # cells of a column that say nothing
BRACKET = re.compile(r"(\()?([^()|]+)(\))?")

Bracket = tuple[bool, str, bool]  # whether it opens a mention, the chain's label, whether it closes one


@dataclass(frozen=True)
class Mention:
    """`words[start:end]` of a document; `cluster` counts the document's chains from 0."""

    start: int
    end: int
    cluster: int


@dataclass(frozen=True)
class CoreferenceDocument:
    """One document. Mentions are ordered by (start, -end): what stands earlier precedes.

    Attributes:
        number: Its place in the corpus, from 0.
        where: "line 12", for people.
        sentences: The first word of each.
        tags: Part of speech of each word, or None where the file has none.
        governors: The word that governs each word, -1 for roots; None without trees.
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


@dataclass
class Chains:
    """The mentions of one document, as its brackets come: `(3`, `3)`, `(3)`, nested, crossing, several at one word. A
    closing bracket ends the latest open one of its chain, so that mentions of different chains may cross and mentions
    of one chain may nest."""

    source: Source
    skipped: Skipped
    unclosed: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # label -> (word, line), latest last
    numbers: dict[str, int] = field(default_factory=dict)  # label -> cluster
    closed: dict[Mention, None] = field(default_factory=dict)
    opened: int = 0  # how many mentions are open

    def open(self, label: str, start: int, line: int) -> None:
        """A mention that begins at word `start`; raises InputError where more are open than ever are."""
        self.opened += 1
        if self.opened > MAX_OPEN:
            what = f"More than {MAX_OPEN:,} brackets of chains are open here."
            raise self.source.error(what, "Close each at the last word of its mention.", line)
        self.unclosed.setdefault(label, []).append((start, line))

    def close(self, label: str, end: int, line: int) -> None:
        """A mention that ends before word `end`; raises InputError where nothing is open."""
        if not self.unclosed.get(label):
            what = f"Chain {label} is closed here, but no bracket of it is open."
            raise self.source.error(what, "Open it before, or remove this bracket.", line)
        start, _ = self.unclosed[label].pop()
        self.opened -= 1
        if not self.unclosed[label]:
            del self.unclosed[label]
        self.add(start, end, label, f"line {line}")

    def add(self, start: int, end: int, label: str, where: str) -> None:
        """Take in `words[start:end]`; the same words twice in one chain count once."""
        mention = Mention(start, end, self.numbers.setdefault(label, len(self.numbers)))
        if start >= end:
            self.skipped.add("a mention without a word of its own (a zero)", where)
        elif mention in self.closed:
            self.skipped.add("a mention given twice (read once)", where)
        else:
            self.closed[mention] = None

    def brackets(self, text: str, line: int) -> list[Bracket]:
        """Every bracket at a word; raises InputError for a cell that holds anything else."""
        parts = brackets(text)
        if parts is None:
            what = f"{shorten(text)!r} is not a list of chain brackets."
            raise self.source.error(what, "Write (3, 3) or (3), joined by |.", line)
        return parts

    def mentions(self) -> tuple[Mention, ...]:
        """All of them, in order; raises InputError naming the line of a bracket that never closes."""
        still = [(line, label) for label, entries in self.unclosed.items() for _, line in entries]
        if still:
            line, label = min(still)
            what = f"The bracket of chain {label} that opens here never closes."
            raise self.source.error(what, "Close it at its last word: the chain's name and a closing bracket.", line)
        return ordered(list(self.closed))


@dataclass
class Draft:
    """A document under construction: a list for each column, as a tuple for each row would keep the garbage collector
    busy.

    Attributes:
        line: Where it begins.
        governors: Of each word, counted within the document, where the file has trees; None for what is no number.
        is_sentence_over: Whether the sentence of the last row has ended.
        count: How many rows have been read, words or not.
    """

    source: Source
    skipped: Skipped
    name: str
    line: int
    is_sentence_over: bool = True
    count: int = 0
    brackets: int = 0
    letters: int = 0
    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    parse: list[str] = field(default_factory=list)
    governors: list[int | None] = field(default_factory=list)
    sentences: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chains = Chains(self.source, self.skipped)

    def begin_row(self, line: int, *cells: str) -> None:
        """Count a row by the cells that are kept of it; raises InputError where the document grows too large."""
        self.count += 1
        self.brackets += sum(cell.count("(") for cell in cells)
        self.letters += sum(map(len, cells))
        if self.count > MAX_WORDS or self.brackets > MAX_BRACKETS or self.letters > MAX_LETTERS:
            limits = f"{MAX_WORDS:,} words, {MAX_BRACKETS:,} brackets or {MAX_LETTERS:,} letters"
            what = f"The document has more than {limits}."
            raise self.source.error(what, "Split it into several documents.", line)
        if self.is_sentence_over:
            self.sentences.append(len(self.words))
        self.is_sentence_over = False

    def finished(self, number: int) -> CoreferenceDocument:
        """The document, number `number` of the corpus; raises InputError for a bracket that never closes."""
        governors = [g for g in self.governors if g is not None and g < len(self.words)]
        return CoreferenceDocument(
            number=number,
            name=self.name or f"document {number + 1}",
            where=f"line {self.line}",
            words=tuple(self.words),
            sentences=tuple(self.sentences),
            mentions=self.chains.mentions(),
            tags=None if NONE.issuperset(self.tags) else tuple(self.tags),
            governors=tuple(governors) if len(governors) == len(self.words) else None,
            parse=tuple(self.parse) if any("(" in piece for piece in self.parse) else None,
        )


def brackets(cell: str) -> list[Bracket] | None:
    """The chain brackets of a cell: `(3`, `3)`, `(3)`, joined by | or nothing; None for a cell that holds anything
    else."""
    if cell in NONE:
        return []
    parts = list(BRACKET.finditer(cell))
    if "".join(match[0] for match in parts) != cell.replace("|", "") or not all(m[1] or m[3] for m in parts):
        return None
    return [(bool(match[1]), match[2], bool(match[3])) for match in parts]


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
