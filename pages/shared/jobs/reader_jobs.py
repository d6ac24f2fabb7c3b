"""The jobs that this reader has started: starting, finding and cancelling them; other readers' are never shown."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from bertviz_core import tasks
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import shared
from bertviz_core.engine.jobs import Job, JobQueue
from bertviz_core.errors import BertvizError, Cancelled
from bertviz_core.paper_report.request import ReportRequest
from bertviz_core.tasks import Task
from pages.shared import services, session

REMEMBERED = 50  # of this reader's jobs


def submit(key: str, title: str, task: Callable[[], Task], queue: JobQueue | None = None) -> None:
    """Queue a job, or join the one that runs; a job that cannot be queued ends at once with the error."""
    try:
        services.store().check()
        job = (queue or services.jobs()).submit(key, title, task(), session.current().name)
    except BertvizError as error:
        job = Job(key, title).finish("failed", error)
    mine = _mine()
    mine.pop(key, None)
    mine[key] = job
    while len(mine) > REMEMBERED:
        del mine[next(iter(mine))]


def everything(key: str, requests: list[Request], title: str = "Everything") -> None:
    """Queue all requests as one job, under `everything_key`."""
    submit(key, title, lambda: tasks.analyses(requests, services.store()))


def report(key: str, request: ReportRequest) -> None:
    """Queue the computation of what a report lacks, as one job."""
    submit(key, "Report", lambda: tasks.report(request, services.store()))


def everything_key(requests: list[Request]) -> str:
    return "all/" + "/".join(request.key() for request in requests)


def hub_model(key: str, requests: list[Request]) -> None:
    """Queue the download of a hub model and then all of these analyses of it, as one job under `everything_key`, for
    which nobody else's analyses wait."""
    task = partial(tasks.hub_model, requests, services.store())
    submit(key, requests[0].checkpoint.name, task, services.downloads())


def download(key: str, name: str, revision: str | None) -> None:
    """Queue the download of a hub model's files."""
    submit(key, "Download", lambda: tasks.download(name, revision), services.downloads())


def cancel(job: Job) -> None:
    """Withdraw this reader's request. To this reader the job is over, even if others still want it."""
    for queue in (services.jobs(), services.downloads()):
        queue.leave(job, session.current().name)
    if not job.finished:
        _mine()[job.key] = Job(job.key, job.title).finish("cancelled", Cancelled())


def job(key: str) -> Job | None:
    """This reader's last job with this key."""
    return _mine().get(key)


def job_of(request: Request) -> Job | None:
    """This reader's last job that computes this result: one for everything, its own, or one that shares its pass."""
    keys = [request.key(), *(other.key() for other in shared(request))]
    wider = [job for job in _mine().values() if not job.finished and request.key() in job.key.split("/")]
    return next(filter(None, [*wider, *map(job, keys)]), None)


def unfinished() -> list[Job]:
    return [job for job in _mine().values() if not job.finished]


def announce() -> list[Job]:
    """The jobs that have ended since this was last called."""
    ended, before = [job for job in _mine().values() if job.finished], st.session_state.get("jobs announced", ())
    st.session_state["jobs announced"] = ended
    return [job for job in ended if job not in before]


def _mine() -> dict[str, Job]:
    """This reader's jobs by key, the latest at the end."""
    session.current()  # it is here
    mine: dict[str, Job] = st.session_state.setdefault("jobs", {})
    return mine
