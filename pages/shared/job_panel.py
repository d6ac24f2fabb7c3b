"""Running jobs: where they are, how long they take, and a way to stop them."""

from __future__ import annotations

import streamlit as st

from bertviz_core.engine.jobs import Job
from bertviz_core.errors import DownloadNeeded
from bertviz_core.models import checkpoint
from pages.shared import boxes, services


@st.fragment(run_every=0.5)
def running(job: Job) -> None:
    """Progress, rate, time to go, and Cancel; the page is run again when the job has ended."""
    if job.finished:
        st.rerun()
    before = services.jobs().waiting_before(job)
    text = f"Waiting for {before} earlier job{'s' * (before > 1)}" if job.state == "waiting" else str(job.progress)
    st.progress(job.progress.fraction, text=boxes.plain(text))
    if job.progress.losses:
        st.caption("Loss so far, nats a word")
        st.line_chart(job.progress.losses, height=160, x_label="epoch or iteration")
    st.button("Cancel", on_click=job.cancel, icon=":material/stop:")


def beside() -> None:
    """This reader's jobs in the sidebar, on whatever page; one that has ended is said once."""
    for job in services.asked():
        if job.finished:
            services.drop(job)
            st.toast(f"{boxes.plain(job.title)}: {job.state}.")
    if unfinished := services.asked():
        _beside(unfinished)


@st.fragment(run_every=1.0)
def _beside(jobs: list[Job]) -> None:
    if any(job.finished for job in jobs):
        st.rerun()
    for job in jobs:
        st.progress(job.progress.fraction, text=boxes.plain(f"{job.title}: {job.progress.stage}"))
        st.button("Cancel", key=f"cancel {job.key}", on_click=job.cancel, icon=":material/stop:")


def offer_download(needed: DownloadNeeded, revision: str | None = None) -> None:
    """Say what a hub model would take, and fetch it only when asked to."""
    key, access = f"download/{needed.name}/{revision}", services.access()
    job = services.jobs().get(key)
    if job is not None and not job.finished:
        running(job)
        return
    if job is not None and job.error is not None:
        boxes.error(job.error)
    st.title("One download first")
    st.write(f"{boxes.plain(needed.what)} Nothing else is fetched, and no code of the model's is ever run.")
    if st.button(f"Download {needed.size / 1e6:,.0f} MB", type="primary", icon=":material/download:"):
        services.jobs().submit(key, "Download", lambda progress: checkpoint.download(needed.name, revision, access))
        st.rerun()
