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

from bertviz_core.corpora.coreference.documents import Chains, CoreferenceDocument, Mention, ordered, sentence_starts
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source, whole
from bertviz_core.errors import shorten
from bertviz_core.numbers import small_int


def jsonlines_documents(source: Source, skipped: Skipped) -> Iterator[CoreferenceDocument]:
    """A document a line."""
    number = 0
    for line, text in source.lines():
        if text.strip():
            yield _document(number, line, _object(text, source, line), Chains(source, skipped))
            number += 1


def _object(text: str, source: Source, line: int) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, a depth of thousands too
        raise source.error("The line is not JSON.", "Write one object per line.", line) from error
    if not isinstance(value, dict) or not _is_text(value.get("sentences")):
        hint = 'Write {"sentences": [["A", "word"]]}.'
        raise source.error("`sentences` is not a list of lists of words.", hint, line)
    return value


def _is_text(sentences: Any) -> bool:
    return isinstance(sentences, list) and all(
        isinstance(sentence, list) and all(isinstance(word, str) for word in sentence) for sentence in sentences
    )


def _document(number: int, line: int, value: dict[str, Any], chains: Chains) -> CoreferenceDocument:
    words = [whole(word) for sentence in value["sentences"] for word in sentence]
    lengths = [len(sentence) for sentence in value["sentences"] if sentence]
    clusters = value.get("clusters") or []
    if not isinstance(clusters, list) or not all(isinstance(cluster, list) for cluster in clusters):
        what = "`clusters` is not a list of lists of spans."
        raise chains.source.error(what, 'Write {"clusters": [[[0, 1], [5, 5]]]}.', line)
    for label, cluster in enumerate(clusters):
        for span in cluster:
            start, end = _span(span, len(words), chains.source, line)
            chains.add(start, end + 1, str(label), f"line {line}")
    return CoreferenceDocument(
        number=number,
        name=_name(value.get("doc_key")) or f"document {number + 1}",
        where=f"line {line}",
        words=tuple(words),
        sentences=tuple(accumulate(lengths[:-1], initial=0)) if words else (),
        mentions=chains.mentions(),
    )


def _name(key: Any) -> str:
    """A document's `doc_key`, where it is a name."""
    return whole(str(key)) if key and isinstance(key, str | int) else ""


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


def gap_documents(source: Source, skipped: Skipped) -> Iterator[CoreferenceDocument]:
    """A document a row; raises InputError naming the line of a row that does not fit its own text."""
    header, number = "", 0
    for line, text in source.lines():
        if not header:
            header = text
        elif text.strip():
            row = _row(header.split("\t"), text, source, line)
            yield _gap_document(number, row, source, line)
            number += 1


def _row(names: list[str], text: str, source: Source, line: int) -> dict[str, str]:
    fields = text.split("\t")
    needed = {"ID", "Text", "A-coref", "B-coref", *NAMES, *(f"{name}-offset" for name in NAMES)}
    if len(fields) != len(names) or not needed.issubset(names):
        what = f"The row has {len(fields)} columns; the first line names {len(names)}."
        raise source.error(what, f"GAP has the columns {', '.join(sorted(needed))}.", line)
    return dict(zip(names, fields, strict=True))


def _gap_document(number: int, row: dict[str, str], source: Source, line: int) -> CoreferenceDocument:
    text = row["Text"]
    spans = [_gap_span(row, name, source, line) for name in NAMES]
    extents = _words(text, {index for span in spans for index in span})
    clusters = {"Pronoun": 0, "A": 1, "B": 2}
    for name in ("A", "B"):
        if row[f"{name}-coref"].upper() == "TRUE":
            clusters[name] = clusters["Pronoun"]
    mentions = []
    for name, (start, end) in zip(NAMES, spans, strict=True):
        inside = [i for i, index in enumerate(extents) if start <= index[0] < end]
        mentions.append(Mention(inside[0], inside[-1] + 1, clusters[name]))
    words = tuple(text[start:end] for start, end in extents)
    starts = sentence_starts(words)
    return CoreferenceDocument(number, row["ID"], f"line {line}", words, starts, ordered(mentions))


def _gap_span(row: dict[str, str], name: str, source: Source, line: int) -> tuple[int, int]:
    """The span of a name in the text, in characters."""
    written, surface = row[f"{name}-offset"], row[name]
    offset = small_int(written)
    if offset is not None and surface.strip() and row["Text"].startswith(surface, offset):
        return offset, offset + len(surface)
    what = f"{shorten(surface, 80)!r} is not at {shorten(written, 80)} in the text."
    raise source.error(what, "Fix the offset.", line)


def _words(text: str, cuts: set[int]) -> list[tuple[int, int]]:
    """(start, end) of runs of letters and of single marks, cut where a name begins or ends."""
    extents = []
    for match in WORD.finditer(text):
        inner = sorted(cut for cut in cuts if match.start() < cut < match.end())
        edges = [match.start(), *inner, match.end()]
        extents += list(pairwise(edges))
    return extents
