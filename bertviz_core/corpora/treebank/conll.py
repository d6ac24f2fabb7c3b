"""Treebanks in columns with numbered words, sentence by sentence: CoNLL-U, CoNLL-U Plus, CoNLL-X and CoNLL-2009."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from conllu.exceptions import ParseException
from conllu.parser import DEFAULT_FIELDS, parse_id_value, parse_int_value

from bertviz_core.corpora.format_sampling import Survey
from bertviz_core.corpora.source import Line
from bertviz_core.corpora.treebank import RELATIONS, TAGS, BrokenSentence, Sentence, check_tree, relation_name
from bertviz_core.corpora.word_checks import is_left_out
from bertviz_core.numbers import plural

NAMES = tuple(name.upper() for name in DEFAULT_FIELDS)  # names of CoNLL-U's columns
NEEDED = ("ID", "FORM", "HEAD", "DEPREL")  # the columns that a file of CoNLL-U Plus needs
COMMENT = re.compile(r"#\s*(sent_id|text|newdoc|newpar|global\.columns)\b")  # comments of CoNLL-U
NUMBERED = re.compile(r"\s*[0-9]+(?:[-.][0-9]+)?\s*\t")  # a word, a multi-word token (5-6) or an empty node (8.1)
RANGE = re.compile(r"\s*[0-9]+[-.][0-9]+\s*\t")
LONG_NUMBER = re.compile("[0-9]{10}")  # `int` takes time that grows with the square of the digits, then refuses
OTHER_COLUMN = re.compile(r"[0-9.]+(?::.*)?$")  # a governor's number, or DEPS: a relation such as 2obj has letters
NUMBERS = {8: "eight", 10: "ten"}
NO_WORDS = "words that are left out of the file"


@dataclass(frozen=True)
class Columns:
    """Where a format has its columns, counted from 0, and how its sentences are read.

    Attributes:
        number: The column of the word's number.
        form: The column of the word.
        tag: The column of its part of speech; None where the format has none.
        head: The column of its governor's number.
        relation: The column of its relation to the governor.
        misc: The column of further annotations; None where the format has none.
        is_minimum: Whether rows may be wider than `width`.
        single_root: Whether a sentence has exactly one root.
        named: Whether most relations of the file have known names: then a part of speech among them is an error.
    """

    width: int
    number: int
    form: int
    tag: int | None
    head: int
    relation: int
    misc: int | None = None
    is_minimum: bool = False
    single_root: bool = False
    named: bool = False

    def fits(self, text: str) -> bool:
        """Whether a row has the number of columns."""
        count = text.rstrip("\t ").count("\t") + 1
        if self.is_minimum:
            return count >= self.width
        return count == self.width or (count < self.width == text.count("\t") + 1)

    def word(self, text: str) -> str | None:
        """The word of a row; None for the lines of multi-word tokens and empty nodes, and for other lines."""
        cells = text.split("\t")
        return cells[self.form].strip() if self.fits(text) and cells[self.number].strip().isdigit() else None

    def sentence(self, number: int, block: Sequence[Line]) -> Sentence | None:
        """A sentence; None for comments alone. Multi-word tokens (5-6) and empty nodes (8.1) are not words. Raises
        BrokenSentence."""
        rows = [(line, self._row(line, text)) for line, text in rows_of(block)]
        words = [(line, row) for line, row in rows if isinstance(row["id"], int)]
        if not words:
            return None
        for index, (line, row) in enumerate(words, start=1):
            self._check(line, row, index)
        lines = [line for line, _ in words]
        names = ("form", "head", "deprel", "upos")
        forms, governors, labels, tags = (tuple(row[name] for _, row in words) for name in names)
        if is_left_out(forms):
            raise BrokenSentence(NO_WORDS, lines[0], f"FORM is {forms[0]}")
        relations = tuple(map(relation_name, labels))
        sentence = Sentence(number, lines[0], forms, governors, relations, () if "_" in tags else tags)
        return check_tree(sentence, lines, single_root=self.single_root)

    def _row(self, line: int, text: str) -> dict[str, Any]:
        """Cells by column; raises BrokenSentence."""
        cells = [cell.strip(" ") for cell in re.sub(" +", " ", text).split("\t")]
        if not self.fits(text):
            width = NUMBERS.get(self.width, f"{self.width}{' or more' if self.is_minimum else ''}")
            has_spaces = len(cells) == 1 and len(text.split()) >= self.width
            detail = "tabs turned into spaces" if has_spaces else plural(len(cells), "columns")
            raise BrokenSentence(f"a line without {width} columns between tabs", line, detail)
        row: dict[str, Any] = {"id": cells[self.number], "form": cells[self.form], "head": cells[self.head]}
        row |= {"upos": "_" if self.tag is None else cells[self.tag], "deprel": cells[self.relation]}
        for name, parse in (("id", _parse_id), ("head", parse_int_value)):
            try:
                row[name] = parse(LONG_NUMBER.sub("?", row[name]))
            except ParseException as error:
                reason = f"no number in the {name.upper()} column (were two columns swapped?)"
                raise BrokenSentence(reason, line, repr(row[name])) from error
        return row

    def _check(self, line: int, row: dict[str, Any], number: int) -> None:
        relation = row["deprel"]
        if row["id"] == 1 != number:
            raise BrokenSentence("no blank line before the next sentence", line, "a word is numbered 1")
        if row["id"] != number:
            detail = f"{row['id']}, where {number} was expected"
            raise BrokenSentence("words that are not numbered 1, 2, 3", line, detail)
        if row["head"] is None:
            raise BrokenSentence("a word without a governor", line, "HEAD is _")
        if not row["form"]:
            raise BrokenSentence("a word without a form", line)
        if not relation or relation == "_":
            raise BrokenSentence("a word without a relation", line, "DEPREL is _")
        if OTHER_COLUMN.match(relation) or "=" in relation or (self.named and relation in TAGS):
            reason = "no relation in the DEPREL column (were two columns swapped?)"
            raise BrokenSentence(reason, line, repr(relation))


def _parse_id(cell: str) -> Any:
    """A number, or the tuple of a range or an empty node; raises ParseException, also for an empty cell."""
    if (value := parse_id_value(cell)) is None:
        raise ParseException("There is no ID.")
    return value


def _in_order(names: Sequence[str], **options: bool) -> Columns:
    """Columns by their names in CoNLL-U; ID, FORM, HEAD and DEPREL must be among them."""
    number, form, head, relation = map(names.index, NEEDED)
    tag, misc = (names.index(name) if name in names else None for name in ("UPOS", "MISC"))
    return Columns(
        width=len(names), number=number, form=form, tag=tag, head=head, relation=relation, misc=misc, **options
    )


TEN = _in_order(NAMES)
EIGHT = _in_order(NAMES[:8])  # CoNLL-X as parsers write it, without the projective head
CONLL_2009 = Columns(width=12, number=0, form=1, tag=4, head=8, relation=10, is_minimum=True)


def rows_of(block: Sequence[Line]) -> list[Line]:
    """The rows of a sentence: its lines without comments, and without the rest of a comment that a line break cut."""
    rows = [(line, text) for line, text in block if not text.startswith("#")]
    if rows and block[0][1].startswith("#"):
        first = next((index for index, (_, text) in enumerate(rows) if "\t" in text or _is_spaced(text)), 0)
        return rows[first:]
    return rows


def _is_spaced(text: str) -> bool:
    """Whether it may be a row whose tabs were turned into spaces."""
    cells = text.split()
    return len(cells) >= 8 and cells[0].isdigit()


def is_row(text: str) -> bool:
    """A word: ten columns between tabs."""
    return TEN.fits(text)


def is_ten(survey: Survey) -> bool:
    """Whether most rows have CoNLL-U's ten columns, in its order."""
    return 2 * survey.share_of_rows(is_row) >= 1 and not is_plus(survey)


