"""Treebanks: CoNLL-U, CoNLL-X and the authors' `word head-label` lines, recognized from their content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import LONGEST_LINE, Source
from bertviz_core.corpora.treebank import conll
from bertviz_core.corpora.treebank.conll import Line
from bertviz_core.corpora.treebank.trees import BrokenSentence, Sentence, check_tree
from bertviz_core.errors import InputError
from bertviz_core.numbers import small_int

CONLLU, CONLLX, AUTHORS = "CoNLL-U", "CoNLL-X", "word head-label"
LOOKED_AT = 50  # sentences from which the format is recognized
EXPECTED = "Give CoNLL-U, CoNLL-X (ten columns between tabs) or lines of the form `word head-label`."


@dataclass(frozen=True)
class Treebank:
    """Sentences read anew from the source on every pass: memory does not grow with the file.

    `format` is one of CONLLU, CONLLX, AUTHORS; opening raises InputError for a source that is none of them.
    """

    source: Source
    format: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "format", self.source.start.format or _recognize(self.source))

    def sentences(self, skipped: Skipped) -> Iterator[Sentence]:
        """Every sentence that is a tree; the others are counted in `skipped`.

        Raises InputError, naming the line, for a file in which no sentence can be read.
        """
        read = {CONLLU: conll.read_universal, CONLLX: conll.read_x, AUTHORS: read_plain}[self.format]
        number, good = self.source.start.document, False
        first: BrokenSentence | None = None
        for block in blocks(self.source):
            try:
                sentence = read(number, block)
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
    """Read a treebank to its end, so that what nobody can read is refused before it is kept."""
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


def read_plain(number: int, block: list[Line]) -> Sentence:
    """The authors' format: `word head-label` a line; raises BrokenSentence."""
    rows = []
    for line, text in block:
        row = _plain(text)
        if row is None:
            raise BrokenSentence("a line that is not `word head-label`", line, repr(text[:40]))
        rows.append(row)
    words, governors, relations = zip(*rows, strict=True)
    sentence = Sentence(number, block[0][0], words, governors, relations)
    return check_tree(sentence, [line for line, _ in block], single_root=False)


def _plain(text: str) -> tuple[str, int, str] | None:
    """(word, governor, relation) of `word head-label`; the first "-" ends the number, a label may hold more of them."""
    fields = text.rsplit(maxsplit=1)
    if len(fields) < 2:
        return None
    number, _, relation = fields[1].partition("-")
    governor = small_int(number)
    return None if governor is None or not relation else (fields[0].strip(), governor, relation)


def to_authors(sentence: Sentence) -> dict[str, list]:
    """What the release's preprocessing writes for a sentence: `words`, `relns`, `heads` (0 is the root)."""
    return {
        "words": list(sentence.words),
        "relns": list(sentence.relations),
        "heads": list(sentence.governors),
    }


def _recognize(source: Source) -> str:
    lines = [line for block in _first_blocks(source) for line in block]
    if not lines:
        raise InputError("The file is empty.", where=source.name, hint=EXPECTED)
    if any(conll.is_row(text) for _, text in lines):
        if problem := conll.swapped(lines):
            first = next(number for number, text in lines if conll.is_row(text))
            raise InputError(
                f"Columns are swapped: {problem}.",
                where=f"{source.name}, line {first}",
                hint="Put the ten columns into the order of the format.",
            )
        return CONLLU if conll.is_universal(lines) else CONLLX
    if _plain(lines[0][1]):
        return AUTHORS
    raise _not_a_treebank(source, next((line for line in lines if not line[1].startswith("#")), lines[0]))


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
