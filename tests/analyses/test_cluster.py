"""Workers: the bytes of a result are those of one process, whoever computed its chunks and whatever became of them."""

from __future__ import annotations

import os
import random
import signal
import threading
import time

import pytest

from bertviz_core.analyses import chunks
from bertviz_core.analyses.chunks import share_done
from bertviz_core.analyses.cluster import Cluster, task_of
from bertviz_core.analyses.registry import ANALYSES, BUILT_IN
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import compute, compute_all
from bertviz_core.corpora.samples import SAMPLES, sample
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import BertvizError, Cancelled, SettingsError
from bertviz_core.models import reading
from bertviz_core.models.checkpoint import Checkpoint, find
from bertviz_core.settings import Execution, Settings, app_execution

pytest.importorskip("ray")
CHUNKED = [name for name in BUILT_IN if ANALYSES[name].chunked]


@pytest.fixture(scope="module", autouse=True)
def ray_here():
    """One cluster for all tests: those that ask for workers join it."""
    import ray

    ray.init("local", num_cpus=3, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000)
    yield
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


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_give_the_bytes_of_one_process(workers, here, masked, store):
    requests = [request_of(analysis, masked) for analysis in CHUNKED]
    progress = Progress()
    compute_all(requests, store, Execution("cpu", workers=workers), progress)
    assert {request.analysis: store.get(request.key()) for request in requests} == here
    assert progress.stage == "Writing the results"


def test_lost_workers_change_nothing(here, masked, store):
    """Workers killed with SIGKILL at random moments of a pass."""
    request = request_of("surface_patterns", masked)
    with Cluster(Execution("cpu", workers=2)) as cluster:
        cluster.load([request], False, Progress())
        killed = threading.Thread(target=kill_at_random, args=(cluster,))
        killed.start()
        run_on(cluster, request, store)
        killed.join()
    assert store.get(request.key()) == here["surface_patterns"]


def kill_at_random(cluster) -> None:
    from ray.util import state

    for moment in (random.Random(3).uniform(0, 0.5) for _ in range(2)):
        time.sleep(moment)
        alive = [actor.pid for actor in state.list_actors(filters=[("state", "=", "ALIVE")]) if actor.pid]
        if alive:
            os.kill(alive[0], signal.SIGKILL)


def run_on(cluster, request, store) -> None:
    from bertviz_core.analyses.requests import _compute_pass

    _compute_pass([request], store, cluster.execution, Progress(), None, workers=cluster)


def test_a_cancelled_job_goes_on_in_one_process(here, masked, store):
    request = request_of("entropy", masked)

    class Stops(Progress):
        def advance(self, count: int) -> None:
            super().advance(count)
            if self.stage == "Running the model" and self.done > 20:
                self.cancelled.set()

    with pytest.raises(Cancelled):
        compute_all([request], store, Execution("cpu", workers=2), Stops())
    assert 0 < (share_done(store, request) or 0) < 1
    compute(request, store, model=masked)
    assert store.get(request.key()) == here["entropy"]


def test_a_model_that_a_worker_has_not_got_is_sent(here, masked, store, monkeypatch):
    """As on another machine: the folder named to the workers is not there."""
    from bertviz_core.analyses import cluster

    elsewhere = task_of

    def moved(*arguments):
        return elsewhere(*arguments) | {"folder": "/nowhere"}

    monkeypatch.setattr(cluster, "task_of", moved)
    request = request_of("dependency_heads", masked)
    compute_all([request], store, Execution("cpu", workers=2))
    assert store.get(request.key()) == here["dependency_heads"]


def test_a_chunk_that_fails_three_times_ends_the_job_and_what_was_done_is_kept(masked, store, monkeypatch):
    from bertviz_core.analyses import cluster

    request = request_of("entropy", masked)
    tasks = cluster.Cluster._tasks

    def broken(self, *arguments):
        for task in tasks(self, *arguments):
            yield task if task.number != 4 else cluster.Task(4, (*task.arguments[:2], b"\xff"))

    monkeypatch.setattr(cluster.Cluster, "_tasks", broken)
    with pytest.raises(BertvizError, match="Part 5 of the corpus failed 3 times"):
        compute_all([request], store, Execution("cpu", workers=2))
    assert (share_done(store, request) or 0) > 0


def test_a_model_that_cannot_be_loaded(masked, tmp_path, store):
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in masked.checkpoint.folder.iterdir():
        (broken / path.name).write_bytes(path.read_bytes())
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    found = Checkpoint("broken", broken, None, find(str(masked.checkpoint.folder)).config)
    request = Request("entropy", found, sample("encyclopedia"), Settings(max_length=64, limit=5))
    with pytest.raises(BertvizError):
        compute_all([request], store, Execution("cpu", workers=2))


def test_the_app_reads_its_workers_from_the_environment(monkeypatch):
    assert app_execution() == Execution()
    monkeypatch.setenv("BERTVIZ_WORKERS", "2")
    monkeypatch.setenv("BERTVIZ_RAY", "auto")
    assert app_execution() == Execution(workers=2, ray="auto")
    monkeypatch.setenv("BERTVIZ_WORKERS", "two")
    with pytest.raises(SettingsError, match="BERTVIZ_WORKERS"):
        app_execution()
