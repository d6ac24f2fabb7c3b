"""The jsonlines of the end-to-end systems: `doc_key`, `sentences` (lists of words), `clusters` (inclusive spans)."""

import json
import reprlib
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from bertviz_core.corpora.coreference.documents import Chains, CoreferenceDocument
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source, whole


def documents(source: Source, skipped: Skipped, *, predicted: bool = False) -> Iterator[CoreferenceDocument]:
    """A document a line; with `predicted`, `predicted_clusters` in place of `clusters` where a line has them."""
    number = 0
    for line, text in source.lines():
        if text.strip():
            yield _document(number, line, _object(text, source, line), Chains(source, skipped), predicted)
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


def _document(number: int, line: int, value: dict[str, Any], chains: Chains, predicted: bool) -> CoreferenceDocument:
    words = [whole(word) for sentence in value["sentences"] for word in sentence]
    lengths = [len(sentence) for sentence in value["sentences"] if sentence]
    field = "predicted_clusters" if predicted and "predicted_clusters" in value else "clusters"
    clusters = value.get(field) or []
    if not isinstance(clusters, list) or not all(isinstance(cluster, list) for cluster in clusters):
        what = f"`{field}` is not a list of lists of spans."
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
