"""Chunks of a corpus: read one by one, from their own bytes alone, they are the corpus; whatever its format."""

from __future__ import annotations

import gzip
import json
import lzma
from dataclasses import fields

import numpy as np
import pytest

from bertviz_core.errors import InputError
from bertviz_core.models import reading
from bertviz_core.models.annotated import Sentences, Windows
from bertviz_core.models.reading import Index, Slices
from bertviz_core.models.segments import Segments
from bertviz_core.settings import Settings
from tests.bracketed import conll

LINES = "the cat sat .\nthe dog slept on the mat and dreamt of rivers\n\n\na river runs\n \nlamps are lit\n"
TEXT = "\ufeff" + "".join(f"{LINES}the {number}th évening 🐈 came .\n\n" for number in range(12))
RECORDS: list[dict] = [{"text": f"the cät {'sat ' * (i % 7)}."} for i in range(20)]
RECORDS[3:5] = [{"text": ""}, {"words": ["the", "cat"], "id": 1}]
DOCUMENTS = [
    " / ".join(f"[1 the cat ] saw [1 it ] by [2 the dog ] . / [1 it ] saw [2 it ] {i}" for _ in range(i % 4))
    for i in range(1, 9)
]
PLAIN = "\n".join(line for line in conll(*DOCUMENTS).splitlines() if not line.startswith("#"))
GOVERNED = "# sent_id = {0}\n# text = x\n1-2\tthecat\t_\t_\t_\t_\t_\t_\t_\t_\n" + "".join(
    f"{i}\t{word}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n"
    for i, word, tag, head, relation in (
        (1, "the", "DET", 2, "det"),
        (2, "cat", "NOUN", 3, "nsubj"),
        (3, "slept{0}", "VERB", "{1}", "root"),
    )
)
TREES = "\n".join(GOVERNED.format(number, 9 if number % 5 == 2 else 0) for number in range(25))
ENTITY = "# newdoc id = d{0}\n# sent_id = {0}\n" + "".join(
    f"{i}\tw{i}\t_\tNOUN\t_\t_\t{0 if i == 1 else 1}\tdep\t_\t{misc}\n"
    for i, misc in ((1, "Entity=(x-e1)"), (2, "Entity=(x-e2)"), (3, "_"), (4, "Entity=(x-e1)"), (5, "Entity=(y-e2)"))
)
COREFUD = "# global.Entity = etype-eid\n" + "\n".join(ENTITY.format(number) for number in range(9))
JSONLINES = "\n".join(
    json.dumps(
        {"doc_key": f"d{n}", "sentences": [["a", "b", "c"]] * n, "clusters": [[[0, 0], [2, 2], [3 * n - 1] * 2]]}
    )
    for n in range(1, 7)
)
HEADER = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"
GAP = HEADER + "".join(f"dev-{i}\tAnn saw Bea; she ran.\tshe\t13\tAnn\t0\tTRUE\tBea\t8\tFALSE\tu\n" for i in range(9))
CORPORA = {
    "text": (Segments, TEXT),
    "text without an end": (Segments, TEXT + "no blank line\nends this one"),
    "JSON on lines": (Segments, "\ufeff" + json.dumps(RECORDS, indent=1, ensure_ascii=False)),
    "JSON on one line": (Segments, json.dumps(RECORDS, ensure_ascii=False)),
    "sentences of a treebank": (Segments, TREES),
    "sentences of documents": (Segments, conll(*DOCUMENTS)),
    "CoNLL-U": (Sentences, TREES),
    "plain treebank": (Sentences, "\n".join("the 2-det\ncat 3-nsubj\nslept 0-root\n" for _ in range(20))),
    "CoNLL-2012": (Windows, conll(*DOCUMENTS)),
    "CoNLL-2012 without marks": (Windows, PLAIN),
    "CorefUD": (Windows, COREFUD),
    "jsonlines": (Windows, JSONLINES),
    "GAP": (Windows, GAP),
}
PACKED = {"plain": lambda data: data, "gzip": gzip.compress, "xz": lzma.compress}


def plain(example):
    """Its fields, comparable."""
    values = ((field.name, getattr(example, field.name)) for field in fields(example))
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values}


@pytest.mark.parametrize("settings", [Settings(max_length=16), Settings(max_length=16, mode="paper", limit=11)])
@pytest.mark.parametrize("corpus", CORPORA)
def test_the_chunks_are_the_corpus(corpus, settings, tiny, source, monkeypatch):
    kind, text = CORPORA[corpus]
    whole = [plain(example) for example in kind(source(text), tiny.tokens, settings)]
    for packed in PACKED.values():
        examples = kind(source(packed(text.encode())), tiny.tokens, settings)
        for size in (1, 40, 65_536):
            monkeypatch.setattr(reading, "CHUNK_TOKENS", size)
            index = Index.from_bytes(examples.index().to_bytes())
            assert index.counts == examples.index().counts
            slices = Slices(examples.source)
            parts = [
                [plain(e) for e in examples.part(chunk, slices.read(chunk.start.offset, chunk.end))]
                for chunk in index.chunks
            ]
            assert [example for part in parts for example in part] == whole
            assert [len(part) for part in parts] == [chunk.examples for chunk in index.chunks]
            lengths = [sum(len(example["ids"]) for example in part) for part in parts]
            assert all(length <= size or len(part) == 1 for length, part in zip(lengths, parts, strict=True))
            assert size > 1 or len(parts) == len(whole)


@pytest.mark.parametrize("corpus", [name for name in CORPORA if not name.startswith("sentences")])
def test_a_chunk_is_read_from_its_own_bytes(corpus, tiny, source, monkeypatch):
    """Beyond them may be anything, and a chunk has little more bytes than its own."""
    kind, text = CORPORA[corpus]
    monkeypatch.setattr(reading, "CHUNK_TOKENS", 40)
    examples = kind(source(text), tiny.tokens, Settings(max_length=16))
    index = examples.index()
    last = index.chunks[-1]
    data = text.encode()[last.start.offset : last.end]
    blank = bytes(last.start.offset) + data
    again = Slices(source(blank)).read(last.start.offset, last.end)
    assert [e.number for e in examples.part(last, again)] == [e.number for e in examples][-last.examples :]


def test_slices_in_any_order(source):
    text = bytes(range(32, 127)) * 40
    for packed in PACKED.values():
        slices = Slices(source(packed(text)))
        for begin, end in ((5, 9), (7, 300), (7, 8), (1000, 2000), (1990, 2500), (0, 4), (3, len(text))):
            assert slices.read(begin, end) == text[begin:end]


def test_a_file_that_became_shorter(source):
    with pytest.raises(InputError, match="shorter"):
        Slices(source("abc")).read(5, 9)


def test_an_example_longer_than_a_chunk_is_a_chunk(tiny, source, monkeypatch):
    monkeypatch.setattr(reading, "CHUNK_TOKENS", 5)
    assert {chunk.examples for chunk in Segments(source(TEXT), tiny.tokens, Settings()).index().chunks} == {1}
