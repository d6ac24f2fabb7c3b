"""One reader's session and its jobs; other readers' are never shown. On a public server jobs and uploads end with the
session; on one's own machine jobs run to their end, and uploads stay."""

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Timer

import streamlit as st

from bertviz_core import tasks
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import shared
from bertviz_core.corpora.upload_check import UploadCheck
from bertviz_core.engine.jobs import Job, JobQueue
from bertviz_core.engine.uploads import Upload
from bertviz_core.errors import BertvizError, Cancelled, DownloadNeeded, StoreError
from bertviz_core.tasks import Task
from pages.shared import messages, services

GRACE = 120.0  # seconds for which Streamlit keeps a session whose connection is closed
REMEMBERED = 50  # of this reader's jobs


@dataclass(eq=False)
class Session:
    """The state of one reader."""

    name: str = field(default_factory=lambda: secrets.token_hex(16))  # secret: jobs know the session by it
    jobs: dict[str, Job] = field(default_factory=dict)  # by key, the latest at the end
    uploads: list[Upload] = field(default_factory=list)  # on a public server
    check: UploadCheck | None = None  # of an upload, which runs
    leaving: Timer | None = None  # runs out when the connection has been closed for too long

    def close(self) -> None:
        """The connection is closed: stop the check, and end everything else unless the reader comes back."""
        if self.check:
            self.check.end()
        if services.access().public and (self.uploads or any(queue.jobs_of(self.name) for queue in services.queues())):
            self.leaving = Timer(GRACE, self.end)
            self.leaving.daemon = True  # does not delay the server's end
            self.leaving.start()

    def end(self) -> None:
        """Withdraw from the jobs, and delete the uploads."""
        for queue in services.queues():
            queue.leave_all(self.name)
        for upload in self.uploads:
            with suppress(StoreError):  # it expires
                services.uploads().delete(upload.token)


def session() -> Session:
    mine: Session = st.session_state.setdefault("session", Session())
    if mine.leaving:
        mine.leaving.cancel()
        mine.leaving = None
    return _connected(mine.name, mine)


@st.cache_resource(scope="session", show_spinner=False, on_release=Session.close)
def _connected(name: str, _session: Session) -> Session:
    """Streamlit releases it when the connection is closed, and asks for it anew in a session that comes back."""
    return _session


def submit(key: str, title: str, task: Callable[[], Task], queue: JobQueue | None = None) -> None:
    """Queue a job, or join the one that runs; a job that cannot be queued ends at once with the error."""
    mine = session()
    try:
        services.store().check()
        job = (queue or services.jobs()).submit(key, title, task(), mine.name)
    except BertvizError as error:
        job = Job(key, title).finish("failed", error)
    mine.jobs.pop(key, None)
    mine.jobs[key] = job
    while len(mine.jobs) > REMEMBERED:
        del mine.jobs[next(iter(mine.jobs))]


def everything_key(requests: list[Request]) -> str:
    """The key of one job for all these requests, in which `last_of` finds each."""
    return "all/" + "/".join(request.key() for request in requests)


def cancel(job: Job) -> None:
    """Withdraw this reader's request. To this reader the job is over, even if others still want it."""
    for queue in services.queues():
        queue.leave(job, session().name)
    if not job.finished:
        session().jobs[job.key] = Job(job.key, job.title).finish("cancelled", Cancelled())


def last(key: str) -> Job | None:
    return session().jobs.get(key)


def last_of(request: Request) -> Job | None:
    """This reader's last job that computes this result: one for everything, its own, or one that shares its pass."""
    keys = [request.key(), *(other.key() for other in shared(request))]
    wider = [job for job in unfinished() if request.key() in job.key.split("/")]
    return next(filter(None, [*wider, *map(last, keys)]), None)


def unfinished() -> list[Job]:
    return [job for job in session().jobs.values() if not job.finished]


def is_running(job: Job | None, stored: str = "No result was stored; finished parts are kept.") -> bool:
    """Draw this reader's last job, if there was any: its progress while it runs, else why there is no result and what
    is `stored` after a cancel, which is not an error. Returns whether it runs."""
    if job is not None and not job.finished:
        _running([job], in_full=True)
        return True
    if job is not None and job.state == "cancelled":
        st.caption(f":material/stop: Cancelled. {stored}")
    elif job is not None and job.error is not None:
        messages.error(job.error)
    return False


def announce() -> None:
    """This reader's jobs, in the sidebar of every page; one that has ended is announced once."""
    mine = session().jobs.values()
    before = st.session_state.get("jobs announced", ())
    st.session_state["jobs announced"] = ended = [job for job in mine if job.finished]
    for job in ended:
        if job not in before:
            st.toast(f"{messages.plain(job.title)}: {job.state}.")
    if running := unfinished():
        _running(running, in_full=False)


def offer_download(needed: DownloadNeeded) -> None:
    """Show the size of a hub model, and download it only on request."""
    key = f"download/{needed.name}"
    if is_running(last(key), ""):
        return
    st.header("Download required")
    st.write(f"{messages.plain(needed.what)} Nothing else is downloaded, and code from the model is never run.")
    job = key, "Download", lambda: tasks.download(needed.name, None, [], services.store()), services.downloads()
    label = f"Download {needed.size / 1e6:,.0f} MB"
    icon = ":material/download:"
    st.button(label, type="primary", icon=icon, on_click=submit, args=job)


@st.fragment(run_every=1.0)
def _running(jobs: list[Job], *, in_full: bool) -> None:
    """Draw running jobs: progress, rate, time left, and Cancel. The page is run again when one is over for this reader:
    after this reader's cancel it may go on for others."""
    if any(job.finished or last(job.key) is not job for job in jobs):
        st.rerun()
    for job in jobs:
        text = str(job.progress) if in_full else job.progress.stage
        if job.state == "waiting":
            before = sum(queue.before(job) for queue in services.queues())
            text = f"Queued, {before} job{'s' * (before > 1)} ahead" if before else "Queued, next in line"
        st.progress(job.progress.fraction, text=messages.plain(text if in_full else f"{job.title}: {text}"))
        if job.progress.losses and in_full:
            st.caption("Loss so far (nats per word)")
            st.line_chart(job.progress.losses, height=160, x_label="epoch or iteration")
        st.button("Cancel", key=f"cancel {job.key} {in_full}", on_click=cancel, args=(job,), icon=":material/stop:")
