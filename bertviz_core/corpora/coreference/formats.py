"""The formats of coreference corpora; docs/formats.md has an example of each. In columns, one word a line, the last one
holds the chains; documents stand between `#begin document` and `#end document` (in CorefUD, CoNLL-U with `Entity=` in
MISC, from `# newdoc` on), or else a new name in the first column begins one. Others give spans, a document a line."""

import json
import re
import reprlib
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.coreference import Draft, Span, brackets, sentence_starts
from bertviz_core.corpora.source import Line, Source, whole
from bertviz_core.errors import shorten
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

    def fits(row: list[str]) -> bool:
        is_wide = minimum <= len(row) <= maximum and all(field.isdigit() for field in row[numbers])
        return is_wide and brackets(row[-1].strip()) is not None and (not blank or set(row[4:12]) == {"_"})

    def recognize(lines: Sequence[Line]) -> bool:
        rows = [split(text) for _, text in lines if not text.startswith("#")]
        return sum(map(fits, rows)) * 2 >= len(rows)

    return recognize


def drafts(source: Source, skipped: Skipped) -> Iterator[Draft]:
    """Every document, as soon as its last row is read; raises InputError naming the line of a broken row."""
    draft = Draft(source, skipped, "", 1)
    headed = False
    width = 0
    for line, text in source.lines():
        begins = BEGIN.match(text) if text.startswith("#") else None
        if begins:
            yield _ended(draft, width)
            # A number that is none, or of hundreds of digits, stays as it is written.
            number = begins[2] or ""
            part = small_int(begins[2] or "")
            named = f", part {number if part is None else part}" if number and part != 0 else ""
            draft = Draft(source, skipped, (begins[1] or begins[3] or "") + named, line)
            headed = True
        elif text.startswith("#"):
            continue
        elif not text.strip():
            draft.is_sentence_over = True
        else:
            fields = split(text)
            width = width or len(fields)
            while len(fields) > width and not fields[-1]:  # a tab at the end
                fields.pop()
            if width < 3 or len(fields) < min(width, 11) or (width < 11 and len(fields) != width):
                least = "; a file of chains has at least three: index, word, chains."
                needed = least if width < 3 else f" where the file has {width}."
                raise source.error(f"The row has {len(fields)} columns{needed}", "Fix or remove the row.", line)
            if not headed and width >= 5 and fields[0] != draft.name and draft.words:
                yield draft
                draft = Draft(source, skipped, fields[0], line)
            draft.name = draft.name or (fields[0] if width != 3 else "")
            _read_row(draft, fields, line)
    yield _ended(draft, width)


def _ended(draft: Draft, width: int) -> Draft:
    """The draft with sentences by its full stops, where a file of three columns marks none."""
    if width == 3 and len(draft.sentences) == 1:
        draft.sentences = sentence_starts(draft.words)
    return draft


def _read_row(draft: Draft, fields: list[str], line: int) -> None:
    word = fields[1] if len(fields) == 3 else fields[3]
    tag, piece = fields[4:6] if len(fields) >= 11 else ("", "")
    draft.begin_row(line, word, fields[-1], tag, piece)
    index = len(draft.words)
    draft.words.append(word)
    draft.tags.append(tag)
    draft.parse.append(piece)
    for opens, label, closes in draft.brackets_of(fields[-1].strip(), line):
        typed = TYPED.fullmatch(label)
        draft.bracket(typed[1] if typed else label, opens, closes, (index, index + 1), line)


COLUMNS = 10
PART = re.compile(r"(.*)\[(\d+)/\d+\]")  # one part of a discontinuous mention
DEFAULT_ORDER = "eid-etype-head-other"


def is_corefud(lines: Sequence[Line]) -> bool:
    """Whether the comments, or a row of ten columns, say so."""
    comments = any(re.match(r"#\s*(global\.Entity|newdoc|sent_id)\b", text) for _, text in lines)
    return comments or any(text.count("\t") == COLUMNS - 1 for _, text in lines)


def corefud_drafts(source: Source, skipped: Skipped) -> Iterator[Draft]:
    """Every `# newdoc`, or the whole file where there is none; raises InputError naming the line."""
    draft = Draft(source, skipped, "", 1)
    order = DEFAULT_ORDER
    for line, text in source.lines():
        if text.startswith("#"):
            name, _, value = (part.strip() for part in text[1:].partition("="))
            if name.split()[:1] == ["newdoc"]:
                yield draft
                draft = Draft(source, skipped, value, line)
            elif name == "global.Entity":
                order = value
        elif not text.strip():
            draft.is_sentence_over = True
        else:
            _read_corefud_row(draft, text.split("\t"), order, line)
    yield draft


def _read_corefud_row(draft: Draft, fields: list[str], order: str, line: int) -> None:
    """One word; an empty node (`8.1`) is not a word, and a multi-word token (`5-6`) stands for the words after it."""
    if len(fields) != COLUMNS:
        what = f"The row has {len(fields)} columns; CoNLL-U has {COLUMNS}, with tabs between them."
        raise draft.source.error(what, "Fix or remove the row.", line)
    start = len(draft.words)
    tag = fields[3] if fields[3] != "_" else fields[4]
    draft.begin_row(line, fields[1], tag, fields[9])
    if small_int(fields[0]) is not None:
        draft.words.append(fields[1])
        draft.tags.append(tag)
        governor = small_int(fields[6])
        if governor is not None:
            governor = draft.sentences[-1] + governor - 1 if governor else -1
        draft.governors.append(governor)
    for entry in fields[9].split("|"):
        if entry.startswith("Entity="):
            _read_entity(draft, entry.removeprefix("Entity="), (start, len(draft.words)), order, line)


