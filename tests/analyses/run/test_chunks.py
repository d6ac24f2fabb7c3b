"""Chunks: one result, however it is computed; what was summed is kept, and a stopped job goes on from there."""

import gc
import os
import random
import signal
import subprocess
import sys
import time
import weakref
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from bertviz_core.analyses.base.registry import ANALYSES, BUILT_IN
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run import chunks
from bertviz_core.analyses.run.chunks import ChunkedPass, share_done
from bertviz_core.analyses.run.compute import compute, compute_all, find
from bertviz_core.analyses.run.corpus_kinds import EXAMPLES
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.engine.store import Store
from bertviz_core.errors import Cancelled
from bertviz_core.inputs import encoded_corpus
from bertviz_core.inputs.encoded_corpus import CorpusReading, cut
from bertviz_core.settings import Settings
from tests.support.waiting import Stops

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
AT_ONCE = ("weights",)  # what is computed whole, in a moment
CHUNKED = [name for name in BUILT_IN if ANALYSES[name].chunked and name not in AT_ONCE]
TOKENS = 700
KILLS = int(os.environ.get("BERTVIZ_KILLS", "1"))


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(encoded_corpus, "CHUNK_TOKENS", TOKENS)
    monkeypatch.setattr(chunks, "SAVING", float("inf"))


def request_of(analysis, model, mode="corrected") -> Request:
    (name,) = SAMPLES[ANALYSES[analysis].corpus]
    return Request(analysis, model.checkpoint, sample(name), Settings(max_length=64, limit=90, mode=mode))


@pytest.mark.parametrize("analysis", CHUNKED)
def test_sums_are_freed_once_nobody_needs_them(analysis, model_for):
    """Without waiting for a collection of circles, which comes so late that the sums of many chunks would pile up."""
    model = model_for(analysis)
    gc.disable()
    try:
        sums = ANALYSES[analysis].accumulator(model, request_of(analysis, model))
        is_there = weakref.ref(sums)
        del sums
        assert is_there() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("analysis", "mode"), [*((name, "corrected") for name in CHUNKED), ("dependency_heads", "paper")]
)
def test_a_job_that_was_stopped_again_and_again_gives_the_same_bytes(analysis, mode, model_for, store):
    model = model_for(analysis)
    request = request_of(analysis, model, mode)
    whole = compute(request, None, model=model).to_bytes()
    shares, stops = [], 0
    while find(store, request) is None:
        try:
            compute(request, store, model=model, progress=Stops(after=0.3))
        except Cancelled:
            stops += 1
            shares.append(share_done(store, request) or 0.0)
    assert store.get(request.key()) == whole
    assert stops > 1 and shares == sorted(shares) and 0 < shares[0] < 1
    assert share_done(store, request) is None and not [e for e in store.entries() if "chunks" in e.key]


def examples_of(request, model):
    return EXAMPLES[ANALYSES[request.analysis].corpus](request.source, model.tokens, request.settings)


def chunked_pass(requests, model, store, rounding=None) -> ChunkedPass:
    rounding = rounding or f"cpu, batches of {model.batch_tokens} tokens"
    return ChunkedPass(requests, CorpusReading(examples_of(requests[0], model)), model, store, rounding)


@pytest.mark.parametrize("analysis", CHUNKED)
def test_chunks_change_nothing_but_the_rounding(analysis, model_for, monkeypatch):
    model = model_for(analysis)
    request = request_of(analysis, model)
    several = compute(request, None, model=model).to_frame()
    monkeypatch.setattr(encoded_corpus, "CHUNK_TOKENS", 10**9)
    at_once = compute(request, None, model=model).to_frame()
    numbers = several.select_dtypes("number").columns
    np.testing.assert_allclose(several[numbers], at_once[numbers], rtol=1e-4, atol=1e-6)


