"""The formats of coreference corpora; docs/formats.md has an example of each. Columns have a word a line, and chains
in the last one; jsonlines and GAP have a document a line, with spans."""

import json
import re
import reprlib
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.coreference import Draft, Span, parse_brackets, sentence_starts
from bertviz_core.corpora.source import Source, replace_surrogates
from bertviz_core.corpora.treebank import conll
from bertviz_core.errors import shorten
from bertviz_core.numbers import small_int

BEGIN = re.compile(r"#\s*begin document\s*(?:\((.*)\))?[;:]?\s*(?:part\s+(\d+))?\s*(.*)", re.IGNORECASE)
TYPED = re.compile(r"^[a-z]+-(\d+)(?:-.*)?$")  # GUM's "person-12-Mary": the number is the chain
WIDE = 11  # columns from which on a row has a tag and a parse, and any number of columns more
PART = re.compile(r"(.*)\[(\d+)/\d+\]")  # one part of a discontinuous mention
COREFUD_COMMENT = re.compile(r"#\s*(global\.Entity|newdoc|sent_id)\b")
GAP_HEADER = "ID\tText\tPronoun\tPronoun-offset\t"
GAP_COLUMNS = ["A", "A-coref", "A-offset", "B", "B-coref", "B-offset", "ID", "Pronoun", "Pronoun-offset", "Text"]
WORD = re.compile(r"\w+|[^\w\s]")


def split(line: str) -> list[str]:
    """The fields of a row; tabs keep empty ones (LitBank's chains), spaces do not."""
    return line.split("\t") if "\t" in line else line.split()


def recognizer(widths: range, blank: bool = False) -> Callable[[Sequence[str]], bool]:
    """A test of lines: whether at least half of the rows have so many columns, with whole numbers as index (and part),
    chain brackets in the last one and, if `blank`, nothing between word and chains."""
    numbers = slice(1) if 3 in widths else slice(1, 3)

    def fits(row: list[str]) -> bool:
        if len(row) not in widths or not all(field.isdigit() for field in row[numbers]):
            return False
        return parse_brackets(row[-1].strip()) is not None and (not blank or set(row[4:12]) == {"_"})

    def recognize(lines: Sequence[str]) -> bool:
        rows = [split(line) for line in lines if not line.startswith("#")]
        return sum(map(fits, rows)) * 2 >= len(rows)

    return recognize


def read_columns(source: Source, skipped: Skipped) -> Iterator[Draft]:
    """Every document, as soon as its last row is read; raises InputError naming the line of a broken row."""
    draft = Draft(source, skipped, "", 1)
    has_headers = False
    width = 0
    for line, text in source.lines():
        if header := BEGIN.match(text):
            yield _split_sentences(draft, width)
            name = header[1] or header[3] or ""
            part = (header[2] or "").lstrip("0")
            draft = Draft(source, skipped, f"{name}, part {part}" if part else name, line)
            has_headers = True
        elif not text.strip():
            draft.is_sentence_over = True
        elif not text.startswith("#"):
            fields = split(text)
            width = width or len(fields)
            while len(fields) > width and not fields[-1]:  # a tab at the end
                fields.pop()
            is_complete = len(fields) >= WIDE if width >= WIDE else len(fields) == width
            if width < 3 or not is_complete:
                minimum = "; a file of chains has at least three: index, word, chains."
                expected = minimum if width < 3 else f" where the file has {width}."
                raise source.error(f"The row has {len(fields)} columns{expected}", "Fix or remove the row.", line)
            if not has_headers and width >= 5 and fields[0] != draft.name and draft.words:
                yield draft
                draft = Draft(source, skipped, fields[0], line)
            draft.name = draft.name or (fields[0] if width != 3 else "")
            _read_row(draft, fields, line)
    yield _split_sentences(draft, width)


def _split_sentences(draft: Draft, width: int) -> Draft:
    """The draft, with sentences by its full stops where a file of three columns marks none."""
    if width == 3 and len(draft.sentences) == 1:
        draft.sentences = sentence_starts(draft.words)
    return draft


def _read_row(draft: Draft, fields: list[str], line: int) -> None:
    word = fields[1 if len(fields) == 3 else 3]
    tag, piece = fields[4:6] if len(fields) >= WIDE else ("", "")
    draft.begin_row(line, word, fields[-1], tag, piece)
    index = len(draft.words)
    draft.words.append(word)
    draft.tags.append(tag)
    draft.parse.append(piece)
    for opens, label, closes in draft.read_brackets(fields[-1].strip(), line):
        draft.add_bracket(TYPED.sub(r"\1", label), opens, closes, (index, index + 1), line)


def is_corefud(lines: Sequence[str]) -> bool:
    """Whether there is one of its comments, or a row of ten columns."""
    return any(conll.is_row(line) or COREFUD_COMMENT.match(line) for line in lines)


def read_corefud(source: Source, skipped: Skipped) -> Iterator[Draft]:
    """Every document, or the whole file where there is no `# newdoc`; raises InputError naming the line."""
    draft = Draft(source, skipped, "", 1)
    chain_index = 0  # of `eid`, in GUM `GRP`
    for line, text in source.lines():
        if text.startswith("#"):
            name, _, value = (part.strip() for part in text[1:].partition("="))
            if name.split()[:1] == ["newdoc"]:
                yield draft
                draft = Draft(source, skipped, value, line)
            elif name == "global.Entity":
                attributes = value.split("-")
                chain_index = next((attributes.index(key) for key in ("eid", "GRP") if key in attributes), 0)
        elif not text.strip():
            draft.is_sentence_over = True
        else:
            _read_corefud_row(draft, text.split("\t"), chain_index, line)
    yield draft


