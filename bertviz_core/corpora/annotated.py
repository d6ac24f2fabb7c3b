"""Treebanks and corpora with coreference; the table of their formats (docs/formats.md), recognized from the content."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Literal

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.coreference import CoreferenceDocument, formats
from bertviz_core.corpora.source import LONGEST_LINE, Line, Source
from bertviz_core.corpora.treebank import BrokenSentence, Sentence, conll

FORMAT_SAMPLE = 1000  # rows
MAX_LABELS = 2000  # of a treebank, which sums and tables grow with; the largest in use have some hundreds
Kind = Literal["treebank", "coreference"]


@dataclass(frozen=True)
class Format:
    """A format of a corpus: that of a file is the first one that recognizes its first lines. `read` takes the number
    and the lines of a sentence, and returns a Sentence; or it takes a source and a Skipped, and yields Drafts."""

    kind: Kind
    name: str
    recognize: Callable[[Sequence[str]], bool]
    read: Callable[..., Any]


def _any_line(fits: Callable[[str], bool]) -> Callable[[Sequence[str]], bool]:
    return lambda lines: any(map(fits, lines))


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


def recognize(kind: Kind, lines: Sequence[str]) -> Format | None:
    """The format of a file's first lines."""
    return next((form for form in FORMATS if form.kind == kind and form.recognize(lines)), None)


def list_formats(kind: Kind) -> str:
    *first, last = (form.name for form in FORMATS if form.kind == kind)
    return f"{', '.join(first)} or {last}"


EXPECTED: dict[Kind, str] = {
    "treebank": f"Give {list_formats('treebank')}; the columns of the first two are separated by tabs.",
    "coreference": f"Give {list_formats('coreference')}.",
}


class AnnotatedCorpus:
    """A corpus in one of the formats, read again on every pass; raises InputError for a source in none of them."""

    kind: ClassVar[Kind]

    def __init__(self, source: Source) -> None:
        self.source = source
        self.form = _format(self.kind, source)


class Treebank(AnnotatedCorpus):
    kind = "treebank"

    def names_documents(self, limit: int | None = None) -> bool:
        """Whether several documents begin (`# newdoc`) in the file, or among its first `limit` sentences."""
        named = (block for block in islice(blocks(self.source), limit) if begins_document(block))
        return len(list(islice(named, 2))) == 2

    def sentences(self, skipped: Skipped) -> Iterator[Sentence]:
        """Every sentence that is a tree; others are counted. Raises InputError for none, and for too many labels."""
        number = document = 0
        labels = set[str]()
        first: BrokenSentence | None = None
        for block in blocks(self.source):
            document += bool(number) and begins_document(block)
            try:
                sentence = self.form.read(number, block)
            except BrokenSentence as broken:
                skipped.add(broken.reason, broken.where)
                first = first or broken
                number += 1
                continue
            if sentence is not None:
                labels.update(sentence.relations, sentence.tags)
                if len(labels) > MAX_LABELS:
                    what = f"There are more than {MAX_LABELS:,} different relations and parts of speech."
                    raise self.source.error(what, "Check that no columns are swapped.", sentence.line)
                yield replace(sentence, document=document) if document else sentence
                number += 1
        if first and not labels:
            what = f"None of the {number:,} sentences can be read as {self.form.name}; the first one has {first.reason}"
            detail = f" ({first.detail})." if first.detail else "."
            raise self.source.error(what + detail, "Fix the file and try again.", first.line)
        if not labels:
            raise self.source.error("The file has no words.", EXPECTED[self.kind])


class CoreferenceCorpus(AnnotatedCorpus):
    kind = "coreference"

    def documents(self, skipped: Skipped) -> Iterator[CoreferenceDocument]:
        """Every document; mentions that are skipped are counted. Raises InputError for a broken one."""
        drafts = (draft for draft in self.form.read(self.source, skipped) if draft.words)
        return (draft.to_document(number) for number, draft in enumerate(drafts))

    def check(self) -> None:
        """Read the corpus to its end; raises InputError where it cannot be read, or has no chain of two mentions."""
        has_chain = False
        for document in self.documents(Skipped()):
            clusters = {mention.cluster for mention in document.mentions}
            has_chain = has_chain or len(clusters) < len(document.mentions)
        if not has_chain:
            what = f"Read as {self.form.name}, the file has no chain of two mentions."
            raise self.source.error(what, EXPECTED[self.kind])


def begins_document(block: Sequence[Line]) -> bool:
    return any(conll.NEW_DOCUMENT.match(text) for _, text in block)


def blocks(source: Source) -> Iterator[list[Line]]:
    """The lines between blank lines. Raises InputError for a block longer than any sentence: it is in memory."""
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
            block = []
            length = 0
    if block:
        yield block


def _format(kind: Kind, source: Source) -> Format:
    """The format, from the first lines: FORMAT_SAMPLE rows, fewer where they are long, with comments."""
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
    texts = [text for _, text in lines]
    if kind == "treebank" and (problem := conll.find_swapped_columns(texts)):
        first = next(number for number, text in lines if conll.is_row(text))
        hint = "Put the ten columns into the order of the format."
        raise source.error(f"Columns are swapped: {problem}.", hint, first)
    if form := recognize(kind, texts):
        return form
    if kind == "coreference":
        raise source.error("This is not a coreference file.", EXPECTED[kind])
    number, text = next(line for line in lines if not line[1].startswith("#"))
    if text.lstrip().startswith("<"):
        raise source.error("This is an HTML or XML page, not a treebank.", EXPECTED[kind], number)
    if text.split()[0].split("-")[0].isdigit() and len(text.split()) >= conll.COLUMNS:
        raise source.error("The tabs between the columns were turned into spaces.", "Keep the tabs.", number)
    raise source.error("This is not a treebank.", EXPECTED[kind], number)
