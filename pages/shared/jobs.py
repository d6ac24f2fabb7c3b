"""One reader's jobs on the page: submitted, shown with their progress, cancelled, in every tab of the reader. Other
readers' are never shown; on one's own machine there is one reader."""

from collections.abc import Callable

import streamlit as st

from bertviz_core import tasks
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run.compute import shared
from bertviz_core.engine.jobs import Job, JobQueue
from bertviz_core.errors import BertvizError, Cancelled, DownloadNeeded
from pages.shared import messages, services
from pages.shared.state import session as state
from pages.shared.state.reader import Reader

ABOUT = "The attention heads of a transformer, one by one."
MAX_JOBS = 50  # of a session, the latest


def session() -> Reader:
    """This reader, whose jobs and uploads end with the connection."""
    reader = state.current().reader
    if reader.timer:
        reader.timer.cancel()
    if not reader.is_connected:
        reader.is_connected = True
        _connected(reader.name, reader)
    return reader


@st.cache_resource(scope="session", show_spinner=False, on_release=Reader.close)
def _connected(name: str, _reader: Reader) -> Reader:
    """Streamlit releases it when the connection is closed, and a session that comes back calls this again."""
    return _reader


def submit(key: str, title: str, task: Callable[[], tasks.Task], queue: JobQueue | None = None) -> None:
    """Queue a job, or join the unfinished one of this key; a job that cannot be queued fails at once."""
    reader = session()
    try:
        services.store().check()
        job = (queue or services.jobs()).submit(key, title, task(), reader.name)
    except BertvizError as error:
        job = Job(key, title).finish("failed", error)
    reader.jobs.pop(key, None)
    reader.jobs[key] = job
    if len(reader.jobs) > MAX_JOBS:
        del reader.jobs[next(iter(reader.jobs))]


def everything_key(requests: list[Request]) -> str:
    """The key of one job for all these requests, which contains each request's key for `last_of`."""
    return "all/" + "/".join(request.key() for request in requests)


def cancel(job: Job) -> None:
    """Leave a job, in all tabs; it is over for this reader even if others still wait for it."""
    own = [*filter(session().is_own, list(job.sessions))]
    for queue in services.queues():
        for name in own:
            queue.leave(job, name)
    if not job.finished:
        session().jobs[job.key] = Job(job.key, job.title).finish("cancelled", Cancelled())


def last(key: str) -> Job | None:
    """This reader's last job of a key; None without one."""
    return session().jobs.get(key)


def last_of(request: Request) -> Job | None:
    """This reader's last job that computes a result: an unfinished one for everything, or one of the shared pass."""
    key = request.key()
    wider = [job for job in unfinished() if key in job.key.split("/")]
    own = [last(key), *(last(other.key()) for other in shared(request))]
    return next(filter(None, [*wider, *own]), None)


def unfinished() -> list[Job]:
    """This reader's jobs that wait or run."""
    return [job for job in session().jobs.values() if not job.finished]


def is_running(job: Job | None, stored: str = "Finished parts are kept.") -> bool:
    """Whether a job waits or runs. Draws its progress, its error or, after a cancel, what is `stored` all the same."""
    if job is None:
        return False
    if not job.finished:
        _running([job], _passes([job]), in_full=True)
        return True
    if job.state == "cancelled":
        st.caption(f":material/stop: Cancelled. {stored}")
    elif job.error is not None:
        own = job.tasks.get(session().name, job.performed)
        messages.error(job.error if own is job.performed else tasks.under_own_names(job.error, job.performed, own))
    return False


def _join_own() -> None:
    """Wait for the unfinished jobs of this reader's other tabs, and of a page that was loaded again, too."""
    reader = session()
    for queue in services.queues():
        for job in queue.unfinished():
            known = reader.jobs.get(job.key)
            is_new = known is None or known.finished
            if is_new and any(map(reader.is_own, list(job.sessions))) and queue.join(job, reader.name):
                reader.jobs[job.key] = job


def announce() -> None:
    """Draw this reader's unfinished jobs, in the sidebar of every page; without any, how the last one has ended, or
    what the app is."""
    _join_own()
    if running := unfinished():
        _running(running, _passes(running), in_full=False)
    elif jobs := session().jobs:
        job = jobs[next(reversed(jobs))]
        outcome = "results ready" if job.state == "done" else job.state
        st.caption(f"{messages.plain(job.title)}: {outcome}.")
    else:
        st.markdown(f":small[{ABOUT}]")


def offer_download(needed: DownloadNeeded) -> None:
    """Draw the offer to download a model, or the job that does."""
    key = f"download/{needed.name}"
    if is_running(last(key), ""):
        return
    st.header("Download required", anchor=False)
    st.write(f"{messages.plain(needed.what)} Nothing else is downloaded, and code from the model is never run.")
    label = f"Download {needed.size / 1e6:,.0f} MB"
    job = (key, "Download", lambda: tasks.download(needed.models, [], services.store()), services.downloads())
    st.button(label, type="primary", icon=":material/download:", on_click=submit, args=job)


def _passes(jobs: list[Job]) -> list[int]:
    return [job.progress.pass_number for job in jobs]


@st.fragment(run_every=1.0)
def _running(jobs: list[Job], passes: list[int], *, in_full: bool) -> None:
    """Draw jobs with progress and Cancel, and run the page again when one is over for this reader, or has ended another
    of its `passes`, whose results are stored."""
    # The job may go on for others after a reader has cancelled it.
    is_over = any(job.finished or last(job.key) is not job for job in jobs)
    if is_over or _passes(jobs) != passes:
        st.rerun()
    for job in jobs:
        text = str(job.progress) if in_full else job.progress.brief
        if job.state == "waiting":
            before = sum(queue.before(job) for queue in services.queues())
            text = f"Queued, {before} job{'s' * (before > 1)} ahead" if before else "Queued, next in line"
        (_in_full if in_full else _in_brief)(job, messages.plain(text))


def _in_full(job: Job, text: str) -> None:
    """A job on the page that waits for it."""
    st.progress(job.progress.fraction, text=text)
    if job.progress.losses:
        st.caption("Loss so far (nats per word)")
        st.line_chart(job.progress.losses, height=160, x_label="epoch or iteration")
    st.button("Cancel", key=f"cancel {job.key} True", on_click=cancel, args=(job,), icon=":material/stop:")


def _in_brief(job: Job, text: str) -> None:
    """A job in the sidebar, in two lines and its bar."""
    progress = job.progress
    place = f": pass {progress.pass_number} of {progress.passes}" if progress.passes > 1 else ""
    with st.container(horizontal=True, horizontal_alignment="distribute", gap="xsmall", wrap=False):
        st.markdown(f":small[{messages.plain(job.title + place)}]")
        st.button("Cancel", key=f"cancel {job.key} False", on_click=cancel, args=(job,), type="tertiary")
    st.progress(progress.fraction, text=f":small[{text}]")
