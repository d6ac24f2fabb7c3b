"""The formats of treebanks, sentence by sentence: CoNLL-U, CoNLL-X and the authors' `word head-label`."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from conllu.exceptions import ParseException
from conllu.parser import DEFAULT_FIELDS, parse_id_value, parse_int_value

from bertviz_core.corpora.source import Line
from bertviz_core.corpora.treebank import RELATIONS, TAGS, BrokenSentence, Sentence, check_tree, relation_name
from bertviz_core.numbers import small_int

COLUMNS = len(DEFAULT_FIELDS)
FORM, UPOS, DEPREL = (DEFAULT_FIELDS.index(name) for name in ("form", "upos", "deprel"))
COMMENT = re.compile(r"#\s*(sent_id|text|newdoc|newpar|global\.columns)\b")  # of CoNLL-U
NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")
ID = re.compile(r"\d+(?:[-.]\d+)?\t")  # of a word, a multi-word token (5-6) or an empty node (8.1)
LONG_NUMBER = re.compile("[0-9]{10}")  # `int` takes time that grows with the square of the digits, then refuses


def is_row(text: str) -> bool:
    """A word: ten columns between tabs."""
    return text.count("\t") == COLUMNS - 1


def is_universal(lines: Sequence[str]) -> bool:
    """Whether they are CoNLL-U rather than CoNLL-X, by its comments, its ranges of ids, or its tags."""
    rows = [line.split("\t") for line in lines if is_row(line)]
    has_comment = any(map(COMMENT.match, lines))
    has_range = any(not row[0].isdigit() for row in rows)
    return bool(rows) and (has_comment or has_range or all(row[UPOS] in TAGS for row in rows))


def find_swapped_columns(lines: Sequence[str]) -> str:
    """Which columns are swapped, or "": those with relations or parts of speech in most rows are wrong ones."""
    columns = list(zip(*(line.split("\t") for line in lines if is_row(line)), strict=True))
    if not columns:
        return ""
    names = {label.split(":")[0] for label in RELATIONS}
    relations = [np.mean([cell.split(":")[0] in names for cell in column]) for column in columns]
    tags = [np.mean([cell in TAGS for cell in column]) for column in columns]
    if relations[DEPREL] < 0.1 and max(relations) > 0.5:
        return f"the relations are in column {relations.index(max(relations)) + 1}, not in column {DEPREL + 1} (DEPREL)"
    if tags[FORM] > 0.5 > tags[UPOS]:
        return f"parts of speech are in column {FORM + 1} (FORM)"
    return ""


def read_universal(number: int, block: Sequence[Line], universal: bool = True) -> Sentence | None:
    """A sentence of CoNLL-U, or of CoNLL-X (not `universal`), whose tree may have several roots; None for comments
    alone. Multi-word tokens (5-6) and empty nodes (8.1) are not words. Raises BrokenSentence."""
    rows = [(line, _row(line, text)) for line, text in block if not text.startswith("#")]
    words = [(line, row) for line, row in rows if isinstance(row["id"], int)]
    if not words:
        return None
    for index, (line, row) in enumerate(words, start=1):
        _check_row(line, row, index, universal)
    lines = [line for line, _ in words]
    columns = ("form", "head", "deprel", "upos")
    forms, governors, labels, tags = (tuple(row[name] for _, row in words) for name in columns)
    relations = tuple(map(relation_name, labels))
    tags = () if "_" in tags else tags
    sentence = Sentence(number, lines[0], forms, governors, relations, tags)
    return check_tree(sentence, lines, single_root=universal)


def _row(line: int, text: str) -> dict[str, Any]:
    """Cells by column; raises BrokenSentence."""
    cells = re.sub(" +", " ", text).split("\t")
    if len(cells) != COLUMNS:
        has_spaces = len(cells) == 1 and len(text.split()) >= COLUMNS
        detail = "tabs turned into spaces" if has_spaces else f"{len(cells)} columns"
        raise BrokenSentence("a line without ten columns between tabs", line, detail)
    row: dict[str, Any] = dict(zip(DEFAULT_FIELDS, cells, strict=True))
    for name, parse in (("id", parse_id_value), ("head", parse_int_value)):
        try:
            row[name] = parse(LONG_NUMBER.sub("?", row[name]))
        except ParseException as error:
            reason = f"no number in the {name.upper()} column (were two columns swapped?)"
            raise BrokenSentence(reason, line, repr(row[name])) from error
    return row


def _check_row(line: int, row: dict[str, Any], number: int, universal: bool) -> None:
    relation = row["deprel"]
    if row["id"] != number:
        raise BrokenSentence("words that are not numbered 1, 2, 3", line, f"{row['id']}, where {number} was expected")
    if row["head"] is None:
        raise BrokenSentence("a word without a governor", line, "HEAD is _")
    if not row["form"].strip():
        raise BrokenSentence("a word without a form", line)
    if not relation.strip() or relation == "_":
        raise BrokenSentence("a word without a relation", line, "DEPREL is _")
    if relation[0].isdigit() or "=" in relation or (universal and relation in TAGS):
        raise BrokenSentence("no relation in the DEPREL column (were two columns swapped?)", line, repr(relation))


def is_plain(lines: Sequence[str]) -> bool:
    """Whether at least half of the lines have the authors' format."""
    return sum(_parse_plain(line) is not None for line in lines) * 2 >= len(lines) > 0


def is_plain_sentence(lines: Sequence[str]) -> bool:
    """Whether every line has the authors' format, with a governor in the sentence and a relation that is a name."""
    rows = map(_parse_plain, lines)
    return all(row is not None and row[1] <= len(lines) and not row[2][0].isdigit() for row in rows)


def read_plain(number: int, block: Sequence[Line]) -> Sentence:
    """The authors' format: `word head-label` a line; raises BrokenSentence."""
    rows = []
    for line, text in block:
        if (row := _parse_plain(text)) is None:
            raise BrokenSentence("a line that is not `word head-label`", line, repr(text[:40]))
        rows.append(row)
    sentence = Sentence(number, block[0][0], *zip(*rows, strict=True))
    return check_tree(sentence, [line for line, _ in block], single_root=False)


def _parse_plain(text: str) -> tuple[str, int, str] | None:
    """(word, governor, relation) of `word head-label`; a label may have more dashes."""
    pair = text.rsplit(maxsplit=1)
    if len(pair) < 2:
        return None
    number, _, relation = pair[1].partition("-")
    governor = small_int(number)
    return None if governor is None or not relation else (pair[0].strip(), governor, relation_name(relation))
