"""Samples the format of a file: one pass over all of it takes blocks, by whose majority the format is decided."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain

from bertviz_core.corpora.source import LONGEST_LINE, Line, Source

MAX_BLOCKS = 1000  # blocks of the sample
MAX_LETTERS = 4 << 20
MAX_ROWS = 200  # rows of a block; a longer one counts as several
DOCUMENT_TAG = re.compile(r"\s*<(doc(\s[^<]*)?|/doc)>\s*")  # tags that WikiExtractor writes
OBJECT = re.compile(r"\s*\{\s*[\"}]")  # the beginning of a JSON object
GLOBAL_COLUMNS = re.compile(r"#\s*global\.columns\s*=\s*(.*)")
NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")
BEGIN = re.compile(r"#\s*begin document\s*(?:\((.*)\))?[;:]?\s*(?:part\s+(\d+))?\s*(.*)", re.IGNORECASE)
ENTITIES = ("# global.Entity", "#global.Entity")
Share = float  # a share, 0 to 1


@dataclass(frozen=True)
class Block:
    """Lines between blank lines.

    Attributes:
        rows: The lines that are no comments.
        comments: The lines that begin with `#`.
        is_whole: Whether both ends are blank lines; one that is not whole was cut in two.
    """

    rows: list[Line]
    comments: list[str]
    is_whole: bool = True

    @property
    def texts(self) -> list[str]:
        """The rows without their line numbers."""
        return [text for _, text in self.rows]

    def __len__(self) -> int:
        """In letters."""
        return sum(len(text) for _, text in self.rows) + sum(map(len, self.comments))


@dataclass
class Survey:
    """What a pass over a file has found: counts of all lines, and every block of a small file, or blocks at equal
    distances over a large one. Memory does not grow with the file.

    Attributes:
        blocks: The blocks that have rows; of a large file only some.
        rows: The number of rows in the file.
        document_tags: The number of lines with a tag of WikiExtractor's documents.
        new_documents: The number of comments `# newdoc`.
        has_document_lines: Whether there is a line `#begin document`.
        has_entities: Whether there is a comment `# global.Entity`.
        columns: The names in the first comment `# global.columns`; empty without.
    """

    source: Source
    blocks: list[Block] = field(default_factory=list)
    rows: int = 0
    comments: int = 0
    document_tags: int = 0
    new_documents: int = 0
    has_document_lines: bool = False
    has_entities: bool = False
    columns: tuple[str, ...] = ()
    _letters: int = 0
    _distance: int = 1
    _seen: int = 0

    @property
    def texts(self) -> list[str]:
        """The rows of the sample."""
        return list(chain.from_iterable(block.texts for block in self.blocks))

    @property
    def first(self) -> Line:
        """The file's first row; there must be one."""
        return self.blocks[0].rows[0]

    def share_of_rows(self, fits: Callable[[str], object]) -> Share:
        """The share of the sample's rows that fit; 0 without rows."""
        return _share(map(fits, self.texts))

    def share_of_blocks(self, fits: Callable[[Block], object]) -> Share:
        """The share of the sample's blocks that fit; 0 without blocks."""
        return _share(map(fits, self.blocks))

    def add(self, block: Block) -> None:
        """Count a block, and keep it if it stands at the right distance from the last one that is kept."""
        self.rows += len(block.rows)
        if not block.rows:
            return
        if self._seen % self._distance == 0:
            self.blocks.append(block)
            self._letters += len(block)
        self._seen += 1
        while len(self.blocks) > 1 and (len(self.blocks) > MAX_BLOCKS or self._letters > MAX_LETTERS):
            self.blocks = self.blocks[::2]
            self._letters = sum(map(len, self.blocks))
            self._distance *= 2

    def note(self, comment: str) -> None:
        """Count a comment, and keep what it says of the format."""
        self.comments += 1
        self.new_documents += bool(NEW_DOCUMENT.match(comment))
        self.has_document_lines = self.has_document_lines or bool(BEGIN.match(comment))
        self.has_entities = self.has_entities or comment.startswith(ENTITIES)
        if not self.columns and (header := GLOBAL_COLUMNS.match(comment)):
            self.columns = tuple(header[1].upper().split())


def _share(fitting: Iterable[object]) -> Share:
    found = list(map(bool, fitting))
    return sum(found) / max(1, len(found))


@lru_cache(maxsize=4)  # A source in memory stays there while it is cached.
def survey(source: Source) -> Survey:
    """Read a source to its end; raises InputError for an unreadable one. Long lines are cut, not refused."""
    found = Survey(source)
    for block in _blocks(source.lines(cut=True), found):
        found.add(block)
    return found


def _blocks(lines: Iterator[Line], found: Survey) -> Iterator[Block]:
    """Blocks of at most MAX_ROWS rows; what stands outside them is counted in `found`."""
    block = Block([], [])
    letters = 0
    for number, text in lines:
        is_blank = not text or text.isspace()
        if is_blank or len(block.rows) == MAX_ROWS or letters > LONGEST_LINE:
            yield block if is_blank else replace(block, is_whole=False)
            block = Block([], [])
            letters = 0
        if is_blank:
            continue
        letters += len(text)
        if text[0] == "#":
            found.note(text)
            block.comments.append(text)
            continue
        block.rows.append((number, text))
        if text[0] == "<" and DOCUMENT_TAG.fullmatch(text):
            found.document_tags += 1
    yield block
