"""Treebanks, and corpora with chains of mentions that refer to the same thing: their formats, in one table, recognized
from the content. docs/formats.md has an example of each."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.coreference import CoreferenceDocument, formats
from bertviz_core.corpora.source import LONGEST_LINE, Line, Source
from bertviz_core.corpora.treebank import BrokenSentence, Sentence, conll

FORMAT_SAMPLE = 1000  # lines of words from which the format is recognized
Kind = Literal["treebank", "coreference"]


@dataclass(frozen=True)
class Format:
    """One way to write a corpus; the first format that recognizes the first lines of a file counts. `read` takes the
    number of a sentence and its lines to a Sentence, or a source and what it skips to Drafts of documents."""

    kind: Kind
    name: str
    recognize: Callable[[Sequence[Line]], bool]
    read: Callable[..., Any]


def _any_line(fits: Callable[[str], bool]) -> Callable[[Sequence[Line]], bool]:
    return lambda lines: any(fits(text) for _, text in lines)


FORMATS = (
    Format("treebank", "CoNLL-U", conll.is_universal, conll.read_universal),
    Format("treebank", "CoNLL-X", _any_line(conll.is_row), partial(conll.read_universal, universal=False)),
    Format("treebank", "word head-label", conll.is_plain, conll.read_plain),
    Format("coreference", "CorefUD", formats.is_corefud, formats.read_corefud),
    Format("coreference", "jsonlines", _any_line(lambda text: text.startswith("{")), formats.read_jsonlines),
    Format("coreference", "GAP", _any_line(lambda text: text.startswith(formats.GAP_HEADER)), formats.read_gap),
    Format("coreference", "LitBank", formats.recognizer(range(13, 14), blank=True), formats.read_columns),
    Format("coreference", "CoNLL-2012", formats.recognizer(range(11, LONGEST_LINE)), formats.read_columns),
    Format("coreference", "3 columns (index, token, chains)", formats.recognizer(range(3, 4)), formats.read_columns),
    Format("coreference", "5 columns", formats.recognizer(range(5, 6)), formats.read_columns),
)


def recognize(kind: Kind, lines: Sequence[Line]) -> Format | None:
    """The format of a file that begins with these lines."""
    return next((form for form in FORMATS if form.kind == kind and form.recognize(lines)), None)


def names(kind: Kind) -> str:
    """The formats of one kind, for people."""
    *first, last = (form.name for form in FORMATS if form.kind == kind)
    return f"{', '.join(first)} or {last}"


EXPECTED: dict[Kind, str] = {
    "treebank": f"Give {names('treebank')}; the columns of the first two are separated by tabs.",
    "coreference": f"Give {names('coreference')}.",
}


@dataclass
class AnnotatedCorpus:
    """A corpus of one of the formats, read again from the source on every pass: memory does not grow with the file.
    Opening raises InputError for a source that has none of the formats."""

    source: Source
    form: Format = field(init=False)
    kind: ClassVar[Kind]

    def __post_init__(self) -> None:
        self.form = _format(self.kind, self.source)


class Treebank(AnnotatedCorpus):
    """A corpus of trees."""

    kind = "treebank"

    def sentences(self, skipped: Skipped) -> Iterator[Sentence]:
        """Every sentence that is a tree; the others are counted in `skipped`. Raises InputError, naming the line, for a
        file in which no sentence can be read."""
        number, good = 0, False
        first: BrokenSentence | None = None
        for block in blocks(self.source):
            try:
                sentence = self.form.read(number, block)
            except BrokenSentence as broken:
                skipped.add(broken.reason, broken.where)
                first = first or broken
                number = number + 1
                continue
            if sentence is not None:
                good, number = True, number + 1
                yield sentence
        if first and not good:
            what = f"None of the {number:,} sentences can be read as {self.form.name}; the first one has {first.reason}"
            detail = f" ({first.detail})." if first.detail else "."
            raise self.source.error(what + detail, "Fix the file and try again.", first.line)
        if not good:
            raise self.source.error("The file has no words.", EXPECTED[self.kind])


class CoreferenceCorpus(AnnotatedCorpus):
    """A corpus of documents, read one at a time."""

    kind = "coreference"

    def documents(self, skipped: Skipped) -> Iterator[CoreferenceDocument]:
        """Every document; what cannot be shown is counted in `skipped`, what is broken raises InputError."""
        drafts = (draft for draft in self.form.read(self.source, skipped) if draft.words)
        return (draft.to_document(number) for number, draft in enumerate(drafts))

    def check(self) -> None:
        """Read it once to its end; raises InputError for a file that cannot be read, or in which nothing corefers."""
        chained = False
        for document in self.documents(Skipped()):
            chained = chained or len({mention.cluster for mention in document.mentions}) < len(document.mentions)
        if not chained:
            what = f"Read as {self.form.name}, the file has no chain of two mentions."
            raise self.source.error(what, EXPECTED[self.kind])


def blocks(source: Source) -> Iterator[list[Line]]:
    """Runs of lines between blank lines; the last one needs none after it. Raises InputError for a run that is as long
    as no sentence is: memory would grow with it."""
    block: list[Line] = []
    length = 0
    for number, text in source.lines():
        if text.strip():
            block.append((number, text))
            length += len(text) + 1
            if length > LONGEST_LINE:
                what = f"The sentence that begins here is longer than {LONGEST_LINE / 1e6:.0f} MB."
                raise source.error(what, "Put a blank line between sentences.", block[0][0])
        elif block:
            yield block
            block, length = [], 0
    if block:
        yield block


def _format(kind: Kind, source: Source) -> Format:
    """The format, from the first lines, fewer where they are very long, and the comments among them."""
    lines: list[Line] = []
    rows = length = 0
    for number, text in source.lines():
        is_row = bool(text.strip()) and not text.startswith("#")
        if is_row or (text.strip() and length < LONGEST_LINE):
            lines.append((number, text))
            length += len(text) + 1
        rows += is_row
        if rows == FORMAT_SAMPLE or (rows and length > LONGEST_LINE):
            break
    if not rows:
        what = "The file contains only comments." if lines else "The file is empty."
        raise source.error(what, EXPECTED[kind])
    if kind == "treebank" and (problem := conll.swapped(lines)):
        first = next(number for number, text in lines if conll.is_row(text))
        hint = "Put the ten columns into the order of the format."
        raise source.error(f"Columns are swapped: {problem}.", hint, first)
    if recognized := recognize(kind, lines):
        return recognized
    if kind == "coreference":
        raise source.error("This is not a coreference file.", EXPECTED[kind])
    number, text = next(line for line in lines if not line[1].startswith("#"))
    if text.lstrip().startswith("<"):
        raise source.error("This is an HTML or XML page, not a treebank.", EXPECTED[kind], number)
    if text.split()[0].split("-")[0].isdigit() and len(text.split()) >= conll.COLUMNS:
        raise source.error("The tabs between the columns were turned into spaces.", "Keep the tabs.", number)
    raise source.error("This is not a treebank.", EXPECTED[kind], number)
