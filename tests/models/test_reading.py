"""One reading of a corpus: counted and cut while it is read, and how much of it there is to come."""

import gzip
import lzma
from itertools import pairwise

import pytest

from bertviz_core.errors import InputError
from bertviz_core.models.annotated import Sentences, Windows
from bertviz_core.models.reading import CorpusReading, cut
from bertviz_core.models.segments import Segments
from bertviz_core.settings import Settings
from tests.bracketed import conll

TEXT = "".join(f"the cat sat .\nthe dog slept on mat {number} and dreamt\n\n" for number in range(400))
TREES = "\n".join("the 2-det\ncat 3-nsubj\nslept 0-root\n" for _ in range(300))
DOCUMENTS = conll(*["[1 the cat ] saw [1 it ] / [1 it ] saw [2 the dog ]" for _ in range(200)])
CORPORA = {"text": (Segments, TEXT), "treebank": (Sentences, TREES), "coreference": (Windows, DOCUMENTS)}
PACKED = {"plain": lambda data: data, "gzip": gzip.compress, "xz": lzma.compress}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("corpus", CORPORA)
def test_a_corpus_is_read_once_counted_and_its_size_is_estimated_on_the_way(corpus, packed, tiny, source):
    kind, text = CORPORA[corpus]
    examples = kind(source(PACKED[packed](text.encode())), tiny.tokens, Settings(max_length=32))
    whole = [example.ids.tolist() for example in examples]
    reading = CorpusReading(examples)
    estimates = []
    read = []
    for example in reading:
        read.append(example.ids.tolist())
        estimates.append(reading.expected)
    assert read == whole and reading.is_complete and reading.expected == len(whole)
    assert reading.reading.counts[examples.unit] == len(whole)
    assert reading.reading.counts["tokens"] == sum(map(len, whole))
    if packed == "plain":  # a compressed file this small is read in one go
        assert 0.5 < estimates[len(whole) // 2] / len(whole) < 2


def test_a_limit_is_the_largest_estimate(tiny, source):
    reading = CorpusReading(Segments(source(TEXT), tiny.tokens, Settings(max_length=32, limit=20)))
    assert [reading.expected for _ in reading] == [20] * 20


def test_nothing_to_analyze(tiny, source):
    long = " ".join(["cat"] * 60)
    treebank = "\n".join(f"{word} {i}-x" for i, word in enumerate(long.split()))
    examples = Sentences(source(treebank), tiny.tokens, Settings(max_length=32))
    with pytest.raises(InputError, match="all sentences were skipped") as caught:
        list(CorpusReading(examples))
    assert "more than 32 tokens: 1" in caught.value.hint


@pytest.mark.parametrize("size", [1, 150, 10**9])
def test_chunks_follow_one_another_and_are_as_large_as_allowed(size, tiny, source):
    examples = list(Segments(source(TEXT), tiny.tokens, Settings(max_length=32)))
    chunks = list(cut(examples, size))
    assert [one.number for chunk in chunks for one in chunk] == [one.number for one in examples]
    for chunk, following in pairwise(chunks):
        assert len(chunk) == 1 or sum(map(len, chunk)) <= size
        assert size < sum(map(len, [*chunk, following[0]]))
