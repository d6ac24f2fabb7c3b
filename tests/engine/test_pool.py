"""Workers by Ray: tasks in any order, a lost worker, a task that fails three times, a cancel, bounded work ahead."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from bertviz_core.engine import pool as pools
from bertviz_core.engine import ray_cluster
from bertviz_core.engine.pool import Pool, WorkerLost
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.ray_cluster import check_ray
from bertviz_core.engine.task_queue import Task, TaskFailed
from bertviz_core.errors import BertvizError, Cancelled, SettingsError

pytest.importorskip("ray")


class Doubler:
    """A worker of tests."""

    def double(self, number: int) -> bytes:
        if number == -1:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == -2:
            raise ValueError("an odd number")
        time.sleep(0.01)
        return str(2 * number).encode()

    def process(self) -> int:
        return os.getpid()


@pytest.fixture(scope="module")
def pool():
    """Two workers, on a cluster with room for two more."""
    import ray

    ray.init("local", num_cpus=4, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000)
    with Pool(Doubler, 2, "", "cpu") as started:
        yield started
    ray.shutdown()


def run(pool, numbers, take=None, progress=None) -> dict[int, bytes]:
    answers: dict[int, bytes] = {}
    tasks = (Task(place, (number,)) for place, number in enumerate(numbers))
    pool.run(
        "double", tasks, take or (lambda task, answer: answers.update({task.number: answer})), progress or Progress()
    )
    return answers


def test_every_task_is_done_once(pool):
    assert run(pool, range(40)) == {number: str(2 * number).encode() for number in range(40)}
    assert len(set(pool.call("process").values())) == 2
    assert run(pool, []) == {}


def test_a_lost_worker_is_replaced(pool):
    victim = next(iter(pool.call("process").values()))
    tasks = iter(range(30))

    def killing():
        for number in tasks:
            if number == 10:
                os.kill(victim, signal.SIGKILL)
            yield number

    assert run(pool, killing()) == {number: str(2 * number).encode() for number in range(30)}
    assert victim not in pool.call("process").values() and len(set(pool.call("process").values())) == 2


@pytest.mark.parametrize(("number", "reason"), [(-1, "a worker process ended"), (-2, "an odd number")])
def test_a_task_that_fails_three_times_ends_it(pool, number, reason):
    answers = {}
    with pytest.raises(BertvizError, match=f"Part 4 of the corpus failed 3 times: {reason}"):
        run(pool, [1, 2, 3, number], lambda task, answer: answers.update({task.number: answer}))
    assert 0 in answers
    assert run(pool, [1]) == {0: b"2"}


def test_a_failure_that_the_answer_tells_is_tried_again(pool):
    said: list[int] = []

    def take(task, answer):
        said.append(task.number)
        if said.count(2) < 3 and task.number == 2:
            raise TaskFailed("not yet")

    run(pool, range(5), take)
    assert sorted(said) == [0, 1, 2, 2, 2, 3, 4]


def test_a_cancel(pool):
    progress = Progress()
    with pytest.raises(Cancelled):
        run(pool, range(1000), lambda task, answer: progress.cancelled.set(), progress)


@pytest.fixture
def full(pool, monkeypatch):
    """Two workers that cannot be replaced."""
    with Pool(Doubler, 2, "", "cpu") as started:
        started.gather(Progress())
        monkeypatch.setattr(pools, "PATIENCE", 0.5)
        monkeypatch.setattr(started, "_class", started.ray.remote(Doubler).options(resources={"nowhere": 1}))
        yield started


def test_where_a_lost_worker_cannot_be_replaced_the_others_go_on_and_without_any_a_cancel_ends_it(full):
    def killing():
        for number in range(30):
            if number == 10:
                os.kill(victim, signal.SIGKILL)
            yield number

    victim, survivor = full.call("process").values()
    assert run(full, killing()) == {number: str(2 * number).encode() for number in range(30)}
    assert len(full.workers) == 1
    os.kill(survivor, signal.SIGKILL)
    progress = Progress()
    threading.Timer(1, progress.cancelled.set).start()
    with pytest.raises(Cancelled):
        run(full, range(30), progress=progress)


def test_without_any_worker_the_job_ends(full, monkeypatch):
    monkeypatch.setattr(pools, "NO_WORKER", 0.5)
    for process in full.call("process").values():
        os.kill(process, signal.SIGKILL)
    with pytest.raises(BertvizError, match="No worker could be started"):
        run(full, range(30))


class NeverStarts:
    """A worker whose node is broken."""

    def __init__(self) -> None:
        raise OSError("no such library")


def test_a_replacement_that_never_starts_ends_the_job_only_without_others(full, monkeypatch):
    monkeypatch.setattr(pools, "PATIENCE", 60)
    monkeypatch.setattr(full, "_class", full.ray.remote(NeverStarts))
    victim, survivor = full.call("process").values()
    os.kill(victim, signal.SIGKILL)
    assert len(run(full, range(30))) == 30
    full.gather(Progress())
    assert len(full.workers) == 1 and full._failures == pools.TRIES
    os.kill(survivor, signal.SIGKILL)
    with pytest.raises(WorkerLost, match="Worker processes do not start"):
        run(full, range(30))
    for method in (full.call, lambda name: run(full, [1])):
        with pytest.raises(WorkerLost, match="No worker is left"):
            method("process")


def test_a_worker_that_cannot_be_prepared_takes_no_tasks(full, monkeypatch):
    def prepare(worker):
        yield worker.double.remote(1)
        prepared.append(worker)
        raise WorkerLost("no weights")

    prepared: list[object] = []
    monkeypatch.setattr(pools, "PATIENCE", 60)
    monkeypatch.setattr(full, "_class", full.ray.remote(Doubler))
    monkeypatch.setattr(full, "prepare", prepare)
    victim, survivor = full.call("process").values()
    os.kill(victim, signal.SIGKILL)
    assert len(run(full, range(30))) == 30
    full.gather(Progress())
    assert len(prepared) == pools.TRIES
    assert list(full.call("process").values()) == [survivor]


def test_tasks_are_not_given_out_far_ahead_of_the_first_unfinished_one(pool):
    """Their results would wait in memory: a slow first task holds the others up."""
    given: list[int] = []

    def tasks():
        for number in range(60):
            given.append(number)
            yield Task(number, (number,))

    highest = []

    def take(task, answer):
        if task.number == 0 and len(highest) < 1:
            highest.append(given[-1])
            raise TaskFailed("again")

    pool.run("double", tasks(), take, Progress())
    assert given == list(range(60)) and highest[0] <= pools.WINDOW * 2 * pools.AHEAD


def test_more_workers_than_the_cluster_has_cpus(pool):
    with pytest.raises(SettingsError, match="10000 CPUs"):
        Pool(Doubler, 10_000, "", "cpu")
    assert run(pool, [1]) == {0: b"2"}


def test_without_ray_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match="pip install ray"):
        check_ray()
