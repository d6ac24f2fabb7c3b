"""Jobs: equal requests share one, readers take turns, errors are kept for people, a cancel stops the work."""

from __future__ import annotations

import threading
import time

import pytest

from bertviz_core.access import LOCAL, Access
from bertviz_core.engine.jobs import DOWNLOADS, Jobs
from bertviz_core.errors import BertvizError, Cancelled, InputError, QueueFull
from tests.waiting import until, wait_for


def make_jobs(access: Access = LOCAL) -> Jobs:
    """Tasks are functions of progress."""

    def run(task, progress):
        task(progress)

    return Jobs({"analyses": run, DOWNLOADS: run}, access)


class Gate:
    """A first job that runs until `open`, so that others wait."""

    def __init__(self, jobs: Jobs, asker: str = "gate") -> None:
        self._open = threading.Event()
        self.job = jobs.submit("gate", "Gate", lambda progress: self._open.wait(10), asker)
        until(lambda: self.job.state == "running")

    def open(self) -> None:
        self._open.set()


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
    assert first is second and first.askers == {"a", "b"}
    gate.set()
    assert wait_for(first).state == "done"
    assert len(runs) == 1
    assert jobs.submit("key", "Work", work, "a") is not first


def test_one_thing_at_a_time_and_the_queue_is_counted():
    jobs = make_jobs()
    gate = Gate(jobs)
    second, third = (jobs.submit(key, "B", nothing, "reader") for key in "bc")
    assert second.state == third.state == "waiting"
    assert [jobs.before(job) for job in (gate.job, second, third)] == [0, 1, 2]
    gate.open()
    assert wait_for(third).state == wait_for(second).state == gate.job.state == "done"


def test_a_download_waits_for_no_analysis():
    jobs = make_jobs()
    gate = Gate(jobs)
    assert wait_for(jobs.submit("download", "Download", nothing, "reader", DOWNLOADS)).state == "done"
    assert gate.job.state == "running"
    gate.open()


@pytest.mark.parametrize("cancelled", [False, True])
def test_what_follows_a_download_waits_in_its_own_lane(cancelled):
    jobs, ran = make_jobs(), []
    gate = Gate(jobs)
    then = (("analyses", lambda progress: ran.append("analysis")),)
    job = jobs.submit("both", "Both", lambda progress: ran.append("download"), "reader", DOWNLOADS, then)
    until(lambda: job.lane == "analyses")
    assert (job.state, jobs.before(job), ran) == ("waiting", 1, ["download"])
    other = jobs.submit("other", "Other", nothing, "another", DOWNLOADS)
    assert wait_for(other).state == "done" and gate.job.state == "running"
    if cancelled:
        jobs.leave(job, "reader")
    gate.open()
    assert wait_for(job).state == ("cancelled" if cancelled else "done")
    assert ran == (["download"] if cancelled else ["download", "analysis"])


@pytest.mark.parametrize("fails", [True, False])
def test_nothing_follows_a_download_that_fails_or_is_cancelled(fails):
    jobs, ran, gate = make_jobs(), [], threading.Event()

    def download(progress):
        gate.wait(5)  # a cancel comes when it is done
        if fails:
            raise InputError("no")

    job = jobs.submit("both", "Both", download, "reader", DOWNLOADS, (("analyses", lambda progress: ran.append(1)),))
    if not fails:
        until(lambda: job.state == "running")
        jobs.leave(job, "reader")
    gate.set()
    assert wait_for(job).state == ("failed" if fails else "cancelled") and not ran


def test_readers_take_turns():
    jobs, started = make_jobs(), []
    gate = Gate(jobs)

    def ask(key, asker):
        return jobs.submit(key, key, lambda progress: started.append(key), asker)

    many = [ask(f"many {number}", "many") for number in range(5)]
    few = [ask(f"few {number}", "few") for number in range(2)]
    late = ask("late", "late")
    shared = ask("many 4", "other")
    expected = ["many 0", "many 4", "few 0", "late", "many 1", "few 1", "many 2", "many 3"]
    assert [jobs.before(job) for job in (many[0], shared, few[0], late)] == [1, 2, 3, 4]
    assert shared is many[4]
    gate.open()
    for job in (*many, *few, late):
        wait_for(job)
    assert started == expected