def _read_corefud_row(draft: Draft, fields: list[str], chain_index: int, line: int) -> None:
    """One word; empty nodes (`8.1`) and multi-word tokens (`5-6`) are not words."""
    if len(fields) != conll.COLUMNS:
        what = f"The row has {len(fields)} columns; CoNLL-U has {conll.COLUMNS}, with tabs between them."
        raise draft.source.error(what, "Fix or remove the row.", line)
    start = len(draft.words)
    upos, xpos = fields[3:5]
    tag = xpos if upos == "_" else upos
    draft.begin_row(line, fields[1], tag, fields[9])
    if small_int(fields[0]) is not None:
        draft.words.append(fields[1])
        draft.tags.append(tag)
        governor = small_int(fields[6])
        if governor:
            governor += draft.sentences[-1]
        draft.governors.append(None if governor is None else governor - 1)
    entities = [entry for entry in fields[9].split("|") if entry.startswith("Entity=")]
    for entity in entities:
        for opens, values, closes in draft.read_brackets(entity.removeprefix("Entity="), line):
            attributes = values.split("-")
            chain = attributes[min(chain_index, len(attributes) - 1)]
            part = PART.fullmatch(chain)
            if not part:
                draft.add_bracket(chain, opens, closes, (start, len(draft.words)), line)
            elif opens and part[2] == "1":
                draft.skipped.add("a discontinuous mention", f"line {line}")


def read_jsonlines(source: Source, skipped: Skipped) -> Iterator[Draft]:
    """A document a line; raises InputError naming the line."""
    for line, text in source.lines():
        if not text.strip():
            continue
        value = _object(text, source, line)
        key = value.get("doc_key")
        name = str(key) if key and isinstance(key, str | int) else ""
        draft = Draft(source, skipped, replace_surrogates(name), line)
        draft.words = [replace_surrogates(word) for sentence in value["sentences"] for word in sentence]
        lengths = [len(sentence) for sentence in value["sentences"] if sentence]
        draft.sentences = list(accumulate(lengths[:-1], initial=0))
        for label, cluster in enumerate(value.get("clusters") or []):
            for span in cluster:
                _add_span(draft, span, str(label))
        yield draft


def _object(text: str, source: Source, line: int) -> dict[str, Any]:
    """The object of a line; raises InputError where its words or clusters have another shape."""
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


def _add_span(draft: Draft, span: Any, chain: str) -> None:
    size = len(draft.words)
    is_pair = isinstance(span, list) and len(span) == 2 and all(type(index) is int for index in span)
    if not is_pair or not 0 <= span[0] <= span[1] < size:
        what = f"{reprlib.repr(span)} is not a span of the document's {size} words."
        raise draft.source.error(what, "Write [first, last], counted from 0 over all sentences.", draft.line)
    draft.add_mention(span[0], span[1] + 1, chain, draft.line)


def read_gap(source: Source, skipped: Skipped) -> Iterator[Draft]:
    """A document a row; raises InputError naming the line of a row that does not fit its own text."""
    lines = source.lines()
    header = next(lines)[1].split("\t")
    for line, text in lines:
        if not text.strip():
            continue
        fields = text.split("\t")
        if len(fields) != len(header) or not set(GAP_COLUMNS).issubset(header):
            what = f"The row has {len(fields)} columns; the first line names {len(header)}."
            raise source.error(what, f"GAP has the columns {', '.join(GAP_COLUMNS)}.", line)
        row = dict(zip(header, fields, strict=True))
        draft = Draft(source, skipped, row["ID"], line)
        _read_gap_text(draft, row)
        yield draft


def _read_gap_text(draft: Draft, row: dict[str, str]) -> None:
    """Cut the text into words, also where a name begins or ends, and find the names among them."""
    text = row["Text"]
    spans = {}  # of each name, in characters
    for name in ("Pronoun", "A", "B"):
        form = row[name]
        offset = row[f"{name}-offset"]
        start = small_int(offset)
        if start is None or not form.strip() or not text.startswith(form, start):
            what = f"{shorten(form, 80)!r} is not at {shorten(offset, 80)} in the text."
            raise draft.source.error(what, "Fix the offset.", draft.line)
        spans[name] = start, start + len(form)
    words: list[Span] = []  # in characters
    cuts = sorted({index for span in spans.values() for index in span})
    for match in WORD.finditer(text):
        inner = [cut for cut in cuts if match.start() < cut < match.end()]
        words += pairwise([match.start(), *inner, match.end()])
    draft.words = [text[start:end] for start, end in words]
    draft.sentences = sentence_starts(draft.words)
    for name, (start, end) in spans.items():
        inside = [index for index, (first, _) in enumerate(words) if start <= first < end]
        corefers = name != "Pronoun" and row[f"{name}-coref"].upper() == "TRUE"
        draft.add_mention(inside[0], inside[-1] + 1, "Pronoun" if corefers else name, draft.line)
