"""GAP: a row of a table has a text, a pronoun in it, and two names of which one, or neither, is meant."""

import re
from collections.abc import Iterator
from itertools import pairwise

from bertviz_core.corpora.coreference.documents import CoreferenceDocument, Mention, ordered, sentence_starts
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.errors import shorten
from bertviz_core.numbers import small_int

HEADER = "ID\tText\tPronoun\tPronoun-offset\t"
NAMES = ("Pronoun", "A", "B")
WORD = re.compile(r"\w+|[^\w\s]")


def documents(source: Source, skipped: Skipped) -> Iterator[CoreferenceDocument]:
    """A document a row; raises InputError naming the line of a row that does not fit its own text."""
    header, number = "", 0
    for line, text in source.lines():
        if not header:
            header = text
        elif text.strip():
            row = _row(header.split("\t"), text, source, line)
            yield _document(number, row, source, line)
            number += 1


def _row(names: list[str], text: str, source: Source, line: int) -> dict[str, str]:
    fields = text.split("\t")
    needed = {"ID", "Text", "A-coref", "B-coref", *NAMES, *(f"{name}-offset" for name in NAMES)}
    if len(fields) != len(names) or not needed.issubset(names):
        what = f"The row has {len(fields)} columns; the first line names {len(names)}."
        raise source.error(what, f"GAP has the columns {', '.join(sorted(needed))}.", line)
    return dict(zip(names, fields, strict=True))


def _document(number: int, row: dict[str, str], source: Source, line: int) -> CoreferenceDocument:
    text = row["Text"]
    spans = [_span(row, name, source, line) for name in NAMES]
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


def _span(row: dict[str, str], name: str, source: Source, line: int) -> tuple[int, int]:
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
