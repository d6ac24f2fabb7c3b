"""Probes: how much syntax the maps of all heads together encode (section 5; Table 3)."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import streamlit as st

from bertviz_core.analyses.probes.options import ProbeOptions
from bertviz_core.analyses.probes.result import Probes, ProbesView, title
from bertviz_core.corpora.source import Source
from bertviz_core.errors import BertvizError, InputError
from pages.shared import messages, page, stored, uploads, widgets
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.views import analysis_page

Role = Literal["dev", "vectors"]
FILES: dict[Role, tuple[str, str]] = {  # beside the treebank, by their parameter in the address: kind, label
    "dev": ("treebank", "Test treebank (default: a fifth of the sentences is held out)"),
    "vectors": ("vectors", "Word vectors in GloVe format (default: the model's input embeddings)"),
}


def choose_file(role: Role) -> Source | None:
    """Draw the uploader of a file, and what can be done with the file in use; None without one."""
    kind, label = FILES[role]

    def begin() -> None:
        if file := widgets.entered(role):  # None where the reader has removed a file from the uploader
            uploads.begin([(file.name, file.getvalue())], kind, role, fixed=True)

    st.file_uploader(label, key=role, on_change=begin)
    try:
        if new := uploads.take(role):
            session.choose(**{role: Path(new)})
        address = address_of(role)
        if address and address not in uploads.visible(kind):
            session.choose(**{role: None})
            uploads.open_link(address, kind)
            session.choose(**{role: Path(address)})
    except BertvizError as problem:
        messages.error(problem)
    address = address_of(role)
    try:
        upload = uploads.find(address, kind)
    except InputError:  # The file was deleted meanwhile; the next run computes without it.
        session.choose(**{role: None})
        raise
    if upload is None:
        return None
    with page.row("center"):
        st.caption(f"In use: “{plain(upload.name)}”, stored {uploads.lifetime()}.")
        none: dict[str, None] = {role: None}
        st.button("Stop using", key=f"{role}-stop", on_click=session.choose, kwargs=none, icon=":material/close:")
        icon = ":material/delete:"
        st.button("Delete now", key=f"{role}-delete", on_click=stop_using, args=(role, address), icon=icon)
    return uploads.source(upload)


def address_of(role: Role) -> str:
    """The address of the upload that is in use; empty without one."""
    chosen: Path | None = getattr(session.options(ProbeOptions), role)
    return "" if chosen is None else str(chosen)


def stop_using(role: Role, address: str) -> None:
    """Delete a file, and compute without it."""
    uploads.delete(address)
    if address not in uploads.visible(FILES[role][0]):
        session.choose(**{role: None})


selection = session.selection()
with st.expander("Training and scoring", icon=":material/tune:"):
    with page.row():
        widgets.choice("epochs", placeholder="default", width=150)
        widgets.choice("rank", width=210)
        widgets.choice("optimizer")
        widgets.choice("seeds", width=170)
    widgets.choice("probes", format_func=title)
    files = {role: choose_file(role) for role in FILES}
options = session.options(ProbeOptions)
others: dict[str, Source] = {role: source for role, source in files.items() if source}
request = replace(selection.request("probes", options.to_json()), others=others)
result = stored.result_or_stop(request, Probes)
page.restriction(result)
view, found = analysis_page.view_and_result(ProbesView, request, result)
analysis_page.draw(request, view, found)
