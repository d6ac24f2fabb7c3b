"""Estimates scale with the corpus, the limit and the model, and follow what earlier passes took."""

import lzma
from dataclasses import replace

import numpy as np
import pytest

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run import compute, runtime_estimate
from bertviz_core.corpora.files import sample
from bertviz_core.corpora.recognition import estimate_word_count
from bertviz_core.corpora.source import from_bytes
from bertviz_core.models import checkpoint
from bertviz_core.settings import Settings

LINE = "The cat sat on the mat.\n"


@pytest.fixture
def request_() -> Request:
    return Request("entropy", checkpoint.find("demo"), from_bytes(LINE.encode() * 500, "x.txt"))


def test_words_are_counted_in_text_and_in_columns():
    assert estimate_word_count(from_bytes(LINE.encode() * 100, "a")) == 600
    bank = sample("treebank")
    rows = sum(1 for _, text in bank.lines() if text.strip() and not text.startswith("#"))
    assert estimate_word_count(bank) == pytest.approx(rows, rel=0.1)


@pytest.mark.parametrize(("pack", "within"), [(bytes, 0.1), (lzma.compress, 0.5)])
def test_words_of_a_large_file_follow_from_its_beginning(pack, within):
    numbers = np.random.default_rng(0).integers(0, 10**6, (200_000, 3)).tolist()
    varied = "".join(f"word{a} and {b} {c}.\n" for a, b, c in numbers).encode()
    assert estimate_word_count(from_bytes(pack(varied), f"{pack}")) == pytest.approx(800_000, rel=within)


def test_a_first_estimate_grows_with_the_corpus_and_the_limit(store, request_):
    whole = runtime_estimate.seconds(store, [[request_]])
    half = Request("entropy", request_.checkpoint, from_bytes(LINE.encode() * 250, "y.txt"))
    few = Request("entropy", request_.checkpoint, request_.source, Settings(limit=1))
    fixed = runtime_estimate.LOADING
    assert runtime_estimate.seconds(store, [[half]]) - fixed == pytest.approx((whole - fixed) / 2)
    assert fixed < runtime_estimate.seconds(store, [[few]]) < whole
    twice = 2 * whole - (fixed - runtime_estimate.LOADING_NEXT)  # the second pass loads no libraries
    assert runtime_estimate.seconds(store, [[request_], [request_]]) == pytest.approx(twice)


def test_the_last_pass_of_this_model_is_what_the_next_is_estimated_by(store, request_):
    runtime_estimate.record(store, [request_], loading=2.0, running=50.0)
    assert runtime_estimate.seconds(store, [[request_]]) == pytest.approx(52.0)
    twice = Request("entropy", request_.checkpoint, from_bytes(LINE.encode() * 1000, "z.txt"))
    assert runtime_estimate.seconds(store, [[twice]]) == pytest.approx(102.0)
    runtime_estimate.record(store, [request_], loading=1.0, running=10.0)
    assert runtime_estimate.seconds(store, [[request_]]) == pytest.approx(11.0)


def test_another_models_pass_is_scaled_by_operations(store, request_, tiny):
    other = Request("entropy", tiny.checkpoint, request_.source)
    runtime_estimate.record(store, [other], loading=1.0, running=10.0)
    scale = runtime_estimate.operations(request_) / runtime_estimate.operations(other)
    assert runtime_estimate.seconds(store, [[request_]]) == pytest.approx(1 + 10 * scale) and scale > 1


def test_sequences_without_a_limit_are_as_many_as_are_drawn(store):
    drawn = Request("induction", checkpoint.find("demo"), sample("random"))
    assert runtime_estimate.seconds(store, [[drawn]]) < 600
    runtime_estimate.record(store, [drawn], loading=1.0, running=50.0)
    assert runtime_estimate.seconds(store, [[drawn]]) == pytest.approx(51.0)


def test_other_options_are_timed_apart(store):
    whole = Request("probes", checkpoint.find("demo"), sample("treebank"))
    few = replace(whole, options={"probes": ["right-branching"]})
    runtime_estimate.record(store, [few], loading=1.0, running=1.0)
    assert runtime_estimate.seconds(store, [[few]]) < 10 < runtime_estimate.seconds(store, [[whole]])


def test_a_pass_leaves_what_it_took(store, request_):
    small = Request("entropy", request_.checkpoint, from_bytes(LINE.encode() * 4, "s.txt"))
    compute.compute(small, store)
    assert runtime_estimate.seconds(store, [compute.shared(small)]) < 60
    assert store.read(runtime_estimate._name(compute.shared(small)))


@pytest.mark.parametrize(
    ("length", "shown"), [(None, "unknown time"), (0.0, "about 3 s"), (12.4, "about 12 s"), (600.0, "about 10 min")]
)
def test_durations_for_people(store, monkeypatch, length, shown):
    monkeypatch.setattr(runtime_estimate, "seconds", lambda *_: length)
    assert runtime_estimate.duration(store, []) == shown


def test_what_cannot_be_read_has_no_estimate(store, request_):
    broken = Request("entropy", request_.checkpoint, from_bytes(b"%PDF-1.4", "x.pdf"))
    assert runtime_estimate.seconds(store, [[broken]]) is None
