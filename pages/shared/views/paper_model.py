"""The paper's model on the overview, if downloads are allowed: download and all analyses as one job."""

from concurrent.futures import Future
from dataclasses import replace
from threading import Timer

import streamlit as st

from bertviz_core.access import Access
from bertviz_core.analyses import runtime_estimate
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import passes
from bertviz_core.engine.jobs import Job
from bertviz_core.errors import DownloadNeeded
from bertviz_core.models import checkpoint
from bertviz_core.models.checkpoint import PAPER_LENGTH, PAPER_MODEL, paper_model
from pages.shared import jobs, messages, services, stored
from pages.shared.frame import links
from pages.shared.frame.selection import Selection

DELAY = 2.0  # seconds, until the page is drawn
HERE = 0  # bytes to download, of a model that is on this machine
Answer = Future[int | None]


def offer(selection: Selection) -> None:
    """Offer to download and analyze the paper's model in one job, unless it is shown already or the hub is out of
    reach."""
    access = services.access()
    if access.downloads == 0 or selection.checkpoint.name == PAPER_MODEL:
        return
    settings = replace(selection.settings, max_length=min(selection.settings.max_length, PAPER_LENGTH))
    requests = stored.everything(replace(selection, checkpoint=paper_model(), settings=settings))
    key = jobs.everything_key(requests)
    job = jobs.last(key)
    answer = _hub_answer(job.state if job and job.finished else "", access)
    if not answer.done():
        _wait(answer)
    elif (size := answer.result()) is not None:
        with st.container(border=True):
            st.markdown(f"**{PAPER_MODEL}**, the model of the paper: 12 × 12 heads")
            _show(job, size, (key, requests))


def _show(job: Job | None, size: int, to_start: tuple[str, list[Request]]) -> None:
    """The link to the model, the running job, or the button that starts it."""
    if jobs.is_running(job, "What was downloaded and computed is kept."):
        return
    if size == HERE:
        links.to("overview", f"Open {PAPER_MODEL}", None, ":material/dashboard:", model=PAPER_MODEL)
        return
    length = runtime_estimate.text(runtime_estimate.seconds(services.store(), passes(to_start[1])))
    st.caption(f"One job downloads it from the Hugging Face hub and runs every analysis: {length} after the download.")
    label = f"Download {size / 1e6:,.0f} MB and analyze"
    st.button(label, on_click=jobs.hub_model, args=to_start, icon=":material/download:")


@st.cache_resource(ttl=600, show_spinner=False)
def _hub_answer(last_state: str, _access: Access) -> Answer:
    """The hub's answer, one for all readers, requested in the background, and again when a download has ended."""
    answer: Answer = Future()
    timer = Timer(DELAY, lambda: answer.set_result(_size(_access)))
    timer.daemon = True  # the server's end waits for no hub
    timer.start()
    return answer


def _size(access: Access) -> int | None:
    """Bytes to download; None where the model cannot be had."""
    try:
        checkpoint.find(PAPER_MODEL, access=access)
    except DownloadNeeded as needed:
        return needed.size
    except Exception:  # whatever a network, a disk or a library raises: there is nothing to offer
        return None
    return HERE


@messages.fragment(run_every=1.0)
def _wait(answer: Answer) -> None:
    """Draw the page again when the hub has answered."""
    if answer.done():
        st.rerun()
