"""Chunks: one result, however it is computed; what was summed is kept, and a stopped job goes on from there."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bertviz_core.analyses import chunks
from bertviz_core.analyses.chunks import ChunkPass, compute_chunk, share_done
from bertviz_core.analyses.dependency_heads import guesses
from bertviz_core.analyses.registry import ANALYSES, BUILT_IN
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import compute, find
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.engine.packing import pack
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import Cancelled
from bertviz_core.models import reading
from bertviz_core.models.reading import Slices
from bertviz_core.settings import Settings
from tests.waiting import Stops

ROOT = Path(__file__).parents[2]
CHUNKED = [name for name in BUILT_IN if ANALYSES[name].chunked]
TOKENS = 700


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(reading, "CHUNK_TOKENS", TOKENS)
    monkeypatch.setattr(chunks, "SAVING", float("inf"))


def request_of(analysis, model, mode="corrected") -> Request:
    (name,) = SAMPLES[ANALYSES[analysis].corpus]
    return Request(analysis, model.checkpoint, sample(name), Settings(max_length=64, limit=90, mode=mode))


@pytest.mark.parametrize(
    ("analysis", "mode"), [*((name, "corrected") for name in CHUNKED), ("dependency_heads", "paper")]
)
def test_a_job_that_was_stopped_again_and_again_gives_the_same_bytes(analysis, mode, masked, store):
    request = request_of(analysis, masked, mode)
    whole = compute(request, None, model=masked).to_bytes()
    shares, stops = [], 0
    while find(store, request) is None:
        try:
            compute(request, store, model=masked, progress=Stops(after=0.3))
        except Cancelled:
            stops += 1
            shares.append(share_done(store, request) or 0.0)
    assert store.get(request.key()) == whole
    assert stops > 1 and shares == sorted(shares) and 0 < shares[0] < 1
    assert share_done(store, request) is None and not [e for e in store.entries() if "chunks" in e.key]


@pytest.mark.parametrize("analysis", CHUNKED)
def test_chunks_computed_in_any_order_and_carried_as_bytes_give_the_same_bytes(analysis, masked, store):
    request = request_of(analysis, masked)
    examples = chunked_examples(request, masked)
    index = examples.index()
    order = list(range(len(index.chunks)))
    assert len(order) > 3
    whole = compute(request, None, model=masked)
    for seed in range(3):
        random.Random(seed).shuffle(order)
        computed = ChunkPass([request], index, masked, store, "here")
        slices = Slices(examples.source)
        for position, number in enumerate(order):
            chunk = index.chunks[number]
            part = examples.part(chunk, slices.read(chunk.start.offset, chunk.end))
            (sums,) = compute_chunk(masked, [request], part, Progress(), None)
            computed.take(number, [0], [sums.to_bytes()])
            if position == len(order) // 2:  # another process goes on
                computed = ChunkPass([request], index, masked, store, "here")
                assert {chunk.number for chunk, _ in computed.needed()} == set(order[position + 1 :])
        result = ANALYSES[analysis].finish(computed.sums[0].total, examples, whole.provenance)
        assert result.to_bytes() == whole.to_bytes()
        computed.drop()


def test_details_are_on_disk_before_their_sums_wait(masked, store, monkeypatch):
    monkeypatch.setattr(guesses, "EXAMPLES", 0)
    request = request_of("dependency_heads", masked)
    compute(request, store, model=masked)
    examples = chunked_examples(request, masked)
    index = examples.index()
    names = [f"{request.key()}/{number}" for number in range(len(index.chunks))]
    expected = [store.open(f"detail/{name}").read() for name in names]
    other = Store(store.folder / "other")
    for chunk in reversed(index.chunks):
        computed = ChunkPass([request], index, masked, other, "here")  # goes on from what is kept
        part = examples.part(chunk, Slices(examples.source).read(chunk.start.offset, chunk.end))
        (sums,) = compute_chunk(masked, [request], part, Progress(), None)
        computed.take(chunk.number, [0], [sums.to_bytes()])
        assert other.open(f"detail/{names[chunk.number]}").read() == expected[chunk.number]
        (each,) = computed.sums
        assert not any(each.total.from_bytes(part).kept for part in each.waiting.values() if isinstance(part, bytes))
        assert not any(part.kept for part in each.waiting.values() if not isinstance(part, bytes))
    assert each.done == len(index.chunks)
    assert [other.open(f"detail/{name}").read() for name in names] == expected


def chunked_examples(request, model):
    from bertviz_core.analyses.registry import examples_class

    kind = examples_class(ANALYSES[request.analysis].corpus)
    return kind(request.source, model.tokens, request.settings)


@pytest.mark.parametrize("analysis", CHUNKED)
def test_chunks_change_nothing_but_the_rounding(analysis, masked, monkeypatch):
    request = request_of(analysis, masked)
    several = compute(request, None, model=masked).to_frame()
    monkeypatch.setattr(reading, "CHUNK_TOKENS", 10**9)
    at_once = compute(request, None, model=masked).to_frame()
    numbers = several.select_dtypes("number").columns
    np.testing.assert_allclose(several[numbers], at_once[numbers], rtol=1e-4, atol=1e-6)


def test_sums_of_another_batch_size_are_not_gone_on_from(masked, store):
    request = request_of("entropy", masked)
    with pytest.raises(Cancelled):
        compute(request, store, model=masked, progress=Stops(after=0.25))
    index = chunked_examples(request, masked).index()
    same = f"cpu, batches of {masked.batch_tokens} tokens"
    assert ChunkPass([request], index, masked, store, same).done > 0
    assert ChunkPass([request], index, masked, store, "cpu, batches of 7 tokens").done == 0


def test_analyses_that_stopped_at_different_chunks_go_on_together(masked, store):
    entropy, clustering = request_of("entropy", masked), request_of("clustering", masked)
    both = [compute(one, None, model=masked).to_bytes() for one in (entropy, clustering)]
    with pytest.raises(Cancelled):
        compute(entropy, store, model=masked, progress=Stops(after=0.5))
    with pytest.raises(Cancelled):
        compute(clustering, store, model=masked, progress=Stops(after=0.25))
    chunks_ahead = ChunkPass(
        [entropy, clustering], chunked_examples(entropy, masked).index(), masked, store,
        f"cpu, batches of {masked.batch_tokens} tokens",
    )  # fmt: skip
    wanted = [which for _, which in chunks_ahead.needed()]
    assert [1] in wanted and [0, 1] in wanted
    from bertviz_core.analyses.requests import compute_all

    compute_all([entropy, clustering], store, load=lambda together, execution: masked)
    assert [store.get(one.key()) for one in (entropy, clustering)] == both


def test_damaged_sums_are_computed_anew(masked, store):
    request = request_of("entropy", masked)
    store.keep_work(f"chunks/{request.key()}", b"nothing of use")
    assert share_done(store, request) is None
    assert compute(request, store, model=masked).to_bytes() == compute(request, None, model=masked).to_bytes()


def test_of_sums_only_the_header_is_read_to_say_how_many_there_are_and_only_where_a_job_goes_on(
    masked, store, monkeypatch
):
    request, sums = request_of("entropy", masked), {"total": np.zeros(10**6)}
    store.keep_work(f"chunks/{request.key()}", pack(sums, share="0.4", work="cpu"))
    monkeypatch.setattr(store, "work", None)
    assert share_done(store, request) == 0.4
    assert len(store.work_header(f"chunks/{request.key()}")) < 1000
    store.keep_work(f"chunks/{request.key()}", pack(sums, share="0.4", execution="cpu"))  # of an earlier version
    assert share_done(store, request) is None


COMMAND = """
import sys
from bertviz_core.analyses import chunks, local_run
from bertviz_core.cli.commands import main
from bertviz_core.models import reading

