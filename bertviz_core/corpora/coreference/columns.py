"""Coreference in columns, one word a line: CoNLL-2012, LitBank, 3 columns (index, token, chains) and 5 columns.

The last column holds the chains. Documents stand between `#begin document` and `#end document`; without those, a new
name in the first column begins one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from bertviz_core.corpora.coreference.chains import NONE, Chains, brackets
from bertviz_core.corpora.coreference.documents import CoreferenceDocument, Extent, sentence_starts
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Line, Source
from bertviz_core.errors import InputError
from bertviz_core.numbers import small_int

BEGIN = re.compile(r"#\s*begin document\s*(?:\((.*)\))?[;:]?\s*(?:part\s+(\d+))?\s*(.*)", re.IGNORECASE)
TYPED = re.compile(r"[a-z]+-(\d+)(?:-.*)?")  # GUM's "person-12-Mary": the number is the chain


@dataclass
class Block:
    """The rows of one document, before their chains are read: a list for each column, for a tuple for each row would
    keep the garbage collector busy.

    Attributes:
        width: How many columns the file has.
        lines: The number of each row's line.
        starts: The rows that begin a sentence.
        over: Whether the sentence of the last row has ended.
    """

    name: str
    line: int
    extent: Extent
    width: int = 0
    over: bool = True
    lines: list[int] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    chains: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    parse: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def add(self, line: int, fields: list[str]) -> None:
        """Keep a row; raises InputError where the document grows too large."""
        count = len(fields)
        word = fields[1] if count == 3 else fields[3]
        tag, piece = (fields[4], fields[5]) if count >= 11 else ("", "")
        self.extent.add(line, word, fields[-1], tag, piece)
        if self.over:
            self.starts.append(len(self.words))
        self.width, self.over = self.width or count, False
        columns = (self.lines, self.words, self.chains, self.tags, self.parse)
        for column, cell in zip(columns, (line, word, fields[-1], tag, piece), strict=True):
            column.append(cell)  # type: ignore[attr-defined]  # a list of numbers and lists of text


def split(line: str) -> list[str]:
    """Tabs keep empty fields (LitBank's chains), spaces do not."""
    return line.split("\t") if "\t" in line else line.split()


def recognizer(minimum: int, maximum: int = sys.maxsize, blank: bool = False) -> Callable[[Sequence[Line]], bool]:
    """Whether the last of some lines has so many columns, with chains in the last one.

    Args:
        minimum: Fewest columns of a row.
        maximum: Most columns of a row.
        blank: Whether the columns between word and chains are empty.
    """

    def recognize(lines: Sequence[Line]) -> bool:
        fields = split(lines[-1][1])
        chains = fields[-1].strip() in NONE or not set("()").isdisjoint(fields[-1])
        return minimum <= len(fields) <= maximum and chains and (not blank or set(fields[4:12]) == {"_"})

    return recognize


def documents(source: Source, skipped: Skipped) -> Iterator[CoreferenceDocument]:
    """Every document, as soon as its last row is read; raises InputError naming the line of a broken row."""
    number = source.start.document
    for block in _blocks(source):
        if block.width:
            yield _document(number, block, source.name, skipped)
            number += 1


def _blocks(source: Source) -> Iterator[Block]:
    block, headed = Block("", source.start.line, Extent(source.name)), False
    width = int(source.start.header or 0)
    for number, line in source.lines():
        begins = BEGIN.match(line) if line.startswith("#") else None
        if begins:
            yield block
            name = (begins[1] or begins[3] or "") + _part(begins[2] or "")
            block, headed = Block(name, number, Extent(source.name)), True
        elif line.startswith("#"):
            continue
        elif not line.strip():
            block.over = True
        else:
            fields = split(line)
            width = width or len(fields)
            fields = _checked(fields, width, f"{source.name}, line {number}")
            if not headed and width >= 5 and fields[0] != block.name and block.words:
                yield block
                block = Block(fields[0], number, Extent(source.name))
            block.name = block.name or (fields[0] if width != 3 else "")
            block.add(number, fields)
    yield block


def _part(number: str) -> str:
    """The end of a document's name; a number that is none, or of hundreds of digits, stays as it is written."""
    part = small_int(number)
    return f", part {number if part is None else part}" if number and part != 0 else ""


def _checked(fields: list[str], width: int, where: str) -> list[str]:
    """A row as wide as the format needs; empty fields that a tab at the end adds are dropped."""
    while len(fields) > width and not fields[-1]:
        fields.pop()
    minimum = 11 if width >= 11 else width
    if len(fields) < minimum or (width < 11 and len(fields) != width):
        raise InputError(
            f"The row has {len(fields)} columns where the file has {width}.",
            where=where,
            hint="Fix or remove the row.",
        )
    return fields


def _document(number: int, block: Block, file: str, skipped: Skipped) -> CoreferenceDocument:
    chains, starts = Chains(file, skipped), block.starts
    for word, (line, text) in enumerate(zip(block.lines, block.chains, strict=True)):
        _read_chains(text, word, line, chains)
    where = f"line {block.line}"
    if block.width == 3 and len(starts) == 1:
        starts = list(sentence_starts(block.words))
    return CoreferenceDocument(
        number=number,
        name=block.name or f"document {number + 1}",
        where=where,
        words=tuple(block.words),
        sentences=tuple(starts),
        mentions=chains.mentions(),
        tags=None if NONE.issuperset(block.tags) else tuple(block.tags),
        parse=tuple(block.parse) if any("(" in piece for piece in block.parse) else None,
        line=block.line,
        header=str(block.width),
    )


def _read_chains(text: str, word: int, line: int, chains: Chains) -> None:
    for opens, label, closes in brackets(text.strip(), f"{chains.file}, line {line}"):
        typed = TYPED.fullmatch(label)
        chain = typed[1] if typed else label
        if opens:
            chains.open(chain, word, line)
        if closes:
            chains.close(chain, word + 1, line)
