"""Workers by Ray: tasks in any order, a lost worker, a task that fails three times, a cancel, bounded work ahead."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from bertviz_core.engine import pool as pools
from bertviz_core.engine import ray_cluster
from bertviz_core.engine.pool import Pool
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.ray_cluster import check_ray
from bertviz_core.engine.task_queue import Task
from bertviz_core.errors import BertvizError, Cancelled, SettingsError

pytest.importorskip("ray")


SLOW = 1000


def end_process() -> None:
    time.sleep(0.3)  # what the call before it returned is still on its way
    os.kill(os.getpid(), signal.SIGKILL)


class Doubler:
    """A worker of tests."""

    def double(self, number: int) -> bytes:
        if number == -1:
            end_process()
        if number == -2:
            raise ValueError("an odd number")
        if number == -3:
            raise SettingsError("a number of no use")
        time.sleep(1 if number == SLOW else 0.01)
        return str(2 * number).encode()

    def fragile(self, calls: str, kills: int) -> bytes:
        """Ends its process the first `kills` times that it is called with this file."""
        with Path(calls).open("a+b") as file:
            file.write(b".")
            file.flush()
            if file.tell() <= kills:
                end_process()
        return b"done"

    def passing(self, calls: str, failures: int) -> bytes:
        """Fails the first `failures` times that it is called with this file."""
        with Path(calls).open("a+b") as file:
            file.write(b".")
            file.flush()
            if file.tell() <= failures:
                raise OSError("out of memory")
        return b"done"

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


def processes(pool) -> list[int]:
    return pool.prepare(Progress(), "process")


def run(pool, numbers, take=None, progress=None) -> dict[int, bytes]:
    answers: dict[int, bytes] = {}
    tasks = (Task(place, (number,)) for place, number in enumerate(numbers))
    pool.run(
        "double", tasks, take or (lambda task, answer: answers.update({task.number: answer})), progress or Progress()
    )
    return answers


def test_every_task_is_done_once(pool):
    assert run(pool, range(40)) == {number: str(2 * number).encode() for number in range(40)}
    assert len(set(processes(pool))) == 2
    assert run(pool, []) == {}


def test_a_lost_worker_is_replaced(pool):
    victim = processes(pool)[0]
    tasks = iter(range(30))

    def killing():
        for number in tasks:
            if number == 10:
                os.kill(victim, signal.SIGKILL)
            yield number

    assert run(pool, killing()) == {number: str(2 * number).encode() for number in range(30)}
    assert victim not in processes(pool) and len(set(processes(pool))) == 2


@pytest.mark.parametrize(("number", "reason"), [(-1, "a worker process ended"), (-2, "ValueError: an odd number")])
def test_a_task_that_fails_three_times_ends_it(pool, number, reason):
    answers = {}
    with pytest.raises(BertvizError, match=f"Part 4 of the corpus failed 3 times: {reason}"):
        run(pool, [1, 2, 3, number], lambda task, answer: answers.update({task.number: answer}))
    assert 0 in answers
    assert run(pool, [1]) == {0: b"2"}


def test_only_the_task_that_ran_when_its_worker_ended_has_failed(pool, tmp_path):
    """The second task waits behind the first one when that ends their worker, then ends one itself."""
    answers = {}
    with Pool(Doubler, 1, "", "cpu") as single:
        tasks = [Task(number, (str(tmp_path / f"{number}"), 2 - number)) for number in range(3)]
        single.run("fragile", tasks, lambda task, answer: answers.update({task.number: answer}), Progress())
    assert answers == dict.fromkeys(range(3), b"done")
    assert [len((tmp_path / f"{number}").read_bytes()) for number in range(3)] == [3, 2, 1]


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

    victim, survivor = processes(full)
    assert run(full, killing()) == {number: str(2 * number).encode() for number in range(30)}
    assert len(full.workers) == 1
    os.kill(survivor, signal.SIGKILL)
    progress = Progress()
    threading.Timer(1, progress.cancelled.set).start()
    with pytest.raises(Cancelled):
        run(full, range(30), progress=progress)


def test_without_any_worker_the_job_ends(full, monkeypatch):
    monkeypatch.setattr(pools, "NO_WORKER", 0.5)
    for process in processes(full):
        os.kill(process, signal.SIGKILL)
    with pytest.raises(BertvizError, match="No worker could be started"):
        run(full, range(30))


class NeverStarts(Doubler):
    """A worker whose node is broken."""

    def __init__(self) -> None:
        raise OSError("no such library")


def test_a_replacement_that_never_starts_ends_the_job_only_without_others(full, monkeypatch):
    monkeypatch.setattr(pools, "PATIENCE", 60)
    monkeypatch.setattr(full, "_class", full.ray.remote(NeverStarts))
    victim, survivor = processes(full)
    os.kill(victim, signal.SIGKILL)
    assert len(run(full, range(30))) == 30
    full.gather(Progress())
    assert len(full.workers) == 1 and full._failures == pools.TRIES
    os.kill(survivor, signal.SIGKILL)
    with pytest.raises(BertvizError, match="Worker processes do not start"):
        run(full, range(30))
    for method in (processes, lambda full: run(full, [1])):
        with pytest.raises(BertvizError, match="No worker is left"):
            method(full)


class Unprepared(Doubler):
    """A worker that joins later, on a machine that lacks something."""

    def process(self) -> int:
        raise OSError("no weights")


def test_a_worker_that_cannot_be_prepared_takes_no_tasks(full, monkeypatch):
    monkeypatch.setattr(pools, "PATIENCE", 60)
    monkeypatch.setattr(full, "_class", full.ray.remote(Unprepared))
    victim, survivor = processes(full)
    os.kill(victim, signal.SIGKILL)
    assert len(run(full, range(30))) == 30
    full.gather(Progress())
    assert full._failures == pools.TRIES
    assert processes(full) == [survivor]


def test_what_a_worker_cannot_be_prepared_for_is_said(full):
    with pytest.raises(SettingsError, match="a number of no use"):
        full.prepare(Progress(), "double", -3)
    assert len(processes(full)) == 2


def test_a_worker_that_fails_once_is_prepared_again(tmp_path):
    with Pool(Doubler, 1, "", "cpu") as single:
        assert single.prepare(Progress(), "passing", str(tmp_path / "calls"), 1) == [b"done"]
        with pytest.raises(BertvizError, match="do not start: out of memory"):
            single.prepare(Progress(), "passing", str(tmp_path / "others"), 100)
    assert len((tmp_path / "others").read_bytes()) == pools.TRIES + 1


def test_workers_that_are_ready_take_turns(pool):
    done = []

    def take(task, process):
        done.append(process)
        time.sleep(0.05)

    processes(pool)
    pool.run("process", (Task(number, ()) for number in range(12)), take, Progress())
    assert min(Counter(done).values()) >= 4 and len(set(done)) == 2


def test_tasks_are_not_given_out_far_ahead_of_the_first_unfinished_one(pool):
    """Their results would wait in memory: a slow first task holds the others up."""
    given: list[int] = []

    def tasks():
        for number in range(60):
            given.append(number)
            yield Task(number, (number or SLOW,))

    highest = []
    pool.run(
        "double", tasks(), lambda task, answer: highest.append(given[-1]) if task.number == 0 else None, Progress()
    )
    assert given == list(range(60)) and highest[0] <= pools.WINDOW * 2 * pools.AHEAD


def test_more_workers_than_the_cluster_has_cpus(pool):
    with pytest.raises(SettingsError, match="10000 CPUs"):
        Pool(Doubler, 10_000, "", "cpu")
    assert run(pool, [1]) == {0: b"2"}


def test_without_ray_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match="pip install ray"):
        check_ray()
