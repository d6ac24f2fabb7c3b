"""Jobs: equal requests share one, errors are kept for people, a cancel stops the work."""

from __future__ import annotations

import threading
import time

import pytest

from bertviz_core.engine.jobs import Job, Jobs
from bertviz_core.errors import BertvizError, InputError


def wait_for(job: Job) -> Job:
    for _ in range(500):
        if job.finished:
            return job
        time.sleep(0.01)
    raise AssertionError(f"still {job.state}")


def test_equal_requests_share_one_job_until_it_ends():
    jobs, gate, runs = Jobs(), threading.Event(), []

    def work(progress):
        runs.append(1)
        gate.wait(5)

    first, second = jobs.submit("key", "Work", work), jobs.submit("key", "Work", work)
    assert first is second
    gate.set()
    assert wait_for(first).state == "done"
    assert len(runs) == 1
    assert jobs.submit("key", "Work", work) is not first


def test_one_thing_at_a_time_and_the_queue_is_counted():
    jobs, gate = Jobs(), threading.Event()
    first = jobs.submit("a", "A", lambda progress: gate.wait(5))
    second = jobs.submit("b", "B", lambda progress: None)
    assert second.state == "waiting"
    assert jobs.waiting_before(second) == 1
    gate.set()
    assert wait_for(second).state == "done"
    assert first.state == "done"


def test_a_cancel_stops_the_work_at_its_next_step():
    jobs, seen = Jobs(), []

    def work(progress):
        for step in range(1000):
            progress.advance(1)
            seen.append(step)
            time.sleep(0.01)

    job = jobs.submit("key", "Work", work)
    while not seen:
        time.sleep(0.005)
    job.cancel()
    assert wait_for(job).state == "cancelled"
    assert len(seen) < 1000
    assert "cancelled" in str(job.error)


def test_a_cancelled_job_that_waits_never_starts():
    jobs, gate, ran = Jobs(), threading.Event(), []
    jobs.submit("a", "A", lambda progress: gate.wait(5))
    second = jobs.submit("b", "B", lambda progress: ran.append(1))
    second.cancel()
    gate.set()
    assert wait_for(second).state == "cancelled"
    assert not ran


@pytest.mark.parametrize("error", [InputError("No.", where="a.txt, line 3"), ZeroDivisionError("by zero")])
def test_what_went_wrong_is_kept_for_people_and_the_worker_goes_on(error):
    jobs = Jobs()

    def work(progress):
        raise error

    job = wait_for(jobs.submit("key", "Work", work))
    assert job.state == "failed"
    assert isinstance(job.error, BertvizError)
    assert ("line 3" if isinstance(error, BertvizError) else "ZeroDivisionError") in str(job.error)
    assert wait_for(jobs.submit("other", "Other", lambda progress: None)).state == "done"


def test_finished_jobs_are_forgotten_in_time():
    jobs = Jobs()
    for number in range(220):
        wait_for(jobs.submit(str(number), "Work", lambda progress: None))
    assert jobs.get("219") is not None
    assert jobs.get("0") is None
