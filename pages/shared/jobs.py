"""The jobs that this reader has started: starting, finding, drawing and cancelling them; other readers' are never
shown."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from bertviz_core import tasks
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import shared
from bertviz_core.engine.jobs import Job, JobQueue
from bertviz_core.errors import BertvizError, Cancelled, DownloadNeeded
from bertviz_core.paper_report import ReportRequest
from bertviz_core.tasks import Task
from pages.shared import messages, services, session

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


def everything_key(requests: list[Request]) -> str:
    return "all/" + "/".join(request.key() for request in requests)


def everything(key: str, requests: list[Request], title: str = "Everything") -> None:
    """Queue all requests as one job, under `everything_key`."""
    submit(key, title, lambda: tasks.analyses(requests, services.store()))


def report(key: str, request: ReportRequest) -> None:
    """Queue the computation of what a report lacks, as one job."""
    submit(key, "Report", lambda: tasks.report(request, services.store()))


def hub_model(key: str, requests: list[Request]) -> None:
    """Queue the download of a hub model and then all of these analyses of it, as one job under `everything_key`, for
    which nobody else's analyses wait."""
    task = partial(tasks.hub_model, requests, services.store())
    submit(key, requests[0].checkpoint.name, task, services.downloads())


def cancel(job: Job) -> None:
    """Withdraw this reader's request. To this reader the job is over, even if others still want it."""
    for queue in (services.jobs(), services.downloads()):
        queue.leave(job, session.current().name)
    if not job.finished:
        _mine()[job.key] = Job(job.key, job.title).finish("cancelled", Cancelled())


def last(key: str) -> Job | None:
    """This reader's last job with this key."""
    return _mine().get(key)


def last_of(request: Request) -> Job | None:
    """This reader's last job that computes this result: one for everything, its own, or one that shares its pass."""
    keys = [request.key(), *(other.key() for other in shared(request))]
    wider = [job for job in unfinished() if request.key() in job.key.split("/")]
    return next(filter(None, [*wider, *map(last, keys)]), None)


def unfinished() -> list[Job]:
    return [job for job in _mine().values() if not job.finished]


def is_running(job: Job | None, stored: str = "No result was stored; finished parts are kept.") -> bool:
    """Draw this reader's last job, if there was any: its progress while it runs, else why there is no result and what
    is `stored` after a cancel, which is not an error. Returns whether it runs."""
    if job is not None and not job.finished:
        _running(job)
        return True
    if job is not None and job.state == "cancelled":
        st.caption(f":material/stop: Cancelled. {stored}")
    elif job is not None and job.error is not None:
        messages.error(job.error)
    return False


def beside() -> None:
    """This reader's jobs, in the sidebar of every page; one that has ended is announced once."""
    ended, before = [job for job in _mine().values() if job.finished], st.session_state.get("jobs announced", ())
    st.session_state["jobs announced"] = ended
    for job in ended:
        if job not in before:
            st.toast(f"{messages.plain(job.title)}: {job.state}.")
    if running := unfinished():
        _beside(running)


def offer_download(needed: DownloadNeeded) -> None:
    """Show the size of a hub model, and download it only on request."""
    key = f"download/{needed.name}"
    if is_running(last(key), ""):
        return
    st.header("Download required")
    st.write(f"{messages.plain(needed.what)} Nothing else is downloaded, and code from the model is never run.")
    if st.button(f"Download {needed.size / 1e6:,.0f} MB", type="primary", icon=":material/download:"):
        submit(key, "Download", lambda: tasks.download(needed.name, None), services.downloads())
        st.rerun()


@messages.fragment(run_every=0.5)
def _running(job: Job) -> None:
    """Draw the running job: progress, rate, time left, and Cancel; the page is run again when the job has ended."""
    if _is_over(job):
        st.rerun()
    st.progress(job.progress.fraction, text=messages.plain(_waiting(job) or str(job.progress)))
    if job.progress.losses:
        st.caption("Loss so far (nats per word)")
        st.line_chart(job.progress.losses, height=160, x_label="epoch or iteration")
    st.button("Cancel", on_click=cancel, args=(job,), icon=":material/stop:")


@messages.fragment(run_every=1.0)
def _beside(jobs: list[Job]) -> None:
    if any(map(_is_over, jobs)):
        st.rerun()
    for job in jobs:
        st.progress(job.progress.fraction, text=messages.plain(f"{job.title}: {_waiting(job) or job.progress.stage}"))
        st.button("Cancel", key=f"cancel {job.key}", on_click=cancel, args=(job,), icon=":material/stop:")


def _is_over(job: Job) -> bool:
    """Whether a job is over for this reader; one that others still want goes on after this reader's cancel."""
    return job.finished or last(job.key) is not job


def _waiting(job: Job) -> str:
    """The job's place in the queue, while it is there."""
    if job.state != "waiting":
        return ""
    before = services.jobs().before(job) + services.downloads().before(job)
    return f"Queued, {before} job{'s' * (before > 1)} ahead" if before else "Queued, next in line"


def _mine() -> dict[str, Job]:
    """This reader's jobs by key, the latest at the end."""
    session.current()  # it is here
    mine: dict[str, Job] = st.session_state.setdefault("jobs", {})
    return mine
