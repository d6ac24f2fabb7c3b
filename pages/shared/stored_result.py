"""A page's stored result; or the offer to compute it, the job that does, or its error."""

from __future__ import annotations

from typing import TypeVar

import streamlit as st

from bertviz_core.analyses import chunks, runtime_estimate
from bertviz_core.analyses.model_pass import check_model
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import shared
from bertviz_core.analyses.results import Result
from bertviz_core.corpora.skipped import UNKNOWN
from pages.shared import services
from pages.shared.frame import address
from pages.shared.jobs import panel as job_panel
from pages.shared.jobs import reader_jobs

R = TypeVar("R", bound=Result)
UNKNOWN_SHARE = 0.02  # of the tokens, from which on a reader is warned


def result_or_stop(request: Request, result_class: type[R]) -> R:
    """The stored result, of this class and read-only; without one the page shows the offer to compute it, the running
    job, or its error, and stops."""
    result = services.find(request)
    if isinstance(result, result_class):
        warn_of_unknown(result)
        return result
    offer(request)
    st.skeleton(height=420)
    address.stop()


def offer(request: Request) -> None:
    """Draw the running job, its error, or the button that computes what is not stored.

    Raises:
        ModelError: The model lacks what the analysis needs.
    """
    check_model(request)
    if not job_panel.is_running(reader_jobs.job_of(request)):
        _offer(request)


def warn_of_unknown(result: Result) -> None:
    """Above the numbers, where many of the tokens that they rest on are [UNK]."""
    origin = result.provenance
    unknown = sum(entry["count"] for entry in origin["skipped"] if entry["reason"] == UNKNOWN)
    if unknown > UNKNOWN_SHARE * origin.get("tokens", 0):
        st.warning(
            f"{unknown:,} of {origin['tokens']:,} tokens ({unknown / origin['tokens']:.0%}) are not in this model's "
            "vocabulary and are read as [UNK]: the numbers say little about these words. Choose a model of this "
            "language.",
            icon=":material/translate:",
        )


def _offer(request: Request) -> None:
    share = chunks.share_done(services.store(), request) or 0.0
    seconds = runtime_estimate.seconds(services.store(), [shared(request)])
    length = runtime_estimate.text(None if seconds is None else seconds * (1 - share))
    if share:
        st.progress(share, text="An earlier job was stopped. What it has computed is kept.")
        label = f"{share:.0%} done: Resume ({length} left)"
    else:
        st.write(
            "No result is stored yet. The analysis runs this model on the corpus, on this machine, and stores the "
            "result for later visits. You can use other pages meanwhile."
        )
        label = f"Analyze ({length})"
    st.button(label, type="primary", icon=":material/play_arrow:", on_click=reader_jobs.analysis, args=(request,))
