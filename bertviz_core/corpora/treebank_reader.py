"""Treebanks in any of the formats of corpora/formats.py, recognized from their content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from bertviz_core.corpora import formats
from bertviz_core.corpora.formats import Format
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import LONGEST_LINE, Line, Source
from bertviz_core.corpora.treebank import conll
from bertviz_core.corpora.treebank.trees import BrokenSentence, Sentence
from bertviz_core.errors import InputError

LOOKED_AT = 50  # sentences from which the format is recognized
EXPECTED = f"Give {formats.names('treebank')}; the columns of the first two are separated by tabs."


@dataclass(frozen=True)
class Treebank:
    """Sentences read again from the source on every pass: memory does not grow with the file.

    Opening raises InputError for a source that has none of the formats.
    """

    source: Source
    _format: Format = field(init=False)

    def __post_init__(self) -> None:
        known = formats.known("treebank", self.source.start.format)
        object.__setattr__(self, "_format", known or _recognize(self.source))

    @property
    def format(self) -> str:
        """Name of the recognized format."""
        return self._format.name

    def sentences(self, skipped: Skipped) -> Iterator[Sentence]:
        """Every sentence that is a tree; the others are counted in `skipped`.

        Raises InputError, naming the line, for a file in which no sentence can be read.
        """
        number, good = self.source.start.document, False
        first: BrokenSentence | None = None
        for block in blocks(self.source):
            try:
                sentence = self._format.read(number, block)
            except BrokenSentence as broken:
                skipped.add(broken.reason, broken.where)
                first, number = first or broken, number + 1
                continue
            if sentence is not None:
                good, number = True, number + 1
                yield sentence
        if not good:
            raise _nothing(self.source, self.format, number, first)


def check_treebank(source: Source) -> None:
    """Read a treebank to its end, so that an unreadable file is refused before it is stored."""
    for _ in Treebank(source).sentences(Skipped()):
        pass


def blocks(source: Source) -> Iterator[list[Line]]:
    """Runs of lines between blank lines; the last one needs none after it.

    Raises InputError for a run that is as long as no sentence is: memory would grow with it.
    """
    block: list[Line] = []
    length = 0
    for number, text in source.lines():
        if text.strip():
            block.append((number, text))
            length += len(text) + 1
            if length > LONGEST_LINE:
                raise InputError(
                    f"The sentence that begins here is longer than {LONGEST_LINE / 1e6:.0f} MB.",
                    where=f"{source.name}, line {block[0][0]}",
                    hint="Put a blank line between sentences.",
                )
        elif block:
            yield block
            block, length = [], 0
    if block:
        yield block


def to_authors(sentence: Sentence) -> dict[str, list]:
    """What the release's preprocessing writes for a sentence: `words`, `relns`, `heads` (0 is the root)."""
    return {
        "words": list(sentence.words),
        "relns": list(sentence.relations),
        "heads": list(sentence.governors),
    }


def _recognize(source: Source) -> Format:
    lines = [line for block in _first_blocks(source) for line in block]
    if not lines:
        raise InputError("The file is empty.", where=source.name, hint=EXPECTED)
    if conll.has_rows(lines) and (problem := conll.swapped(lines)):
        first = next(number for number, text in lines if conll.is_row(text))
        raise InputError(
            f"Columns are swapped: {problem}.",
            where=f"{source.name}, line {first}",
            hint="Put the ten columns into the order of the format.",
        )
    recognized = formats.recognize("treebank", lines)
    if recognized is None:
        raise _not_a_treebank(source, next((line for line in lines if not line[1].startswith("#")), lines[0]))
    return recognized


def _first_blocks(source: Source) -> Iterator[list[Line]]:
    """Enough to recognize a format from: a few sentences, fewer where they are very long."""
    length = 0
    for block in islice(blocks(source), LOOKED_AT):
        yield block
        length += sum(len(text) for _, text in block)
        if length > LONGEST_LINE:
            return


def _not_a_treebank(source: Source, line: Line) -> InputError:
    number, text = line
    where = f"{source.name}, line {number}"
    if text.lstrip().startswith("<"):
        return InputError("This is an HTML or XML page, not a treebank.", where=where, hint=EXPECTED)
    if text.split()[0].split("-")[0].isdigit() and len(text.split()) >= conll.COLUMNS:
        return InputError("The tabs between the columns were turned into spaces.", where=where, hint="Keep the tabs.")
    return InputError("This is not a treebank.", where=where, hint=EXPECTED)


def _nothing(source: Source, name: str, number: int, first: BrokenSentence | None) -> InputError:
    if first is None:
        return InputError("The file contains only comments.", where=source.name, hint=EXPECTED)
    return InputError(
        f"None of the {number:,} sentences can be read as {name}; the first one has {first.reason}"
        + (f" ({first.detail})." if first.detail else "."),
        where=f"{source.name}, line {first.line}",
        hint="Fix the file and try again.",
    )
