"""Workers: the bytes of a result are those of one process, whoever computed its chunks and whatever became of them."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from bertviz_core.analyses import chunks, worker_pass
from bertviz_core.analyses import kept_stages as stages
from bertviz_core.analyses.chunk_worker import ChunkWorker
from bertviz_core.analyses.chunks import share_done
from bertviz_core.analyses.model_pass import compute_pass
from bertviz_core.analyses.registry import ANALYSES, BUILT_IN
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import compute
from bertviz_core.analyses.requests import find as find_result
from bertviz_core.analyses.worker_pass import Cluster
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.task_queue import Task
from bertviz_core.errors import BertvizError, Cancelled, ModelError, SettingsError
from bertviz_core.models import reading
from bertviz_core.models.checkpoint import Checkpoint, find
from bertviz_core.settings import Execution, Settings, app_execution
from tests.analyses import test_kept_stages
from tests.waiting import Stops

pytest.importorskip("ray")
ROOT = Path(__file__).parents[2]
CHUNKED = [name for name in BUILT_IN if ANALYSES[name].chunked]


@pytest.fixture(scope="module")
def cluster():
    """Two workers on this machine, for all tests, with room for a third one."""
    import ray

    ray.init("local", num_cpus=3, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000)
    with Cluster(Execution("cpu", workers=2)) as started:
        yield started
    ray.shutdown()


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(reading, "CHUNK_TOKENS", 700)
    monkeypatch.setattr(chunks, "SAVING", float("inf"))


@pytest.fixture(scope="module")
def here(masked, tmp_path_factory):
    """The bytes of every analysis, computed by one process in one thread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "CHUNK_TOKENS", 700)
        return {name: compute(request_of(name, masked), None, model=masked).to_bytes() for name in CHUNKED}


def request_of(analysis, model) -> Request:
    (name,) = SAMPLES[ANALYSES[analysis].corpus]
    return Request(analysis, model.checkpoint, sample(name), Settings(max_length=64, limit=60))


def run_on(cluster, request, store, progress=None) -> None:
    compute_pass([request], store, cluster, progress or Progress())


@pytest.mark.parametrize("analysis", CHUNKED)
def test_workers_give_the_bytes_of_one_process(analysis, cluster, here, masked, store):
    request = request_of(analysis, masked)
    run_on(cluster, request, store)
    assert store.get(request.key()) == here[analysis]


def test_workers_compute_the_maps_of_probes(cluster, masked, store, monkeypatch):
    monkeypatch.setattr(stages, "PART_TOKENS", 150)
    request = test_kept_stages.request_of(masked)
    run_on(cluster, request, store)
    whole = compute(request, None, model=masked)
    assert test_kept_stages.untimed(find_result(store, request)) == test_kept_stages.untimed(whole)


def test_lost_workers_change_nothing(cluster, here, masked, store):
    """A worker is killed with SIGKILL at a random moment of a pass."""
    request, progress = request_of("surface_patterns", masked), Progress()
    killed: list[int] = []
    killer = threading.Thread(target=kill_at_random, args=(killed, progress))
    killer.start()
    run_on(cluster, request, store, progress)
    killer.join()
    assert killed
    assert store.get(request.key()) == here["surface_patterns"]


def kill_at_random(killed: list[int], progress: Progress) -> None:
    while progress.stage != "Running the model":
        time.sleep(0.001)
    time.sleep(random.Random(3).uniform(0, 0.05))
    for process in psutil.Process().children(recursive=True):
        if "ray::ChunkWorker" in " ".join(process.cmdline()):
            os.kill(process.pid, signal.SIGKILL)
            killed.append(process.pid)
            return


def test_a_cancelled_job_goes_on_in_one_process(cluster, here, masked, store):
    request = request_of("entropy", masked)

    with pytest.raises(Cancelled):
        run_on(cluster, request, store, Stops(20))
    assert 0 < (share_done(store, request) or 0) < 1
    compute(request, store, model=masked)
    assert store.get(request.key()) == here["entropy"]


def test_a_part_that_is_finished_is_kept_before_a_cancel_ends_the_job(masked, monkeypatch):
    class Finished:
        def run(self, method, tasks, take, progress):
            for task in tasks:
                take(task, [b"sums"])

    stopped, kept, progress = Cluster(Execution("cpu", workers=1)), [], Progress()
    monkeypatch.setitem(vars(stopped), "pool", Finished())
    progress.cancelled.set()
    with pytest.raises(Cancelled):
        stopped.run_parts(request_of("probes", masked), {3: [], 4: []}, lambda *part: kept.append(part), progress)
    assert kept == [(3, b"sums")]


class Elsewhere(ChunkWorker):
    """A worker on another machine, which has no folder with the model."""

    @staticmethod
    def is_here(folder: str, fingerprint: str) -> bool:
        return False


def test_a_worker_without_the_model_is_sent_its_files(cluster, here, masked, store, monkeypatch):
    monkeypatch.setattr(worker_pass, "ChunkWorker", Elsewhere)
    request = request_of("dependency_heads", masked)
    with Cluster(Execution("cpu", workers=1)) as third:
        run_on(third, request, store)
    assert store.get(request.key()) == here["dependency_heads"]


def test_a_chunk_that_fails_three_times_ends_the_job_and_what_was_done_is_kept(cluster, masked, store, monkeypatch):
    request = request_of("entropy", masked)
    tasks = worker_pass._tasks

    def broken(*arguments):
        for task in tasks(*arguments):
            yield task if task.number != 4 else Task(4, (*task.arguments[:2], b"\xff"))

    monkeypatch.setattr(worker_pass, "_tasks", broken)
    with pytest.raises(BertvizError, match="Part 5 of the corpus failed 3 times"):
        run_on(cluster, request, store)
    assert (share_done(store, request) or 0) > 0


def test_a_model_that_cannot_be_loaded(cluster, masked, tmp_path, store):
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in masked.checkpoint.folder.iterdir():
        (broken / path.name).write_bytes(path.read_bytes())
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    found = Checkpoint("broken", broken, None, find(str(masked.checkpoint.folder)).config)
    request = Request("entropy", found, sample("encyclopedia"), Settings(max_length=64, limit=5))
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        run_on(cluster, request, store)
    assert "save_pretrained" in caught.value.hint


def test_a_command_takes_workers_and_says_how_it_goes(masked, tmp_path):
    out = tmp_path / "out.json"
    command = [
        *(sys.executable, "-m", "bertviz_core", "entropy", "encyclopedia", "--model", str(masked.checkpoint.folder)),
        *("--workers", "2", "--device", "cpu", "--max-length", "64", "--limit", "40", "--no-store", "--out", str(out)),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    request = Request("entropy", masked.checkpoint, sample("encyclopedia"), Settings(max_length=64, limit=40))
    expected = compute(request, None, model=masked)
    assert json.loads(out.read_text())["arrays"] == json.loads(json.dumps(expected.arrays()))
    assert "Running the model: 40 of 40 segments" in done.stderr


def test_the_app_reads_its_workers_from_the_environment(monkeypatch):
    assert app_execution() == Execution()
    monkeypatch.setenv("BERTVIZ_WORKERS", "2")
    monkeypatch.setenv("BERTVIZ_RAY", "auto")
    assert app_execution() == Execution(workers=2, ray="auto")
    monkeypatch.setenv("BERTVIZ_WORKERS", "two")
    with pytest.raises(SettingsError, match="BERTVIZ_WORKERS"):
        app_execution()
