"""Files that the training of probes takes beside its treebank: stored as uploads, and in the address."""

from __future__ import annotations

import streamlit as st

from bertviz_core.corpora.readers import check
from bertviz_core.corpora.source import Source, from_bytes
from bertviz_core.errors import BertvizError, InputError
from pages.shared import boxes, services
from pages.shared.boxes import plain
from pages.shared.frame import address, uploads

FILES = {
    "dev": (
        "Test treebank (default: a fifth of the sentences is held out)",
        ["conllu", "conll", "txt", "gz", "xz"],
        "treebank",
    ),
    "vectors": (
        "Word vectors in GloVe format (default: the model's input embeddings)",
        ["txt", "gz", "xz", "zip"],
        "vectors",
    ),
}


def chosen_file(role: str) -> Source | None:
    """The file that this reader gave for a role, with a button that takes it away; stored once, when it arrives."""
    label, types, kind = FILES[role]
    st.file_uploader(label, type=types, key=role, on_change=_take, args=(role,))
    _follow_link(role)
    if problem := st.session_state.pop(f"{role}-problem", None):
        boxes.error(problem)
    upload = uploads.visible(kind).get(st.session_state.get(f"{role}-upload", ""))
    if upload is None or services.uploads().find(upload.token) is None:
        address.put(role, "")
        return None
    address.put(role, st.session_state[f"{role}-upload"])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"In use: “{plain(upload.name)}”, stored for {services.access().upload_days} days.")
        button = "Delete now" if uploads.is_own(upload) else "Stop using"
        st.button(button, key=f"{role}-delete", on_click=_delete, args=(role,), icon=":material/delete:")
    return services.upload(upload.token)


def _follow_link(role: str) -> None:
    """On arrival, take the file from the address."""
    key = f"{role}-upload"
    if key in address.current().restored:
        return
    address.current().restored.add(key)
    linked = address.get(role)
    try:
        if linked:
            uploads.open_link(linked, FILES[role][-1])
    except InputError as problem:
        st.session_state[f"{role}-problem"], linked = problem, ""
    st.session_state[key] = linked


def _take(role: str) -> None:
    """Check a file that has just arrived, and store it; an emptied uploader changes nothing."""
    file, (_, _, kind) = st.session_state[role], FILES[role]
    if file is None:
        return
    try:
        data = file.getvalue()
        uploads.check_size(data, file.name)
        check(kind, services.bounded(from_bytes(data, file.name)))
        st.session_state[f"{role}-upload"] = uploads.keep(data, file.name, kind)
    except BertvizError as problem:
        st.session_state[f"{role}-problem"] = problem


def _delete(role: str) -> None:
    try:
        uploads.delete(st.session_state[f"{role}-upload"], FILES[role][-1])
    except BertvizError as problem:  # the store cannot be written
        st.session_state[f"{role}-problem"] = problem
    else:
        st.session_state[f"{role}-upload"] = ""
