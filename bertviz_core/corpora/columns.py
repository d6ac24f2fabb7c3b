"""Coreference in columns, one word a line: CoNLL-2012, LitBank, index-token-chains, the scorer's test cases.

The last column holds the chains. Documents stand between `#begin document` and `#end document`; without those, a new
name in the first column begins one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bertviz_core.corpora.chains import NONE, Chains, brackets
from bertviz_core.corpora.documents import CoreferenceDocument, sentence_starts
from bertviz_core.corpora.left_out import LeftOut
from bertviz_core.corpora.source import Source
from bertviz_core.errors import InputError

BEGIN = re.compile(r"#\s*begin document\s*(?:\((.*)\))?[;:]?\s*(?:part\s+(\d+))?\s*(.*)", re.IGNORECASE)
TYPED = re.compile(r"[a-z]+-(\d+)(?:-.*)?")  # GUM's "person-12-Mary": the number is the chain
WORDLESS = "_"


@dataclass
class Block:
    """The rows of one document, before they are understood; an empty row is the end of a sentence."""

    name: str
    line: int
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


def split(line: str) -> list[str]:
    """Tabs keep empty fields (LitBank's chains), spaces do not."""
    return line.split("\t") if "\t" in line else line.split()


def kind(fields: Sequence[str]) -> str:
    """The name of the format that has such a row, "" for none."""
    count = len(fields)
    if not count or not (fields[-1].strip() in NONE or set("()") & set(fields[-1])):
        return ""
    if count == 13 and set(fields[4:12]) == {"_"}:
        return "LitBank"
    if count >= 11:
        return "CoNLL-2012"
    return {2: "2 columns (document, chains)", 3: "3 columns (index, token, chains)", 5: "5 columns"}.get(count, "")


def documents(source: Source, left_out: LeftOut) -> Iterator[CoreferenceDocument]:
    """Every document, as soon as its last row is read; raises InputError naming the line of a broken row."""
    number = 0
    for block in _blocks(source):
        if any(fields for _, fields in block.rows):
            yield _document(number, block, source.name, left_out)
            number += 1


def _blocks(source: Source) -> Iterator[Block]:
    block, headed, width = Block("", 1), False, 0
    for number, line in source.lines():
        begins = BEGIN.match(line) if line.startswith("#") else None
        if begins:
            yield block
            part = f", part {int(begins[2])}" if int(begins[2] or 0) else ""
            block, headed = Block((begins[1] or begins[3] or "") + part, number), True
        elif line.startswith("#"):
            continue
        elif not line.strip():
            block.rows.append((number, []))
        else:
            fields = split(line)
            width = width or len(fields)
            fields = _checked(fields, width, f"{source.name}, line {number}")
            if not headed and width >= 5 and fields[0] != block.name and block.rows:
                yield block
                block = Block(fields[0], number)
            block.name = block.name or (fields[0] if width != 3 else "")
            block.rows.append((number, fields))
    yield block


def _checked(fields: list[str], width: int, where: str) -> list[str]:
    """A row as wide as the format needs; empty fields that a tab at the end adds are dropped."""
    while len(fields) > width and not fields[-1]:
        fields.pop()
    least = 11 if width >= 11 else width
    if len(fields) < least or (width < 11 and len(fields) != width):
        raise InputError(
            f"The row has {len(fields)} columns where the file has {width}.",
            where=where,
            hint="Mend or remove the row.",
        )
    return fields


def _document(number: int, block: Block, file: str, left_out: LeftOut) -> CoreferenceDocument:
    words: list[str] = []
    starts: list[int] = []
    tags, parse = [], []
    chains, sentence_over = Chains(file, left_out), True
    for line, fields in block.rows:
        if not fields:
            sentence_over = True
            continue
        if sentence_over:
            starts.append(len(words))
            sentence_over = False
        _read_chains(fields[-1], len(words), line, chains)
        words.append(_word(fields))
        tags.append(fields[4] if len(fields) >= 11 else "")
        parse.append(fields[5] if len(fields) >= 11 else "")
    where = f"line {block.line}"
    if len(fields_of_first := next(f for _, f in block.rows if f)) == 2:
        left_out.add("a word that the file does not name (read as _)", where, len(words))
    if len(fields_of_first) == 3 and len(starts) == 1:
        starts = list(sentence_starts(words))
    return CoreferenceDocument(
        number=number,
        name=block.name or f"document {number + 1}",
        where=where,
        words=tuple(words),
        sentences=tuple(starts),
        mentions=chains.mentions(),
        tags=None if NONE.issuperset(tags) else tuple(tags),
        parse=tuple(parse) if any("(" in piece for piece in parse) else None,
    )


def _word(fields: list[str]) -> str:
    if len(fields) == 2:
        return WORDLESS
    return fields[1] if len(fields) == 3 else fields[3]


def _read_chains(text: str, word: int, line: int, chains: Chains) -> None:
    for opens, label, closes in brackets(text.strip(), f"{chains.file}, line {line}"):
        typed = TYPED.fullmatch(label)
        chain = typed[1] if typed else label
        if opens:
            chains.open(chain, word, line)
        if closes:
            chains.close(chain, word + 1, line)