def _read_entity(draft: Draft, text: str, span: Span, order: str, line: int) -> None:
    """The brackets of a cell; the chain is the attribute `eid`, in GUM `GRP`, of those in `order` between dashes."""
    attributes = order.split("-")
    index = next((attributes.index(name) for name in ("eid", "GRP") if name in attributes), 0)
    for opens, values, closes in draft.brackets_of(text, line):
        names = values.split("-")
        chain = names[index] if len(names) > index else names[-1]
        part = PART.fullmatch(chain)
        if not part:
            draft.bracket(chain, opens, closes, span, line)
        elif opens and part[2] == "1":
            draft.skipped.add("a discontinuous mention", f"line {line}")


def jsonlines_drafts(source: Source, skipped: Skipped) -> Iterator[Draft]:
    """A document a line."""
    for line, text in source.lines():
        if not text.strip():
            continue
        value = _object(text, source, line)
        key = value.get("doc_key")
        draft = Draft(source, skipped, whole(str(key)) if key and isinstance(key, str | int) else "", line)
        draft.words = [whole(word) for sentence in value["sentences"] for word in sentence]
        lengths = [len(sentence) for sentence in value["sentences"] if sentence]
        draft.sentences = list(accumulate(lengths[:-1], initial=0))
        for label, cluster in enumerate(value.get("clusters") or []):
            for span in cluster:
                draft.add(*_span(span, len(draft.words), source, line), str(label), line)
        yield draft


def _object(text: str, source: Source, line: int) -> dict[str, Any]:
    """What a line says; raises InputError where its words or clusters have another shape."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, a depth of thousands too
        raise source.error("The line is not JSON.", "Write one object per line.", line) from error
    sentences: Any = value.get("sentences") if isinstance(value, dict) else None
    if not _is_nested(sentences) or not all(isinstance(word, str) for sentence in sentences for word in sentence):
        hint = 'Write {"sentences": [["A", "word"]]}.'
        raise source.error("`sentences` is not a list of lists of words.", hint, line)
    if not _is_nested(value.get("clusters") or []):
        hint = 'Write {"clusters": [[[0, 1], [5, 5]]]}.'
        raise source.error("`clusters` is not a list of lists of spans.", hint, line)
    return value


def _is_nested(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, list) for part in value)


def _span(span: Any, words: int, source: Source, line: int) -> Span:
    if isinstance(span, list) and len(span) == 2 and all(type(index) is int for index in span):
        start, end = span
        if 0 <= start <= end < words:
            return start, end + 1
    what = f"{reprlib.repr(span)} is not a span of the document's {words} words."
    raise source.error(what, "Write [first, last], counted from 0 over all sentences.", line)


GAP_HEADER = "ID\tText\tPronoun\tPronoun-offset\t"
NAMES = ("Pronoun", "A", "B")
WORD = re.compile(r"\w+|[^\w\s]")


def gap_drafts(source: Source, skipped: Skipped) -> Iterator[Draft]:
    """A document a row; raises InputError naming the line of a row that does not fit its own text."""
    header: list[str] = []
    for line, text in source.lines():
        if not header:
            header = text.split("\t")
        elif text.strip():
            row = _row(header, text, source, line)
            draft = Draft(source, skipped, row["ID"], line)
            _read_gap(draft, row)
            yield draft


def _row(names: list[str], text: str, source: Source, line: int) -> dict[str, str]:
    fields = text.split("\t")
    needed = {"ID", "Text", "A-coref", "B-coref", *NAMES, *(f"{name}-offset" for name in NAMES)}
    if len(fields) != len(names) or not needed.issubset(names):
        what = f"The row has {len(fields)} columns; the first line names {len(names)}."
        raise source.error(what, f"GAP has the columns {', '.join(sorted(needed))}.", line)
    return dict(zip(names, fields, strict=True))


def _read_gap(draft: Draft, row: dict[str, str]) -> None:
    text = row["Text"]
    spans = {}  # of each name, in characters
    for name in NAMES:
        surface = row[name]
        start = small_int(row[f"{name}-offset"])
        if start is None or not surface.strip() or not text.startswith(surface, start):
            what = f"{shorten(surface, 80)!r} is not at {shorten(row[f'{name}-offset'], 80)} in the text."
            raise draft.source.error(what, "Fix the offset.", draft.line)
        spans[name] = start, start + len(surface)
    extents: list[tuple[int, int]] = []  # of words, which are cut where a name begins or ends
    cuts = sorted({index for span in spans.values() for index in span})
    for match in WORD.finditer(text):
        inner = [cut for cut in cuts if match.start() < cut < match.end()]
        extents += pairwise([match.start(), *inner, match.end()])
    draft.words = [text[start:end] for start, end in extents]
    draft.sentences = sentence_starts(draft.words)
    for name, (start, end) in spans.items():
        inside = [i for i, (first, _) in enumerate(extents) if start <= first < end]
        corefers = name != "Pronoun" and row[f"{name}-coref"].upper() == "TRUE"
        draft.add(inside[0], inside[-1] + 1, "Pronoun" if corefers else name, draft.line)
