"""Files that the training of probes takes beside its treebank: stored as uploads, and in the address."""

import streamlit as st

from bertviz_core.corpora.source import Source
from bertviz_core.errors import BertvizError
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
    state, key = st.session_state, f"{role}-upload"

    def begin() -> None:
        if file := state[role]:  # an emptied uploader changes nothing
            uploads.begin([(file.name, file.getvalue())], kind, role, fixed=True)

    def stop() -> None:
        state[key] = ""

    st.file_uploader(label, type=types, key=role, on_change=begin)
    try:
        if key not in address.current().restored:  # on arrival, from the address
            address.current().restored.add(key)
            linked = address.get(role) or (state.get(key, "") if services.access().public else "")
            state[key] = ""
            if linked:
                uploads.open_link(linked, kind)
                state[key] = linked
        if checked := uploads.take(role):
            state[key] = uploads.keep(checked)
    except BertvizError as problem:
        state[f"{role}-problem"] = problem
    if failed := state.pop(f"{role}-problem", None):
        messages.error(failed)
    upload = uploads.visible(kind).get(state.get(key, ""))
    if upload is None or services.uploads().find(upload.token) is None:
        address.put(role, "")
        return None
    address.put(role, uploads.in_address(state[key]))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"In use: “{plain(upload.name)}”, stored {uploads.lifetime()}.")
        st.button("Stop using", key=f"{role}-stop", on_click=stop, icon=":material/close:")
        st.button(
            "Delete now", key=f"{role}-delete", on_click=uploads.delete, args=(state[key],), icon=":material/delete:"
        )
    return services.upload(upload)
