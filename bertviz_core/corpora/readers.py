"""Recognize what a source holds from its content, and give the corpus that reads it."""

from __future__ import annotations

import re
from collections.abc import Callable

from bertviz_core.corpora.coreference_reader import CoreferenceCorpus, check_coreference
from bertviz_core.corpora.examples import ExampleCorpus
from bertviz_core.corpora.recognition import kinds
from bertviz_core.corpora.sentences import CoreferenceText, TreebankText
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.text import TextCorpus
from bertviz_core.corpora.treebank_reader import Treebank, check_treebank
from bertviz_core.corpora.vectors import read_vectors
from bertviz_core.errors import InputError

TEXT, JSON = "text", "JSON"


def read_text(source: Source) -> TextCorpus | ExampleCorpus:
    """Text, the authors' JSON, or the sentences of a treebank or of a corpus with coreference; raises InputError for a
    source with nothing in it."""
    if known := source.start.format:
        return ExampleCorpus(source) if known == JSON else TextCorpus(source)
    head = ""
    for piece in source.text():  # not by lines: a JSON list of any length may stand on one
        head += piece.strip()
        if len(head) > 1:
            break
    if not head:
        TextCorpus(source).paragraphs().__next__()
    if source.name.lower().endswith(".json") or re.match(r"\[\s*[{\]]", head):
        return ExampleCorpus(source)
    if head.lower().startswith(("<!doctype html", "<html")):
        raise InputError("This is an HTML page, not text.", where=source.name, hint="Save its text as .txt.")
    return {"treebank": TreebankText, "coreference": CoreferenceText, "text": TextCorpus}[kinds(source)[0]](source)


def open_corpus(kind: str, source: Source) -> None:
    """Read the beginning of a source as this kind: what is plainly no such file raises InputError."""
    openers: dict[str, Callable[[Source], object]] = {
        "text": read_text,
        "treebank": Treebank,
        "coreference": CoreferenceCorpus,
    }
    openers[kind](source)


def check(kind: str, source: Source) -> None:
    """Read a source of this kind to its end, so that an unreadable file is refused before it is stored."""
    checks = {
        "text": check_text,
        "treebank": check_treebank,
        "coreference": check_coreference,
        "vectors": lambda vectors: read_vectors(vectors, frozenset()),
    }
    checks[kind](source)


def check_text(source: Source) -> None:
    """Read text or the authors' JSON to the end, so that an unreadable file is refused before it is stored."""
    corpus = read_text(source)
    for _ in corpus.paragraphs() if isinstance(corpus, TextCorpus) else corpus.records():
        pass
