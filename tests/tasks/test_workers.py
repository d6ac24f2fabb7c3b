import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from bertviz_core import tasks
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run import compute
from bertviz_core.engine.jobs import Job, JobQueue
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.uploads import Uploads
from bertviz_core.errors import BertvizError, Cancelled
from bertviz_core.models import checkpoint
from bertviz_core.settings import Settings
from bertviz_core.tasks import Worker
from tests.support.waiting import until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LINE = "the cat sat on the mat and the dog slept near the mill .\n"
LONG = LINE * 6_000  # longer than any test waits
SHORTER = LINE * 1_000  # long enough for a few messages
SOON = 4.0  # seconds; the promise is one, on a machine that does nothing else

# Behind the tests of the other core, a process of the lowest priority would hardly run.
AS_IMPORTANT = "import os, runpy; os.nice = lambda _: 0; runpy.run_module('bertviz_core.tasks', run_name='__main__')"


@pytest.fixture(autouse=True)
def as_important_as_other_tests(monkeypatch):
    monkeypatch.setattr(tasks, "COMMAND", (sys.executable, "-P", "-c", AS_IMPORTANT))


@pytest.fixture(scope="module")
def worker():
    """One that has torch and a model, for all tests here: what a test kills, the next one starts again."""
    with closing(Worker()) as worker:
        yield worker


@pytest.fixture
def fresh():
    """One that has no process yet."""
    with closing(Worker()) as worker:
        yield worker


@pytest.fixture
def task(store, tiny_folder):
    """An analysis and its task; the number makes it another."""

    def make(text: str = "the cat sat .\n", number: int = 0):
        uploads = Uploads(store)
        source = uploads.source(uploads.keep(text.encode(), "my text.txt", "text").token)
        request = Request(
            "entropy", checkpoint.find_checkpoint(str(tiny_folder)), source, Settings(max_length=32, seed=number)
        )
        return request, tasks.analyses([request], store)

    return make


@pytest.fixture
def doomed(task, store):
    """A task that fails before it needs a model: its corpus is gone."""
    request, work = task("soon gone .\n")
    Uploads(store).delete(request.source.locator.removeprefix("upload:"))
    return work


def process_of(worker: Worker) -> int | None:
    """Id of its process; None while none runs."""
    process = worker._process
    return process.pid if process and process.poll() is None else None


def start(worker: Worker, task, stage: str) -> tuple[JobQueue, Job]:
    """As a job that has come to this stage, and has done some of it where it is counted."""
    jobs = JobQueue(worker)
    job = jobs.submit("key", "Work", task, "reader")
    until(lambda: job.finished or (job.progress.stage == stage and (job.progress.done or not job.progress.total)))
    assert job.state == "running", job.error
    return jobs, job


def seconds_to_cancel(jobs: JobQueue, job: Job) -> float:
    began = time.monotonic()
    jobs.leave(job, "reader")
    until(lambda: job.finished)
    assert job.state == "cancelled" and isinstance(job.error, Cancelled)
    return time.monotonic() - began


def test_progress_crosses_and_the_process_stays_for_the_next_task(worker, task, store):
    shown, progress = set(), Progress()
    request, first = task(SHORTER)
    thread = threading.Thread(target=worker, args=(first, progress))
    thread.start()
    while thread.is_alive():
        shown.add((progress.stage, 0 < progress.done < progress.total))
        time.sleep(0.01)
    assert {("Loading the model", False), ("Running the model", True)} <= shown
    assert compute.find(store, request).arrays() == compute.compute(request, None).arrays()
    pid = process_of(worker)
    other, second = task("another text .\n")
    worker(second, Progress())
    assert process_of(worker) == pid
    assert compute.find(store, other) is not None
    with pytest.raises(BertvizError) as caught:  # bad input is an error for people
        worker(task("\n \n")[1], Progress())
    assert caught.value.where.startswith("my text.txt") and caught.value.hint
    worker(task()[1], Progress())
    assert process_of(worker) == pid


def test_a_cancel_is_heard_and_the_process_stays(worker, task, store, monkeypatch):
    monkeypatch.setattr(tasks, "CANCEL_GRACE_S", SOON)
    request, long = task(LONG, 1)
    jobs, job = start(worker, long, "Running the model")
    pid = process_of(worker)
    assert seconds_to_cancel(jobs, job) < SOON
    assert process_of(worker) == pid
    assert compute.find(store, request) is None
    tasks._send(worker._link, cancel=True)  # comes late, and is not the next task's
    request, short = task(number=2)
    worker(short, Progress())
    assert compute.find(store, request) is not None


def test_kill_9_in_the_middle_is_said_and_the_next_job_runs(worker, task, store):
    request, long = task(LONG, 3)
    _, job = start(worker, long, "Running the model")
    os.kill(process_of(worker), signal.SIGKILL)
    until(lambda: job.finished)
    assert job.state == "failed"
    assert "died (signal 9)" in str(job.error) and "Earlier results are kept" in str(job.error)
    assert compute.find(store, request) is None
    request, short = task(number=4)
    worker(short, Progress())
    assert compute.find(store, request) is not None


def test_a_stage_that_hears_no_cancel_is_ended_with_its_process(fresh, task):
    jobs, job = start(fresh, task()[1], "Loading the model")
    os.kill(process_of(fresh), signal.SIGSTOP)
    assert seconds_to_cancel(jobs, job) < SOON
    assert process_of(fresh) is None


def test_a_process_that_died_while_nothing_ran_or_met_a_programming_error_is_replaced(fresh, doomed):
    pids = []
    for _ in range(2):
        with pytest.raises(BertvizError, match="not on this server"):
            fresh(doomed, Progress())
        pids.append(process_of(fresh))
        os.kill(process_of(fresh), signal.SIGKILL)
        until(lambda: process_of(fresh) is None)
    assert len(set(pids)) == 2
    with pytest.raises(BertvizError, match=r"failed unexpectedly \(KeyError"):
        fresh({}, Progress())
    assert process_of(fresh) is None


SERVER = """
import json, sys, time
from bertviz_core.engine.jobs import JobQueue
from bertviz_core.tasks import Worker
from tests.support.waiting import until
job = JobQueue(Worker()).submit("key", "Work", json.load(sys.stdin), "reader")
while job.progress.stage != "Loading the model":
    assert not job.finished, job.error
    time.sleep(0.01)
print("running", flush=True)
time.sleep(60)
"""


def test_the_end_of_the_server_ends_its_jobs(task):
    command, pipe = [sys.executable, "-c", SERVER], subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as server:
        server.stdin.write(json.dumps(task(LONG)[1]))
        server.stdin.close()
        assert server.stdout.readline() == "running\n"
        began = time.monotonic()
        server.kill()
        server.stderr.read()  # which the worker has too: it ends when both have
        assert time.monotonic() - began < SOON