reading.CHUNK_TOKENS, chunks.SAVING = int(sys.argv.pop(1)), float("inf")
journal, compute_chunk = open(sys.argv.pop(1), "a"), local_run.compute_chunk


def noted(model, requests, examples, *more):
    print(examples.source.start.example, file=journal, flush=True)
    return compute_chunk(model, requests, examples, *more)


local_run.compute_chunk = noted
main()
"""


def test_a_command_killed_at_random_moments_goes_on_by_itself(tiny_folder, tiny, tmp_path):
    """Killed with SIGKILL at five moments; at most one chunk is done twice at each of them, and the bytes are equal."""
    journal = tmp_path / "journal"
    command = [
        *(sys.executable, "-c", COMMAND, "300", str(journal), "surface-patterns", "encyclopedia", "--quiet"),
        *("--model", str(tiny_folder), "--store", str(tmp_path / "store"), "--max-length", "64"),
        *("--device", "cpu", "--out", str(tmp_path / "out.safetensors")),
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    request = Request("surface_patterns", tiny.checkpoint, sample("encyclopedia"), Settings(max_length=64))
    kills, random_moment = 0, random.Random(7)
    while kills < 5:
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
    reading.CHUNK_TOKENS = 300
    whole = compute(request, None, model=tiny)
    assert len(chunked_examples(request, tiny).index().chunks) == len(set(computed))
    assert Store(tmp_path / "store").get(request.key()) == whole.to_bytes()


def lines(journal: Path) -> int:
    return len(journal.read_text().split()) if journal.exists() else 0


def wait_for_lines(journal: Path, count: int) -> None:
    ends = time.monotonic() + 120
    while lines(journal) < count:
        assert time.monotonic() < ends
        time.sleep(0.001)


def test_the_index_of_a_corpus_has_the_format_of_its_analysis(masked, store, monkeypatch):
    request = request_of("entropy", masked)
    for expected in (1, 2):
        chunks.index_of(request, chunked_examples(request, masked), store, lambda count: None)
        assert len([entry for entry in store.entries() if entry.key.startswith("index/")]) == expected
        monkeypatch.setitem(chunks.FORMATS, "entropy", 99)