def test_the_turn_that_a_reader_had_counts_when_more_is_asked():
    """Whoever asks one by one comes before another's long list no more often than in turn."""
    jobs, started = make_jobs(), []
    gate = Gate(jobs, "one by one")
    for number in range(2):
        jobs.submit(f"list {number}", "", lambda progress, number=number: started.append(f"list {number}"), "list")
    last = jobs.submit("next", "", lambda progress: started.append("next"), "one by one")
    gate.open()
    wait_for(last)
    until(lambda: len(started) == 3)
    assert started == ["list 0", "next", "list 1"]


def test_a_cancel_stops_the_work_at_its_next_step():
    jobs = make_jobs()
    job = jobs.submit("key", "Work", until_cancelled, "reader")
    until(lambda: job.progress.done)
    jobs.leave(job, "reader")
    assert wait_for(job).state == "cancelled"
    assert isinstance(job.error, Cancelled)


def test_a_cancelled_job_that_waits_ends_at_once_and_never_starts():
    jobs, ran = make_jobs(), []
    gate = Gate(jobs)
    second = jobs.submit("b", "B", lambda progress: ran.append(1), "reader")
    third = jobs.submit("c", "C", nothing, "reader")
    jobs.leave(second, "reader")
    assert second.state == "cancelled" and isinstance(second.error, Cancelled)
    assert jobs.before(third) == 1
    gate.open()
    assert wait_for(third).state == "done"
    assert not ran


@pytest.mark.parametrize("waits", [True, False])
def test_only_the_last_asker_cancels(waits):
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
    assert wait_for(job).state == "cancelled"
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


def test_leaving_a_job_that_has_ended_changes_nothing():
    jobs = make_jobs()
    job = wait_for(jobs.submit("key", "Work", nothing, "a"))
    jobs.leave(job, "a")
    assert job.state == "done" and job.error is None


def test_the_queue_is_bounded_for_each_session_and_in_all():
    jobs = make_jobs(Access(public=True, jobs=3))
    gate = Gate(jobs)
    first = jobs.submit("a 1", "A", nothing, "a")
    with pytest.raises(QueueFull, match="of your jobs"):
        jobs.submit("a 2", "A", nothing, "a")
    assert jobs.submit("a 1", "A", nothing, "a").askers == {"a"}  # joining adds nothing to the queue
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
    running = jobs.submit("running", "Work", until_cancelled, "gone", DOWNLOADS)
    jobs.leave_all("gone")
    assert alone.state == "cancelled" and not shared.finished
    assert wait_for(running).state == "cancelled"
    gate.open()
    assert wait_for(shared).state == "done"


class Panic(BaseException):
    """As a panic in Rust arrives in Python."""


@pytest.mark.parametrize(
    "error",
    [InputError("No.", where="a.txt, line 3"), ZeroDivisionError("by zero"), Panic("at the disco"), SystemExit(3)],
)
def test_what_went_wrong_is_kept_for_people_and_the_worker_goes_on(error):
    jobs = make_jobs()

    def work(progress):
        raise error

    job = wait_for(jobs.submit("key", "Work", work, "a"))
    assert job.state == "failed"
    assert isinstance(job.error, BertvizError)
    assert ("line 3" if isinstance(error, BertvizError) else type(error).__name__) in str(job.error)
    assert wait_for(jobs.submit("other", "Other", nothing, "a")).state == "done"


def test_want_of_memory_is_said_in_plain_words():
    jobs = make_jobs()

    def work(progress):
        raise MemoryError

    job = wait_for(jobs.submit("key", "Work", work, "a"))
    assert str(job.error).startswith("The job ran out of memory.") and "smaller model" in str(job.error)


def test_many_readers_at_once_lose_nothing():
    """Asking, leaving and looking from many threads: every job ends, and nothing is left."""
    jobs, mine, problems = make_jobs(), [], []

    def reader(name: str) -> None:
        try:
            for number in range(40):
                job = jobs.submit(f"{number % 5}", "Work", nothing, name)
                mine.append(job)
                jobs.before(job)
                if number % 3 == 0:
                    jobs.leave(job, name)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=reader, args=(f"reader {number}",)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for job in mine:
        wait_for(job)
    assert not problems
    assert not jobs._unfinished
