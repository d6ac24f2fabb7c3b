import gzip
import lzma
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertviz_core.errors import InputError
from bertviz_core.inputs.annotated_words import Sentences, Windows
from bertviz_core.inputs.encoded_corpus import CorpusReading, cut
from bertviz_core.inputs.encoding import buckets, collate
from bertviz_core.inputs.segments import Segments
from bertviz_core.settings import Settings
from tests.support.bracketed import conll
from tests.support.maps import IDS, encode

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
    estimates, read = [], []
    for example in reading:
        read.append(example.ids.tolist())
        estimates.append(reading.expected_tokens)
    tokens = sum(map(len, whole))
    assert read == whole and reading.is_complete and reading.expected_tokens == tokens
    assert reading.reading.counts[examples.unit] == len(whole)
    assert reading.reading.counts["tokens"] == tokens
    if packed == "plain":  # a compressed file this small is read in one go
        assert 0.5 < estimates[len(whole) // 2] / tokens < 2


def test_under_a_limit_the_estimate_is_of_the_inputs_that_will_be_read(tiny, source):
    reading = CorpusReading(Segments(source(TEXT), tiny.tokens, Settings(max_length=32, limit=20)))
    estimates = [(reading.expected_tokens, reading.tokens * 20 / count) for count, _ in enumerate(reading, 1)]
    assert len(estimates) == 20 and all(estimate == round(mean) for estimate, mean in estimates)


def test_nothing_to_analyze(tiny, source):
    long = " ".join(["cat", "sat"] * 30)
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


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 100))
def test_every_example_comes_once_with_those_of_like_length_and_no_batch_is_over_its_budget(sizes, batch_tokens):
    examples = [encode(i, ["other"] * size) for i, size in enumerate(sizes)]
    groups = list(buckets(examples, batch_tokens))
    assert sorted(example.number for group in groups for example in group) == list(range(len(sizes)))
    assert [len(example) for group in groups for example in group] == sorted(sizes, reverse=True)
    for group in groups:
        assert len(group) == 1 or len(group) * max(map(len, group)) <= batch_tokens


def test_padding_is_of_no_class_even_where_its_id_is_one_of_a_class(causal_pad=IDS["sep"]):
    """GPT-2 has no padding token, some tokenizers use SEP: padding still must not count as SEP."""
    classes = {"punctuation": np.array([3, causal_pad]), "structural": np.array([1, 2])}
    tokens = SimpleNamespace(pad=causal_pad, cls=1, sep=2, **classes)
    batch = collate([encode(0, ["other"]), encode(1, ["other", "sep", "other"])], tokens, "cpu")
    assert batch.ids[0].tolist() == [4, 2, 2]
    assert not batch.sep[0].any() and not batch.punctuation[0].any()
    assert batch.sep[1].tolist() == batch.special[1].tolist() == [False, True, False]
    assert not batch.special[0].any()
