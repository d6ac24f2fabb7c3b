"""Files that the training of probes takes beside its treebank: stored as uploads, and in the address."""

import streamlit as st

from bertviz_core.corpora.source import Source
from bertviz_core.errors import BertvizError, InputError
from pages.shared import messages, services
from pages.shared.frame import address, uploads
from pages.shared.messages import plain

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
    """The file that this reader gave for a role, with a button that takes it away; stored once, when it is checked."""
    label, types, kind = FILES[role]
    st.file_uploader(label, type=types, key=role, on_change=_begin, args=(role,))
    _follow_link(role)
    _keep_checked(role)
    if problem := st.session_state.pop(f"{role}-problem", None):
        messages.error(problem)
    upload = uploads.visible(kind).get(st.session_state.get(f"{role}-upload", ""))
    if upload is None or services.uploads().find(upload.token) is None:
        address.put(role, "")
        return None
    address.put(role, uploads.in_address(st.session_state[f"{role}-upload"]))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"In use: “{plain(upload.name)}”, stored {uploads.lifetime()}.")
        st.button("Stop using", key=f"{role}-stop", on_click=_stop, args=(role,), icon=":material/close:")
        st.button("Delete now", key=f"{role}-delete", on_click=_delete, args=(role,), icon=":material/delete:")
    return services.upload(upload)


def _follow_link(role: str) -> None:
    """On arrival, take the file from the address."""
    key = f"{role}-upload"
    if key in address.current().restored:
        return
    address.current().restored.add(key)
    linked = address.get(role) or (st.session_state.get(key, "") if services.access().public else "")
    try:
        if linked:
            uploads.open_link(linked, FILES[role][-1])
    except InputError as problem:
        st.session_state[f"{role}-problem"], linked = problem, ""
    st.session_state[key] = linked


def _begin(role: str) -> None:
    """Check a file that has just arrived; an emptied uploader changes nothing."""
    if file := st.session_state[role]:
        uploads.begin([(file.name, file.getvalue())], FILES[role][-1], role, fixed=True)


def _keep_checked(role: str) -> None:
    try:
        if checked := uploads.take(role):
            st.session_state[f"{role}-upload"] = uploads.keep(checked)
    except BertvizError as problem:
        st.session_state[f"{role}-problem"] = problem


def _stop(role: str) -> None:
    st.session_state[f"{role}-upload"] = ""


def _delete(role: str) -> None:
    try:
        uploads.delete(st.session_state[f"{role}-upload"])
    except BertvizError as problem:  # the store cannot be written
        st.session_state[f"{role}-problem"] = problem
    else:
        st.session_state[f"{role}-upload"] = ""
