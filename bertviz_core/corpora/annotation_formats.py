"""The formats of treebanks and of corpora with coreference (docs/formats.md), which are recognized from the content."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from bertviz_core.corpora.coreference import Draft, formats, jsonlines
from bertviz_core.corpora.format_sampling import Survey
from bertviz_core.corpora.source import LONGEST_LINE, Line, Source
from bertviz_core.corpora.treebank import Sentence, conll, lines
from bertviz_core.corpora.unsupported_formats import find_unsupported

JSON_START = re.compile(r'\s*(?:\[\s*(?:[\[{"\]]|$)|\{\s*(?:"|$))')
AnnotationKind = Literal["treebank", "coreference"]


class SentenceReader(Protocol):
    """How the sentences of a file are read."""

    def sentence(self, number: int, block: Sequence[Line]) -> Sentence | None:
        """The sentence of a block of lines, None for comments alone; raises BrokenSentence."""

    def word(self, text: str) -> str | None:
        """The word of a row, None for a row of none."""


def _always(found: Survey) -> bool:
    return True


def _never(found: Survey) -> bool:
    return False


@dataclass(frozen=True)
class TreebankFormat:
    """A format of treebanks. That of a file is the first one that recognizes its survey.

    Attributes:
        name: The name of the format, for people.
        recognize: Whether a file, of which this is the survey, has the format.
        open: Makes the reader of such a file's sentences.
        claim: Whether such a file is a treebank, of which nobody has said what it is: a text may have lines alike.
    """

    name: str
    recognize: Callable[[Survey], bool]
    open: Callable[[Survey], SentenceReader]
    claim: Callable[[Survey], bool] = _always
    kind: ClassVar[AnnotationKind] = "treebank"

    def is_likely(self, found: Survey) -> bool:
        """Whether a file is a treebank in this format, of which nobody has said what it is."""
        return self.recognize(found) and self.claim(found)

    def words(self, found: Survey) -> Iterator[str]:
        """Those of the survey's rows."""
        word = self.open(found).word
        return (form for text in found.texts if (form := word(text)) is not None)


@dataclass(frozen=True)
class CoreferenceFormat:
    """A format of corpora with coreference.

    Attributes:
        name: The name of the format, for people.
        recognize: Whether a file, of which this is the survey, has the format.
        read: Reads the documents of such a file, one after the other.
        words_of: The words of a row of the file.
        claim: Whether such a file has coreference, of which nobody has said what it is: treebanks have the same columns
            without chains, and a text may have lines alike.
        new_document: The line that begins a document of the name in its braces; empty where rows name documents.
        has_exclusive_spans: Whether spans seem to end after their last word.
    """

    name: str
    recognize: Callable[[Survey], bool]
    read: Callable[[Source], Iterator[Draft]]
    words_of: Callable[[str], Sequence[str]]
    claim: Callable[[Survey], bool] = _always
    new_document: str = ""
    has_exclusive_spans: Callable[[Survey], bool] = _never
    kind: ClassVar[AnnotationKind] = "coreference"

    def is_likely(self, found: Survey) -> bool:
        """Whether a file has coreference in this format, of which nobody has said what it is."""
        return self.recognize(found) and self.claim(found)

    def words(self, found: Survey) -> Iterator[str]:
        """Those of the survey's rows."""
        return (word for text in found.texts for word in self.words_of(text))


Format = TreebankFormat | CoreferenceFormat
BEGIN_DOCUMENT = "#begin document ({})\n"
FORMATS: tuple[Format, ...] = (
    TreebankFormat("CoNLL-U", conll.is_universal, conll.universal, conll.is_numbered),
    TreebankFormat("CoNLL-X", conll.is_ten, conll.unnamed, conll.is_numbered),
    TreebankFormat("CoNLL-U Plus", conll.is_plus, conll.plus, conll.is_numbered),
    TreebankFormat("CoNLL-X in eight columns", conll.is_eight, lambda found: conll.EIGHT, conll.is_numbered),
    TreebankFormat("CoNLL-2009", conll.is_2009, lambda found: conll.CONLL_2009),
    TreebankFormat("word head-label", lines.has_labeled, lambda found: lines.LABELED, lines.is_labeled),
    TreebankFormat("word tag head", lines.has_tagged, lambda found: lines.TAGGED, lines.has_several),
    CoreferenceFormat("GAP", formats.is_gap, formats.read_gap, lambda text: ()),
    CoreferenceFormat(
        "CorefUD",
        formats.is_corefud,
        formats.read_corefud,
        formats.corefud_words,
        claim=formats.has_entities,
        new_document="# newdoc id = {}\n",
    ),
    CoreferenceFormat(
        "jsonlines",
        jsonlines.is_jsonlines,
        jsonlines.read_jsonlines,
        jsonlines.words_of,
        claim=jsonlines.has_documents,
        has_exclusive_spans=jsonlines.seem_exclusive,
    ),
    CoreferenceFormat(
        "LitBank", formats.recognizer(range(13, 14), blank=True), formats.read_columns, formats.column_words
    ),
    CoreferenceFormat(
        "SemEval-2010",
        formats.is_semeval,
        formats.read_columns,
        formats.column_words,
        claim=lambda found: found.has_document_lines or not conll.is_2009(found),
    ),
    CoreferenceFormat(
        "CoNLL-2012", formats.recognizer(range(11, LONGEST_LINE)), formats.read_columns, formats.column_words
    ),
    CoreferenceFormat(
        "3 columns (index, token, chains)",
        formats.recognizer(range(3, 4)),
        formats.read_columns,
        formats.column_words,
        claim=formats.has_borders,
        new_document=BEGIN_DOCUMENT,
    ),
    CoreferenceFormat("5 columns", formats.recognizer(range(5, 6)), formats.read_columns, formats.column_words),
)