def test_sums_of_another_batch_size_are_not_gone_on_from(masked, store):
    request = request_of("entropy", masked)
    with pytest.raises(Cancelled):
        compute(request, store, model=masked, progress=Stops(after=0.25))
    for rounding, done in ((None, True), ("cpu, batches of 7 tokens", False)):
        assert bool(chunked_pass([request], masked, store, rounding).done) == done


def test_analyses_that_stopped_together_go_on_together_and_others_begin_anew(masked, store):
    entropy, clustering = request_of("entropy", masked), request_of("clustering", masked)
    both = [compute(one, None, model=masked).to_bytes() for one in (entropy, clustering)]
    with pytest.raises(Cancelled):
        compute(entropy, store, model=masked, progress=Stops(after=0.5))
    for stop, is_resumed in ((0.25, False), (None, True)):
        for requests in ([entropy, clustering], [clustering]):
            assert bool(chunked_pass(requests, masked, store).done) == is_resumed
        with suppress(Cancelled):
            compute_all([entropy, clustering], store, progress=stop and Stops(after=stop), load=lambda *_: masked)
    assert [store.get(one.key()) for one in (entropy, clustering)] == both


def test_damaged_sums_are_computed_anew(masked, store):
    request = request_of("entropy", masked)
    store.write(f"work/chunks/{request.key()}", b"nothing of use")
    assert share_done(store, request) is None
    assert compute(request, store, model=masked).to_bytes() == compute(request, None, model=masked).to_bytes()


COMMAND = """
import sys
from bertviz_core.analyses.run import chunks
from bertviz_core.analyses.run import run_pass
from bertviz_core.cli.commands import main
from bertviz_core.inputs import encoded_corpus

encoded_corpus.CHUNK_TOKENS, chunks.SAVING = int(sys.argv.pop(1)), float("inf")
journal, compute_chunk = open(sys.argv.pop(1), "a"), run_pass.compute_chunk


def noted(chunk, **options):
    print(chunk[1][0].number, file=journal, flush=True)
    return compute_chunk(chunk, **options)


run_pass.compute_chunk = noted
main()
"""


@pytest.mark.timeout(300 + 60 * KILLS)
def test_a_command_killed_at_random_moments_goes_on_by_itself(tiny_folder, tiny, tmp_path):
    """Killed with SIGKILL; at most one chunk is done twice at each kill, and the bytes are equal. BERTVIZ_KILLS=20 is
    the long form."""
    journal = tmp_path / "journal"
    command = [
        *(sys.executable, "-c", COMMAND, "64", str(journal), "surface-patterns", "encyclopedia", "--quiet"),
        *("--model", str(tiny_folder), "--store", str(tmp_path / "store"), "--max-length", "64", "--limit", "60"),
        *("--device", "cpu", "--out", str(tmp_path / "out.safetensors")),
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    request = Request("surface_patterns", tiny.checkpoint, sample("encyclopedia"), Settings(max_length=64, limit=60))
    kills, random_moment = 0, random.Random(7)
    while kills < KILLS:
        before = lines(journal)
        process = subprocess.Popen(command, env=environment)
        wait_for_lines(journal, before + 2)  # so that the first chunk is saved
        time.sleep(random_moment.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        kills += 1
    assert 0 < (share_done(Store(tmp_path / "store"), request) or 0) < 1
    subprocess.run(command, env=environment, check=True)
    computed = journal.read_text().split()
    assert len(computed) - len(set(computed)) <= kills
    encoded_corpus.CHUNK_TOKENS = 64
    whole = compute(request, None, model=tiny)
    assert len(list(cut(examples_of(request, tiny), 64))) == len(set(computed))
    assert Store(tmp_path / "store").get(request.key()) == whole.to_bytes()


def lines(journal: Path) -> int:
    return len(journal.read_text().split()) if journal.exists() else 0


def wait_for_lines(journal: Path, count: int) -> None:
    ends = time.monotonic() + 300
    while lines(journal) < count:
        assert time.monotonic() < ends
        time.sleep(0.001)
