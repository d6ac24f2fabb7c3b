"""This reader's jobs: progress, time left, Cancel, and how they ended."""

import streamlit as st

from bertviz_core.engine.jobs import Job
from bertviz_core.errors import DownloadNeeded
from pages.shared import messages, services
from pages.shared.jobs import reader_jobs


@messages.fragment(run_every=0.5)
def running(job: Job) -> None:
    """Draw the running job: progress, rate, time left, and Cancel; the page is run again when the job has ended."""
    if _is_over(job):
        st.rerun()
    st.progress(job.progress.fraction, text=messages.plain(_waiting(job) or str(job.progress)))
    if job.progress.losses:
        st.caption("Loss so far (nats per word)")
        st.line_chart(job.progress.losses, height=160, x_label="epoch or iteration")
    st.button("Cancel", on_click=reader_jobs.cancel, args=(job,), icon=":material/stop:")


def is_running(job: Job | None, stored: str = "No result was stored; finished parts are kept.") -> bool:
    """Draw this reader's last job: its progress while it runs, else why there is no result.

    Args:
        job: The job, if there was any.
        stored: What is kept after a cancel, which is not an error.

    Returns:
        Whether it runs.
    """
    if job is not None and not job.finished:
        running(job)
        return True
    if job is not None and job.state == "cancelled":
        st.caption(f":material/stop: Cancelled. {stored}")
    elif job is not None and job.error is not None:
        messages.error(job.error)
    return False


def beside() -> None:
    """This reader's jobs, in the sidebar of every page; one that has ended is announced once."""
    for job in reader_jobs.announce():
        st.toast(f"{messages.plain(job.title)}: {job.state}.")
    if unfinished := reader_jobs.unfinished():
        _beside(unfinished)


@messages.fragment(run_every=1.0)
def _beside(jobs: list[Job]) -> None:
    if any(map(_is_over, jobs)):
        st.rerun()
    for job in jobs:
        st.progress(job.progress.fraction, text=messages.plain(f"{job.title}: {_waiting(job) or job.progress.stage}"))
        st.button("Cancel", key=f"cancel {job.key}", on_click=reader_jobs.cancel, args=(job,), icon=":material/stop:")


def _is_over(job: Job) -> bool:
    """Whether a job is over for this reader; one that others still want goes on after this reader's cancel."""
    return job.finished or reader_jobs.job(job.key) is not job


def _waiting(job: Job) -> str:
    """The job's place in the queue, while it is there."""
    if job.state != "waiting":
        return ""
    before = services.jobs().before(job) + services.downloads().before(job)
    return f"Queued, {before} job{'s' * (before > 1)} ahead" if before else "Queued, next in line"


def offer_download(needed: DownloadNeeded, revision: str | None = None) -> None:
    """Show the size of a hub model, and download it only on request."""
    key = f"download/{needed.name}/{revision}"
    if is_running(reader_jobs.job(key), ""):
        return
    st.header("Download required")
    st.write(f"{messages.plain(needed.what)} Nothing else is downloaded, and code from the model is never run.")
    if st.button(f"Download {needed.size / 1e6:,.0f} MB", type="primary", icon=":material/download:"):
        reader_jobs.download(key, needed.name, revision)
        st.rerun()