def is_numbered(survey: Survey) -> bool:
    """Whether most rows begin with the number of a word, of a multi-word token or of an empty node."""
    return 2 * survey.share_of_rows(NUMBERED.match) > 1


def is_eight(survey: Survey) -> bool:
    """Whether most rows have the first eight columns of CoNLL-X, with a number as HEAD."""

    def fits(text: str) -> bool:
        return EIGHT.fits(text) and text.split("\t")[EIGHT.head].strip().isdigit()

    return 2 * survey.share_of_rows(fits) >= 1 and not is_plus(survey)


def is_universal(survey: Survey) -> bool:
    """Whether a file of ten columns is CoNLL-U rather than CoNLL-X: by comments, or ranges of numbers, in most
    sentences, or by its parts of speech."""
    if not is_ten(survey):
        return False
    by_comment = survey.share_of_blocks(lambda block: any(map(COMMENT.match, block.comments)))
    by_range = survey.share_of_blocks(lambda block: any(map(RANGE.match, block.texts)))
    return max(by_comment, by_range) >= 0.5 or _share_of_tags(survey) > 0.9


def _share_of_tags(survey: Survey) -> float:
    """The share of words whose part of speech is a universal one."""
    words = [text.split("\t") for text in survey.texts if is_row(text) and not RANGE.match(text)]
    return float(np.mean([cells[3].strip() in TAGS for cells in words])) if words else 0.0