def recognize(kind: AnnotationKind, found: Survey) -> Format | None:
    """The format of a file."""
    return next((form for form in FORMATS if form.kind == kind and form.recognize(found)), None)


def likely_kinds(found: Survey) -> list[AnnotationKind]:
    """The kinds of annotated corpora that a file seems to be, of which nobody has said what it is."""
    kinds = dict.fromkeys(form.kind for form in FORMATS)
    return [kind for kind in kinds if any(form.kind == kind and form.is_likely(found) for form in FORMATS)]


def list_formats(kind: AnnotationKind) -> str:
    """The names of the formats of a kind of corpus, in a phrase."""
    *first, last = (form.name for form in FORMATS if form.kind == kind)
    return f"{', '.join(first)} or {last}"


EXPECTED: dict[AnnotationKind, str] = {
    "treebank": f"Give {list_formats('treebank')}; the columns of the first two are separated by tabs.",
    "coreference": f"Give {list_formats('coreference')}.",
}


def format_of(kind: AnnotationKind, found: Survey) -> Format:
    """The format of a file; raises InputError where it has none."""
    source = found.source
    if not found.rows:
        what = "The file contains only comments." if found.comments else "The file is empty."
        raise source.error(what, EXPECTED[kind])
    if kind == "treebank" and conll.is_ten(found) and (problem := conll.find_swapped_columns(found)):
        first = next(number for block in found.blocks for number, text in block.rows if conll.is_row(text))
        hint = "Put the ten columns into the order of the format."
        raise source.error(f"Columns are swapped: {problem}.", hint, first)
    if form := recognize(kind, found):
        return form
    line, what, hint = _refusal(kind, found)
    raise source.error(what, hint, line)


def _refusal(kind: AnnotationKind, found: Survey) -> tuple[int | None, str, str]:
    """Why a file in no format of a kind cannot be read: its line, what, and a hint."""
    line, text = found.first
    if unsupported := find_unsupported(found):
        return line, f"This is {unsupported.what}.", unsupported.hint
    if text.lstrip().startswith("<"):
        return line, f"This is an HTML or XML page, not a {kind} file.", EXPECTED[kind]
    if kind == "coreference" and JSON_START.match(text):
        what = "The file is JSON, but no object on each line."
        return line, what, "Write one document on each line, as `jq -c '.[]' file.json` does with a list."
    if kind == "coreference":
        return None, "This is not a coreference file.", EXPECTED[kind]
    return _tree_refusal(found, line)


def _tree_refusal(found: Survey, line: int) -> tuple[int | None, str, str]:
    """The same for a file that is no treebank; `line` is its first row."""
    expected = EXPECTED["treebank"]
    if found.columns and (missing := [name for name in conll.NEEDED if name not in found.columns]):
        what = f"`# global.columns` does not name {' and '.join(missing)}."
        return None, what, f"CoNLL-U Plus needs {', '.join(conll.NEEDED)}."
    numbered = 2 * found.share_of_rows(lambda row: row.split()[0].split("-")[0].isdigit()) >= 1
    if numbered and 2 * found.share_of_rows(lambda row: "\t" not in row and len(row.split()) >= 10) >= 1:
        return line, "The tabs between the columns were turned into spaces.", "Keep the tabs."
    width = Counter(text.count("\t") + 1 for text in found.texts).most_common(1)[0][0]
    if numbered and width > 1:
        hint = f"Name them in a first line, # global.columns = ID FORM ... {expected}"
        return line, f"Most rows have {width} columns between tabs, which is no format of treebanks.", hint
    return line, "This is not a treebank.", expected
