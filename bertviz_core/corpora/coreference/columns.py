"""Coreference in columns, one word a line: CoNLL-2012, LitBank, 3 columns (index, token, chains), 5 columns, and
CorefUD: CoNLL-U whose MISC column brackets the mentions in `Entity=`, with trees and tags.

The last column holds the chains. Documents stand between `#begin document` and `#end document` (in CorefUD from
`# newdoc` on); without those, a new name in the first column begins one.
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence

from bertviz_core.corpora.coreference.documents import Chains, CoreferenceDocument, Draft, brackets, sentence_starts
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Line, Source
from bertviz_core.numbers import small_int

BEGIN = re.compile(r"#\s*begin document\s*(?:\((.*)\))?[;:]?\s*(?:part\s+(\d+))?\s*(.*)", re.IGNORECASE)
TYPED = re.compile(r"[a-z]+-(\d+)(?:-.*)?")  # GUM's "person-12-Mary": the number is the chain


def split(line: str) -> list[str]:
    """Tabs keep empty fields (LitBank's chains), spaces do not."""
    return line.split("\t") if "\t" in line else line.split()


def recognizer(minimum: int, maximum: int = sys.maxsize, blank: bool = False) -> Callable[[Sequence[Line]], bool]:
    """Whether at least half of some rows have from `minimum` to `maximum` columns, with whole numbers where the
    index (and the part) belong, chain brackets in the last one and, if `blank`, nothing between word and chains."""
    numbers = slice(1) if maximum == 3 else slice(1, 3)

    def fits(text: str) -> bool:
        fields = split(text)
        is_wide = minimum <= len(fields) <= maximum and all(field.isdigit() for field in fields[numbers])
        return is_wide and brackets(fields[-1].strip()) is not None and (not blank or set(fields[4:12]) == {"_"})

    def recognize(lines: Sequence[Line]) -> bool:
        rows = [text for _, text in lines if not text.startswith("#")]
        return sum(map(fits, rows)) * 2 >= len(rows)

    return recognize


def documents(source: Source, skipped: Skipped) -> Iterator[CoreferenceDocument]:
    """Every document, as soon as its last row is read; raises InputError naming the line of a broken row."""
    number = 0
    for draft, width in _drafts(source, skipped):
        if draft.words:
            if width == 3 and len(draft.sentences) == 1:
                draft.sentences = list(sentence_starts(draft.words))
            yield draft.finished(number)
            number += 1


def _drafts(source: Source, skipped: Skipped) -> Iterator[tuple[Draft, int]]:
    """Each document, and how many columns the file has."""
    draft, headed, width = Draft(source, skipped, "", 1), False, 0
    for line, text in source.lines():
        begins = BEGIN.match(text) if text.startswith("#") else None
        if begins:
            yield draft, width
            name = (begins[1] or begins[3] or "") + _part(begins[2] or "")
            draft, headed = Draft(source, skipped, name, line), True
        elif text.startswith("#"):
            continue
        elif not text.strip():
            draft.is_sentence_over = True
        else:
            fields = split(text)
            width = width or len(fields)
            _check(fields, width, source, line)
            if not headed and width >= 5 and fields[0] != draft.name and draft.words:
                yield draft, width
                draft = Draft(source, skipped, fields[0], line)
            draft.name = draft.name or (fields[0] if width != 3 else "")
            _read_row(draft, fields, line)
    yield draft, width


def _part(number: str) -> str:
    """The end of a document's name; a number that is none, or of hundreds of digits, stays as it is written."""
    part = small_int(number)
    return f", part {number if part is None else part}" if number and part != 0 else ""


def _check(fields: list[str], width: int, source: Source, line: int) -> None:
    """Raises InputError for a row less wide than the format needs; drops empty fields that a tab at the end adds."""
    while len(fields) > width and not fields[-1]:
        fields.pop()
    if width < 3:
        what = f"The row has {len(fields)} columns; a file of chains has at least three: index, word, chains."
        raise source.error(what, "Fix or remove the row.", line)
    if len(fields) < min(width, 11) or (width < 11 and len(fields) != width):
        what = f"The row has {len(fields)} columns where the file has {width}."
        raise source.error(what, "Fix or remove the row.", line)


def _read_row(draft: Draft, fields: list[str], line: int) -> None:
    word = fields[1] if len(fields) == 3 else fields[3]
    tag, piece = (fields[4], fields[5]) if len(fields) >= 11 else ("", "")
    draft.begin_row(line, word, fields[-1], tag, piece)
    index = len(draft.words)
    draft.words.append(word)
    draft.tags.append(tag)
    draft.parse.append(piece)
    for opens, label, closes in draft.chains.brackets(fields[-1].strip(), line):
        typed = TYPED.fullmatch(label)
        chain = typed[1] if typed else label
        if opens:
            draft.chains.open(chain, index, line)
        if closes:
            draft.chains.close(chain, index + 1, line)


COLUMNS = 10
PART = re.compile(r"(.*)\[(\d+)/\d+\]")  # one part of a discontinuous mention
DEFAULT_ORDER = "eid-etype-head-other"


def is_corefud(lines: Sequence[Line]) -> bool:
    """Whether the comments, or a row of ten columns, say so."""
    comments = any(re.match(r"#\s*(global\.Entity|newdoc|sent_id)\b", text) for _, text in lines)
    return comments or any(text.count("\t") == COLUMNS - 1 for _, text in lines)


def corefud_documents(source: Source, skipped: Skipped) -> Iterator[CoreferenceDocument]:
    """Every `# newdoc`, or the whole file where there is none; raises InputError naming the line."""
    number, index = 0, _label_index(DEFAULT_ORDER)
    draft = Draft(source, skipped, "", 1)
    for line, text in source.lines():
        if text.startswith("#"):
            name, _, value = (part.strip() for part in text[1:].partition("="))
            if name.split()[:1] == ["newdoc"]:
                if draft.words:
                    yield draft.finished(number)
                    number += 1
                draft = Draft(source, skipped, value, line)
            elif name == "global.Entity":
                index = _label_index(value)
        elif not text.strip():
            draft.is_sentence_over = True
        else:
            _read_corefud_row(draft, text.split("\t"), index, line)
    if draft.words:
        yield draft.finished(number)


def _label_index(order: str) -> int:
    """Index of the entity's own id among the dashed attributes: of `eid`, or of `GRP` in GUM."""
    names = order.split("-")
    return next((names.index(name) for name in ("eid", "GRP") if name in names), 0)


def _read_corefud_row(draft: Draft, fields: list[str], index: int, line: int) -> None:
    """One word; an empty node (`8.1`) is not a word, and a multi-word token (`5-6`) stands for the words after it."""
    if len(fields) != COLUMNS:
        what = f"The row has {len(fields)} columns; CoNLL-U has {COLUMNS}, with tabs between them."
        raise draft.source.error(what, "Fix or remove the row.", line)
    start, tag = len(draft.words), fields[3] if fields[3] != "_" else fields[4]
    draft.begin_row(line, fields[1], tag, fields[9])
    if small_int(fields[0]) is not None:
        draft.words.append(fields[1])
        draft.tags.append(tag)
        draft.governors.append(_governor(fields[6], draft.sentences[-1]))
    for entry in fields[9].split("|"):
        if entry.startswith("Entity="):
            _read_entity(draft.chains, entry.removeprefix("Entity="), (start, len(draft.words)), index, line)


def _governor(text: str, first: int) -> int | None:
    number = small_int(text)
    if number is None:
        return None
    return first + number - 1 if number else -1


def _read_entity(chains: Chains, text: str, span: tuple[int, int], index: int, line: int) -> None:
    for opens, attributes, closes in chains.brackets(text, line):
        names = attributes.split("-")
        label = names[index] if len(names) > index else names[-1]
        if part := PART.fullmatch(label):
            if opens and part[2] == "1":
                chains.skipped.add("a discontinuous mention", f"line {line}")
            continue
        if opens:
            chains.open(label, span[0], line)
        if closes:
            chains.close(label, span[1], line)