def universal(survey: Survey) -> Columns:
    """The columns of CoNLL-U, whose sentences have one root each."""
    return replace(_judged(TEN, survey), single_root=True)


def unnamed(survey: Survey) -> Columns:
    """CoNLL-X, where any label may be a relation."""
    return TEN


def is_plus(survey: Survey) -> bool:
    """Whether `# global.columns` names other columns than CoNLL-U's, which most rows have."""
    width = len(survey.columns)
    is_known = set(NEEDED) <= set(survey.columns) and survey.columns != NAMES
    return is_known and 2 * survey.share_of_rows(lambda text: text.count("\t") == width - 1) >= 1


def plus(survey: Survey) -> Columns:
    """The columns that `# global.columns` names, whose sentences have one root each."""
    return replace(_judged(_in_order(survey.columns), survey), single_root=True)


def is_2009(survey: Survey) -> bool:
    """Whether most rows have a number in the first column, and in the ninth, which is HEAD. In CoNLL-2008 the tenth has
    the relation, here it has a number or nothing."""

    def fits(text: str) -> bool:
        cells = text.split("\t")
        is_wide = len(cells) >= CONLL_2009.width and (cells[9].strip() == "_" or cells[9].strip().isdigit())
        return is_wide and cells[0].strip().isdigit() and cells[8].strip().isdigit()

    return 2 * survey.share_of_rows(fits) >= 1


def _judged(columns: Columns, survey: Survey) -> Columns:
    """The columns, with whether most relations of the file have known names."""
    labels = [text.split("\t")[columns.relation] for text in survey.texts if columns.word(text) is not None]
    known = [_is_relation(label) for label in labels]
    return replace(columns, named=2 * sum(known) >= len(known) > 0)


def _is_relation(label: str) -> bool:
    return label.strip().split(":")[0] in RELATION_NAMES


RELATION_NAMES = {label.split(":")[0] for label in RELATIONS}


def find_swapped_columns(survey: Survey) -> str:
    """Which columns are swapped, or "": those with relations or parts of speech in most rows are wrong ones."""
    rows = [text.split("\t")[: TEN.width] for text in survey.texts if is_row(text)]
    columns = list(zip(*rows, strict=True))
    if not columns:
        return ""
    relations = [float(np.mean(list(map(_is_relation, column)))) for column in columns]
    tags = [float(np.mean([cell in TAGS for cell in column])) for column in columns]
    if relations[TEN.relation] < 0.1 and max(relations) > 0.5:
        return f"the relations are in column {relations.index(max(relations)) + 1}, not in column 8 (DEPREL)"
    if tags[TEN.form] > 0.5 > tags[3]:
        return "parts of speech are in column 2 (FORM)"
    if tags[TEN.relation] > 0.9:
        return "parts of speech are in column 8 (DEPREL)"
    return ""
