"""The report on the overview: the download of what is stored; what it lacks is computed as one job."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from bertviz_core import exports
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.paper_report.pages import to_html
from bertviz_core.paper_report.request import ReportRequest
from pages.shared import files, services, stored
from pages.shared.frame.selection import Selection
from pages.shared.jobs import panel as job_panel
from pages.shared.jobs import reader_jobs

KEY = "report job"


def offer(selection: Selection) -> None:
    """The download where any result is stored; beside it what is missing and the offer to compute it, or the job."""
    request = ReportRequest(selection.checkpoint, dict(selection.corpora), selection.settings, stored.MAX_COST)
    st.caption("The report retells the paper for this model and these corpora, as one page to read or to print.")
    if job_panel.is_running(reader_jobs.job(st.session_state.get(KEY, "")), "Finished passes are stored."):
        return
    missing = request.to_compute(services.find)
    some = any(services.find(each) is not None for each in request.requests())
    if lacking := bool(missing) or request.lacks_lines(services.store()):
        titles = ", ".join(ANALYSES[each.analysis].title for each in missing) or "the lines of Figures 1 and 5"
        st.write(f"The report lacks: {titles}." + (" The download is without them." if some else ""))
    with st.container(horizontal=True, vertical_alignment="center"):
        if lacking:
            label = f"Compute the report ({request.duration(services.store(), missing)})"
            st.button(label, icon=":material/summarize:", on_click=_compute, args=(request,))
        if some:
            name = exports.slug("report", Path(selection.checkpoint.name).name)
            files.offer({"Report": (f"{name}.html", lambda: to_html(request.read(services.store())))})


def _compute(request: ReportRequest) -> None:
    own = "-".join(sorted(each.key()[:16] for each in request.requests()))  # the lines alone have no request
    keys = (each.key() for each in request.to_compute(services.find))
    st.session_state[KEY] = key = "/".join(["report", own, *keys])
    reader_jobs.report(key, request)
