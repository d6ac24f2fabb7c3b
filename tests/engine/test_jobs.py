import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from bertviz_core.engine.jobs import JobQueue
from bertviz_core.errors import BertvizError, Cancelled, InputError, QueueFull
from bertviz_core.settings import LOCAL, Access
from tests.support.waiting import until, wait_for


def make_jobs(access: Access = LOCAL) -> JobQueue:
    """Tasks are functions of progress."""
    return JobQueue(lambda task, progress: task(progress), access)


class Gate:
    """A first job that runs until `open`, so that others wait."""

    def __init__(self, jobs: JobQueue) -> None:
        opened = threading.Event()
        self.open = opened.set
        self.job = jobs.submit("gate", "Gate", lambda progress: opened.wait(10), "gate")
        until(lambda: self.job.state == "running")


def nothing(progress) -> None:
    pass


def until_cancelled(progress) -> None:
    while True:
        progress.advance(1)
        time.sleep(0.005)


def test_equal_requests_share_one_job_until_it_ends():
    jobs, gate, runs = make_jobs(), threading.Event(), []

    def work(progress):
        runs.append(1)
        gate.wait(5)

    first, second = jobs.submit("key", "Work", work, "a"), jobs.submit("key", "Work", work, "b")
    assert first is second and first.sessions == {"a", "b"}
    gate.set()
    assert wait_for(first).state == "done"
    assert len(runs) == 1
    assert jobs.submit("key", "Work", work, "a") is not first


def test_one_thing_at_a_time_and_a_cancelled_job_that_waits_never_starts():
    jobs, ran = make_jobs(), []
    gate = Gate(jobs)
    second = jobs.submit("b", "B", lambda progress: ran.append(1), "reader")
    third, fourth = (jobs.submit(key, "C", nothing, "reader") for key in "cd")
    assert second.state == third.state == fourth.state == "waiting"
    assert [jobs.before(job) for job in (gate.job, second, third, fourth)] == [0, 1, 2, 3]
    jobs.leave(second, "reader")
    assert second.state == "cancelled" and isinstance(second.error, Cancelled)
    assert jobs.before(third) == 1
    gate.open()
    assert wait_for(fourth).state == wait_for(third).state == gate.job.state == "done"
    assert not ran


@pytest.mark.parametrize("waits", [True, False])
def test_only_the_last_session_cancels_and_stops_the_work_at_its_next_step(waits):
    jobs = make_jobs()
    gate = Gate(jobs) if waits else None
    job = jobs.submit("key", "Work", until_cancelled, "a")
    jobs.submit("key", "Work", until_cancelled, "b")
    until(lambda: waits or job.progress.done)
    jobs.leave(job, "a")
    jobs.leave(job, "a")
    jobs.leave(job, "stranger")
    assert not job.progress.cancelled.is_set() and not job.finished
    jobs.leave(job, "b")
    assert wait_for(job).state == "cancelled" and isinstance(job.error, Cancelled)
    if gate:
        gate.open()


def test_a_job_that_is_being_cancelled_is_joined_by_nobody():
    jobs, gate = make_jobs(), threading.Event()

    def slow_to_hear(progress):
        gate.wait(5)
        progress.advance(1)

    first = jobs.submit("key", "Work", slow_to_hear, "a")
    until(lambda: first.state == "running")
    jobs.leave(first, "a")
    second = jobs.submit("key", "Work", nothing, "b")
    assert second is not first and second.state == "waiting"
    gate.set()
    assert wait_for(first).state == "cancelled"
    assert wait_for(second).state == "done"


def test_the_queue_is_bounded_for_each_session_and_in_all():
    jobs = make_jobs(Access(public=True, jobs=3))
    gate = Gate(jobs)
    first = jobs.submit("a 1", "A", nothing, "a")
    with pytest.raises(QueueFull, match="cannot queue more jobs"):
        jobs.submit("a 2", "A", nothing, "a")
    assert jobs.submit("a 1", "A", nothing, "a").sessions == {"a"}  # joining adds nothing to the queue
    jobs.submit("b", "B", nothing, "b")
    with pytest.raises(QueueFull, match="queue is full"):
        jobs.submit("c", "C", nothing, "c")
    jobs.leave(first, "a")
    last = jobs.submit("a 2", "A", nothing, "a")
    gate.open()
    assert wait_for(last).state == "done"
    assert wait_for(jobs.submit("c", "C", nothing, "c")).state == "done"


def test_who_is_gone_keeps_no_place_but_others_keep_theirs():
    jobs = make_jobs()
    gate = Gate(jobs)
    alone, shared = (jobs.submit(key, "Work", nothing, "gone") for key in ("alone", "shared"))
    jobs.submit("shared", "Work", nothing, "here")
    jobs.leave_all("gone")
    assert alone.state == "cancelled" and not shared.finished
    gate.open()
    assert wait_for(shared).state == "done"


class Panic(BaseException):
    """As a panic in Rust arrives in Python."""


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (InputError("No.", where="a.txt, line 3"), "line 3"),
        (ZeroDivisionError("by zero"), "ZeroDivisionError"),
        (Panic("at the disco"), "Panic"),
        (SystemExit(3), "SystemExit"),
        (MemoryError(), "ran out of memory. Earlier results are kept. Choose a smaller model"),
    ],
)
def test_what_went_wrong_is_kept_for_people_and_the_worker_goes_on(error, message):
    jobs = make_jobs()

    def work(progress):
        raise error

    job = wait_for(jobs.submit("key", "Work", work, "a"))
    assert job.state == "failed"
    assert isinstance(job.error, BertvizError)
    assert message in str(job.error)
    assert wait_for(jobs.submit("other", "Other", nothing, "a")).state == "done"


def test_many_readers_at_once_lose_nothing():
    """Asking, leaving and looking from many threads: every job ends, and nothing is left."""
    jobs, submitted = make_jobs(), []

    def reader(name: str) -> None:
        for number in range(40):
            job = jobs.submit(f"{number % 5}", "Work", nothing, name)
            submitted.append(job)
            jobs.before(job)
            if number % 3 == 0:
                jobs.leave(job, name)

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(reader, [f"reader {number}" for number in range(12)]))  # raises what a reader raised
    for job in submitted:
        wait_for(job)
    assert not jobs._jobs


def test_a_joined_job_is_performed_for_a_session_that_has_not_left():
    performed = []

    def run(task, progress):
        performed.append(task)
        if task == "first":
            gate.wait(10)

    jobs, gate = JobQueue(run), threading.Event()
    jobs.submit("first", "First", "first", "a")
    waits, joined = (jobs.submit("key", "Work", task, session) for task, session in (("c's", "c"), ("b's", "b")))
    jobs.leave(waits, "c")
    gate.set()
    assert wait_for(joined).state == "done" and performed == ["first", "b's"]


def test_a_job_whose_file_is_gone_with_its_session_is_performed_for_the_next_one():
    performed, is_gone = [], threading.Event()

    def run(task, progress):
        performed.append(task)
        if task == "a's":
            is_gone.wait(10)
            raise InputError("The file is gone.")

    jobs = JobQueue(run)
    job = jobs.submit("key", "Work", "a's", "a")
    jobs.submit("key", "Work", "b's", "b")
    until(lambda: job.performed == "a's")
    jobs.leave(job, "a")
    is_gone.set()
    assert wait_for(job).state == "done" and performed == ["a's", "b's"] and job.error is None
    alone = jobs.submit("key", "Work", "a's", "a")
    assert wait_for(alone).state == "failed"
