"""Coreference whose mentions are spans: the jsonlines of the end-to-end systems, with `doc_key`, `sentences` (lists of
words) and `clusters` (inclusive spans); and GAP, a row of a table with a text, a pronoun in it, and two names of which
one, or neither, is meant.
"""

import json
import re
import reprlib
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Any

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.coreference import Draft, sentence_starts
from bertviz_core.corpora.source import Source, whole
from bertviz_core.errors import shorten
from bertviz_core.numbers import small_int


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
                start, end = _span(span, len(draft.words), source, line)
                draft.add(start, end + 1, str(label), line)
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


def _span(span: Any, words: int, source: Source, line: int) -> tuple[int, int]:
    if isinstance(span, list) and len(span) == 2 and all(type(index) is int for index in span):
        start, end = span
        if 0 <= start <= end < words:
            return start, end
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
    text, spans = row["Text"], {}  # of each name, in characters
    for name in NAMES:
        surface, start = row[name], small_int(row[f"{name}-offset"])
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
