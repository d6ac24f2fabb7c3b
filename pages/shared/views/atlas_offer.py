"""The site of all heads of a model as a download: what it is, the job that writes it, and the ZIP."""

from functools import partial

import streamlit as st

from bertviz_core import exports, tasks
from bertviz_core.errors import StoreError
from bertviz_core.head_atlas import stored_site
from bertviz_core.paper_report.report import ReportRequest
from pages.shared import jobs, page, services, stored
from pages.shared.state.selection import Selection


def draw(selection: Selection) -> None:
    """Draw the download of the site, or the button that starts the job which writes it, or that job."""
    store = services.store()
    if store.problem:
        st.caption("The store is out of order, as is said above: no site can be written.")
        return
    corpora = {str(kind): source for kind, source in selection.corpora.items()}
    request = ReportRequest(selection.checkpoint, corpora, selection.settings, stored.MAX_COST)
    name = stored_site.name_of(request, store)
    assert name, "drawn only where a result is stored"
    st.caption(
        "A folder of static pages: this overview with its map and finder, a page for each head and each analysis, the "
        "report, and every number as a table. It opens from a disk and from any static host; "
        "`bertviz-core atlas` writes one of several models."
    )
    if jobs.is_running(jobs.last(name), ""):
        return
    if name in store:
        file = exports.slug("atlas", selection.checkpoint.label)
        page.offer_files({"Site": (f"{file}.zip", partial(_read, name))})
        return
    job = name, "Site of all heads", partial(tasks.atlas, request, store)
    st.button("Write the site", icon=":material/public:", on_click=jobs.submit, args=job)


def _read(name: str) -> bytes:
    data = services.store().read(name)
    if data is None:
        raise StoreError("The store has just dropped the site.", hint="Write it again.")
    return data
