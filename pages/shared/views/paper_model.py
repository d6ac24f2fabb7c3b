"""The paper's model on the overview, if downloads are allowed: download and all analyses as one job."""

from concurrent.futures import Future
from dataclasses import replace

import streamlit as st

from bertviz_core.errors import DownloadNeeded
from bertviz_core.models import checkpoint
from bertviz_core.models.checkpoint import PAPER_LENGTH, PAPER_MODEL, paper_model
from bertviz_core.settings import Access
from pages.shared import jobs, messages, services, stored
from pages.shared.frame import links
from pages.shared.frame.selection import Selection


def offer(selection: Selection) -> None:
    """Offer to download and analyze the paper's model in one job, or the running job, or the link to the model; nothing
    where it is shown already or the hub is out of reach."""
    access = services.access()
    if access.downloads == 0 or selection.checkpoint.name == PAPER_MODEL:
        return
    settings = replace(selection.settings, max_length=min(selection.settings.max_length, PAPER_LENGTH))
    requests = stored.everything(replace(selection, checkpoint=paper_model(), settings=settings))
    key = jobs.everything_key(requests)
    job = jobs.last(key)
    answer = _hub_answer(job.state if job and job.finished else "", access)
    if not answer.done():
        messages.rerun_after(answer)
        return
    size = answer.result()
    if size is None:
        return
    with st.container(border=True):
        st.markdown(f"**{PAPER_MODEL}**, the model of the paper: 12 × 12 heads")
        if jobs.is_running(job, "What was downloaded and computed is kept."):
            return
        if size == 0:
            links.to("overview", f"Open {PAPER_MODEL}", None, ":material/dashboard:", model=PAPER_MODEL)
            return
        st.caption(
            "One job downloads it from the Hugging Face hub and runs every analysis: "
            f"{stored.duration(requests)} after the download."
        )
        label, given = f"Download {size / 1e6:,.0f} MB and analyze", (key, requests)
        st.button(label, on_click=jobs.hub_model, args=given, icon=":material/download:")


@st.cache_resource(ttl=600, show_spinner=False)
def _hub_answer(last_state: str, _access: Access) -> Future[int | None]:
    """The hub's answer, one for all readers, requested in the background, and again when a download has ended."""
    return services.in_background(lambda: _size(_access))


def _size(access: Access) -> int | None:
    """Bytes to download, 0 for a model that is on this machine; None where it cannot be had."""
    try:
        checkpoint.find(PAPER_MODEL, access=access)
    except DownloadNeeded as needed:
        return needed.size
    except Exception:  # whatever a network, a disk or a library raises: there is nothing to offer
        return None
    return 0
