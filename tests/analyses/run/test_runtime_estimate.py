"""Estimates scale with the corpus, and follow what the last pass of the same kind took."""

import lzma
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run import compute, runtime_estimate
from bertviz_core.analyses.run.chunks import share_done
from bertviz_core.corpora.files import sample
from bertviz_core.corpora.format_detection import estimate_word_count
from bertviz_core.corpora.source import from_bytes
from bertviz_core.errors import Cancelled
from bertviz_core.inputs import encoded_corpus
from bertviz_core.models import checkpoint
from bertviz_core.settings import Settings
from tests.support.waiting import Stops

LINE = "The cat sat on the mat.\n"


@pytest.fixture
def request_() -> Request:
    return Request("entropy", checkpoint.find_checkpoint("demo"), from_bytes(LINE.encode() * 500, "x.txt"))


def test_words_are_counted_in_text_and_in_columns():
    assert estimate_word_count(from_bytes(LINE.encode() * 100, "a")) == 600
    bank = sample("treebank")
    rows = sum(1 for _, text in bank.lines() if text.strip() and not text.startswith("#"))
    assert estimate_word_count(bank) == pytest.approx(rows, rel=0.1)
    packed = from_bytes(lzma.compress("".join(bank.text()).encode()), "bank.xz")
    assert estimate_word_count(packed) == estimate_word_count(bank)


@pytest.mark.parametrize(("pack", "within"), [(bytes, 0.1), (partial(lzma.compress, preset=0), 0.5)])
def test_words_of_a_large_file_follow_from_its_beginning(pack, within):
    numbers = np.random.default_rng(0).integers(0, 10**6, (200_000, 3)).tolist()
    varied = "".join(f"word{a} and {b} {c}.\n" for a, b, c in numbers).encode()
    assert estimate_word_count(from_bytes(pack(varied), "given")) == pytest.approx(800_000, rel=within)


def test_without_an_earlier_pass_there_is_no_estimate(store, request_):
    assert runtime_estimate.seconds(store, [request_]) is None
    assert runtime_estimate.duration(store, [[request_]]) == ""


def test_the_last_pass_is_what_the_next_is_estimated_by(store, request_):
    runtime_estimate.record(store, [request_], loading=2.0, running=50.0)
    assert runtime_estimate.seconds(store, [request_]) == pytest.approx(52.0)
    twice = replace(request_, source=from_bytes(LINE.encode() * 1000, "z.txt"))
    assert runtime_estimate.seconds(store, [twice]) == pytest.approx(102.0)
    runtime_estimate.record(store, [request_], loading=1.0, running=10.0)
    assert runtime_estimate.seconds(store, [request_]) == pytest.approx(11.0)


def test_another_model_another_limit_and_other_options_are_timed_apart(store, request_, tiny):
    runtime_estimate.record(store, [request_], loading=1.0, running=10.0)
    assert runtime_estimate.seconds(store, [replace(request_, checkpoint=tiny.checkpoint)]) is None
    limited = replace(request_, settings=Settings(limit=1))
    assert runtime_estimate.seconds(store, [limited]) is None
    runtime_estimate.record(store, [limited], loading=1.0, running=2.0)
    assert runtime_estimate.seconds(store, [limited]) == pytest.approx(3.0)
    whole = Request("probes", checkpoint.find_checkpoint("demo"), sample("treebank"))
    runtime_estimate.record(store, [replace(whole, options={"probes": ["right-branching"]})], 1.0, 1.0)
    assert runtime_estimate.seconds(store, [whole]) is None


def test_a_pass_leaves_what_it_took(store, request_):
    small = replace(request_, source=from_bytes(LINE.encode() * 4, "s.txt"))
    started = time.monotonic()
    compute.compute(small, store)
    took = time.monotonic() - started
    assert 0 < runtime_estimate.seconds(store, compute.shared(small)) <= took


def test_a_cancelled_pass_leaves_what_the_whole_would_take(store, tiny, monkeypatch):
    monkeypatch.setattr(encoded_corpus, "CHUNK_TOKENS", 64)
    request = Request("entropy", tiny.checkpoint, from_bytes(LINE.encode() * 500, "c.txt"), Settings(max_length=32))
    with pytest.raises(Cancelled):
        compute.compute(request, store, progress=Stops(0.5), model=tiny)
    share = share_done(store, request)
    assert 0 < share < 1
    whole = runtime_estimate.seconds(store, compute.shared(request))
    assert runtime_estimate.duration(store, [compute.shared(request)], 1 - share).startswith("about ") and whole > 0


@pytest.mark.parametrize(
    ("lengths", "left", "shown"),
    [
        ([None], 1.0, ""),
        ([12.4, None], 1.0, ""),
        ([], 1.0, ""),
        ([0.2], 1.0, "about 1 s"),
        ([6.0, 6.4], 1.0, "about 12 s"),
        ([40.0], 0.25, "about 10 s"),
        ([600.0], 1.0, "about 10 min"),
    ],
)
def test_durations_for_people(store, monkeypatch, lengths, left, shown):
    monkeypatch.setattr(runtime_estimate, "seconds", lambda _, together: together)
    assert runtime_estimate.duration(store, lengths, left) == shown


def test_what_cannot_be_read_has_no_estimate(store, request_):
    runtime_estimate.record(store, [request_], loading=1.0, running=10.0)
    broken = replace(request_, source=from_bytes(b"%PDF-1.4", "x.pdf"))
    assert runtime_estimate.seconds(store, [broken]) is None
