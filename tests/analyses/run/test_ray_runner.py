"""Workers: the bytes of a result are those of one process, whoever computed its chunks and whatever became of them."""

import json
import os
import random
import re
import signal
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from bertviz_core.analyses.base.registry import ANALYSES, BUILT_IN
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run import chunks, run_pass
from bertviz_core.analyses.run.chunks import share_done
from bertviz_core.analyses.run.compute import compute, runner_of
from bertviz_core.analyses.run.compute import find as find_result
from bertviz_core.analyses.run.run_pass import compute_pass
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import BertvizError, Cancelled, ModelError, SettingsError
from bertviz_core.inputs import encoded_corpus
from bertviz_core.models.checkpoint import Checkpoint, find_checkpoint
from bertviz_core.settings import Execution, Settings, app_execution
from tests.analyses.probes.test_probe_run import request_in_parts, untimed
from tests.support.running import run
from tests.support.waiting import Stops

ray_runner = pytest.importorskip("bertviz_core.analyses.run.ray_runner")  # which needs Ray
ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]  # workers start slowly on a busy machine
CHUNKED = [name for name in BUILT_IN if ANALYSES[name].chunked]


@pytest.fixture(scope="module")
def local_ray():
    """A cluster on this machine, for all tests."""
    import ray

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")  # Behind other tests, workers of a low priority would hardly run.
        ray.init("local", num_cpus=6, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def cluster(local_ray):
    """Two workers, for all tests."""
    with ray_runner.RayRunner(Execution("cpu", workers=2)) as started:
        yield started


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(encoded_corpus, "CHUNK_TOKENS", 700)
    monkeypatch.setattr(chunks, "SAVING", float("inf"))


@pytest.fixture(scope="module")
def here(model_for, tmp_path_factory):
    """The bytes of every analysis, computed by one process in one thread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoded_corpus, "CHUNK_TOKENS", 700)
        models = {name: model_for(name) for name in CHUNKED}
        return {name: compute(request_of(name, each), None, model=each).to_bytes() for name, each in models.items()}


def request_of(analysis, model) -> Request:
    (name,) = SAMPLES[ANALYSES[analysis].corpus]
    return Request(analysis, model.checkpoint, sample(name), Settings(max_length=64, limit=60))


def run_on(cluster, request, store, progress=None) -> None:
    compute_pass([request], store, cluster, progress or Progress())


@pytest.mark.parametrize("analysis", CHUNKED)
def test_workers_give_the_bytes_of_one_process(analysis, cluster, here, model_for, store):
    request = request_of(analysis, model_for(analysis))
    run_on(cluster, request, store)
    assert store.get(request.key()) == here[analysis]


def test_workers_compute_the_maps_of_probes(cluster, masked, store, monkeypatch):
    monkeypatch.setattr(run_pass, "PART_TOKENS", 150)
    request = request_in_parts(masked)
    run_on(cluster, request, store)
    whole = compute(request, None, model=masked)
    assert untimed(find_result(store, request)) == untimed(whole)


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


def test_a_model_that_cannot_be_loaded(cluster, masked, tmp_path, store):
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in masked.checkpoint.folder.iterdir():
        (broken / path.name).write_bytes(path.read_bytes())
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    found = Checkpoint("broken", broken, None, find_checkpoint(str(masked.checkpoint.folder)).config)
    request = Request("entropy", found, sample("encyclopedia"), Settings(max_length=64, limit=5))
    with pytest.raises(ModelError, match="is damaged") as caught:
        run_on(cluster, request, store)
    assert "save_pretrained" in caught.value.hint


def test_a_cancelled_job_goes_on_in_one_process(cluster, here, masked, store):
    request = request_of("entropy", masked)

    with pytest.raises(Cancelled):
        run_on(cluster, request, store, Stops(0.3))
    assert 0 < (share_done(store, request) or 0) < 1
    compute(request, store, model=masked)
    assert store.get(request.key()) == here["entropy"]


@pytest.fixture(scope="module")
def echoes(local_ray):
    """Two workers without a model, for all tests; a failed job ends them, and the next one starts others."""
    with ray_runner.RayRunner(Execution("cpu", workers=2)) as started:
        yield started


@pytest.fixture
def echo(monkeypatch, echoes):
    from tests.support.echo_worker import Echo

    monkeypatch.setattr(ray_runner, "ChunkWorker", Echo)
    return echoes


def chunks_of(*words):
    return enumerate([word] for word in words)


def test_a_chunk_that_is_computed_is_taken_before_a_cancel_ends_the_job(echo, tiny):
    progress, numbers = Progress(), []
    with pytest.raises(Cancelled):
        for number, _ in echo.map([request_of("entropy", tiny)], chunks_of("a", "b", "c"), progress):
            progress.cancelled.set()
            numbers.append(number)
    assert len(numbers) == 1


def test_chunks_are_not_read_far_ahead_of_the_first_that_is_missing(echo, tiny):
    """Their sums would wait in memory: a long first chunk holds the others up."""
    read, ahead = [], {}

    def missing():
        for number in range(20):
            read.append(number)
            yield number, ["slow" if number == 0 else "quick"]

    for number, _ in echo.map([request_of("entropy", tiny)], missing(), Progress()):
        ahead[number] = len(read)
    assert sorted(ahead) == read == list(range(20))
    assert ahead[0] <= ray_runner.BACKLOG * 2 + 1


def test_a_chunk_that_ends_its_worker_is_computed_again_twice(echo, tiny, tmp_path):
    journal = tmp_path / "journal"
    computed = echo.map([request_of("entropy", tiny)], chunks_of("a", str(journal), "b"), Progress())
    assert sorted(number for number, _ in computed) == [0, 1, 2]
    assert len(journal.read_bytes()) == 3


@pytest.mark.parametrize(
    ("word", "reason"),
    [("kill", "A worker process ended 3 times"), ("fail", "A worker failed .OSError: .*out of memory")],
)
def test_a_chunk_that_ends_its_worker_three_times_or_fails_ends_the_job(word, reason, echo, tiny):
    with pytest.raises(BertvizError, match=reason):
        list(echo.map([request_of("entropy", tiny)], chunks_of("a", word), Progress()))
    computed = echo.map([request_of("entropy", tiny)], chunks_of("a"), Progress())  # by other workers
    assert list(computed) == [(0, [b"sums"])]


def test_a_worker_refuses_another_model_in_the_folder(masked):
    with pytest.raises(ModelError, match="another model"):
        task = ray_runner.PassTask((request_of("entropy", masked),), Execution("cpu"), "a fingerprint")
        ray_runner.ChunkWorker().shape(task)


def test_a_command_takes_workers_and_says_how_it_goes(local_ray, masked, tmp_path):
    out = tmp_path / "out.json"
    given = ("encyclopedia", "--model", masked.checkpoint.folder, "--max-length", 64, "--limit", 40, "--no-store")
    done = run("entropy", *given, "--workers", 1, "--device", "cpu", "--out", out)
    assert done.returncode == 0, done.stderr
    request = Request("entropy", masked.checkpoint, sample("encyclopedia"), Settings(max_length=64, limit=40))
    expected = compute(request, None, model=masked)
    assert json.loads(out.read_text())["arrays"] == json.loads(json.dumps(expected.arrays()))
    assert re.search(r"Running the model: ([\d,]+) of \1 tokens", done.stderr)


def test_the_app_reads_its_workers_from_the_environment(monkeypatch):
    assert app_execution() == Execution()
    monkeypatch.setenv("BERTVIZ_WORKERS", "2")
    monkeypatch.setenv("BERTVIZ_RAY", "auto")
    assert app_execution() == Execution(workers=2, ray="auto")
    monkeypatch.setenv("BERTVIZ_WORKERS", "two")
    with pytest.raises(SettingsError, match="BERTVIZ_WORKERS"):
        app_execution()


def test_more_workers_than_the_cluster_has_cpus(local_ray, tiny):
    with runner_of(Execution("cpu", workers=10_000)) as many, pytest.raises(SettingsError, match="10000 CPUs"):
        many.start([request_of("entropy", tiny)], Progress())


def test_without_ray_it_says_how_to_install_it(monkeypatch):
    monkeypatch.delitem(sys.modules, ray_runner.__name__)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SettingsError, match="pip install ray"):
        runner_of(Execution("cpu", workers=1))
