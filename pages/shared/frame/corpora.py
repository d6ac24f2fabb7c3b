"""The chosen corpora: one of each kind, the same on all pages; a page draws the choices of the kinds that it reads."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from bertviz_core.analyses.analysis import Kind
from bertviz_core.corpora import annotated
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.corpora.source import Source
from bertviz_core.engine.uploads import missing_upload
from bertviz_core.errors import BertvizError, InputError
from pages.shared import messages, services
from pages.shared.frame import address, links, uploads

KEYS: dict[Kind, str] = {"text": "corpus", "treebank": "treebank", "coreference": "coreference"}  # in the address
# Descriptions of the files that can be read.
UPLOAD_FORMS: dict[str, str] = {
    "text": "Text (one paragraph per line, a blank line between documents), or the authors' JSON",
    "treebank": f"A treebank: {annotated.list_formats('treebank')}",
    "coreference": f"Documents with chains: {annotated.list_formats('coreference')}",
}
POPOVER = "add a corpus"
LONGEST_PASTE = 1_000_000  # characters: the browser sends them again with every click


def choose(kinds: Sequence[Kind]) -> dict[Kind, Source]:
    """Draw the choices of these kinds and the popover that adds a corpus; return the corpora that can be opened."""
    read = [kind for kind in kinds if kind in KEYS]
    for kind in KEYS:
        _update(kind)
    _keep_checked(read)
    for kind in read:
        _select(kind)
    if "random" in kinds:
        st.caption("Corpus: none. Sequences of random tokens are drawn; see “More settings”.")
    if read:
        panel = st.popover("", icon=":material/upload:", key=POPOVER, on_change="rerun", help="Add your own corpus")
        if panel.open or st.session_state.get("paste"):  # Streamlit would forget a text that is not drawn
            with panel:
                _add_corpus(read)
    sources: dict[Kind, Source] = {"random": sample("random")}
    for kind, corpus in _chosen().items():
        if isinstance(corpus, InputError):
            address.put(KEYS[kind], "")
            continue
        address.put(KEYS[kind], "" if corpus == _default(kind) else uploads.in_address(corpus))
        upload = uploads.visible(kind).get(corpus)
        sources[kind] = services.source_of(upload) if upload else sample(corpus)
    return sources


def check(entry: links.Entry) -> None:
    """Draw the outcome of the last upload; raises InputError where a corpus that the page reads cannot be opened."""
    if problem := st.session_state.pop("upload_problem", None):
        messages.error(problem)
    _offer_page(entry.corpora)
    for kind in entry.corpora:
        if isinstance(corpus := _chosen().get(kind), InputError):
            raise corpus


def _chosen() -> dict[Kind, str | InputError]:
    """The name or address of the chosen corpus of each kind, or the error why it cannot be opened."""
    return st.session_state.setdefault("corpora", {})


def _default(kind: Kind) -> str:
    return next(iter(SAMPLES[kind]))


def _update(kind: Kind) -> None:
    """Read the choice from the address on arrival, and check that the chosen upload has not been deleted or expired. A
    link that cannot be opened chooses no corpus: the sample's numbers must not seem to be those of the link."""
    chosen = _chosen()
    now = address.current()
    key = KEYS[kind]
    default = _default(kind)
    linked = ""
    if key not in now.restored:
        now.restored.add(key)
        linked = now.parameters.get(key, "")
        if linked or not (now.is_inside or services.access().public):  # whose addresses have no uploads
            chosen[kind] = linked or default
    corpus = chosen.setdefault(kind, default)
    if isinstance(corpus, InputError) or corpus in SAMPLES[kind]:
        return
    try:
        if linked:
            uploads.open_link(linked, kind)
    except InputError as problem:
        chosen[kind] = problem
        return
    upload = uploads.visible(kind).get(corpus)
    if upload is None:
        chosen[kind] = default
    elif services.uploads().find(upload.token) is None:
        uploads.delete(corpus)
        chosen[kind] = missing_upload()


def _select(kind: Kind) -> None:
    visible = uploads.visible(kind)
    chosen = _chosen()[kind]
    key = KEYS[kind]
    st.session_state[key] = chosen if isinstance(chosen, str) else None

    def take() -> None:
        _chosen()[kind] = st.session_state[key] or missing_upload()

    look: dict[str, Any] = {"placeholder": "Choose a corpus", "index": 0 if isinstance(chosen, str) else None}
    look["format_func"] = lambda option: visible[option].name if option in visible else option
    st.selectbox(key.capitalize(), [*SAMPLES[kind], *visible], key=key, on_change=take, **look)


def _add_corpus(kinds: Sequence[Kind]) -> None:
    kind = kinds[0]

    def take_files() -> None:
        if files := st.session_state.get(_uploader()):  # the browser also reports the uploader that this one replaces
            st.session_state["uploads"] = st.session_state.get("uploads", 0) + 1
            begin([(file.name, file.getvalue()) for file in files])

    def take_paste() -> None:
        begin([("pasted text", st.session_state["paste"].encode())])

    def begin(files: list[tuple[str, bytes]]) -> None:
        st.session_state[POPOVER] = False
        uploads.begin(files, kind, "corpus")

    files = "; ".join(UPLOAD_FORMS[each] for each in kinds)
    label = f"{files}. Several files of one kind, or those of a zip, become one corpus."
    st.file_uploader(label, key=_uploader(), accept_multiple_files=True, on_change=take_files)
    st.text_area("Or paste text", key="paste", height=140, max_chars=LONGEST_PASTE)
    st.button("Use the pasted text", on_click=take_paste, type="primary")
    for each in kinds:
        corpus = _chosen()[each]
        if isinstance(corpus, str) and (upload := uploads.visible(each).get(corpus)):
            name = messages.plain(upload.name)
            if upload.kind != each:
                st.caption(f"“{name}” is {uploads.KINDS[upload.kind]}: its sentences are read as text.")
            readers = "No one else" if services.access().public else "Anyone who can open this page"
            st.caption(f"“{name}” is stored on this server {uploads.lifetime()}. {readers} can read it.")
            key = f"delete {each}"
            icon = ":material/delete:"
            st.button("Delete now", on_click=uploads.delete, args=(corpus,), icon=icon, key=key)


def _uploader() -> str:
    """The key of the uploader, a new one after each upload: an uploader would add files to the earlier ones."""
    return f"uploader {st.session_state.get('uploads', 0)}"


def _keep_checked(kinds: Sequence[Kind]) -> None:
    """Store the files whose check is over, as the kind of corpus that they are, and choose them for that kind."""
    try:
        checked = uploads.take("corpus")
        if checked is None:
            return
        upload = uploads.keep(checked)
    except BertvizError as problem:
        st.session_state["upload_problem"] = problem
        return
    if checked.encoding:
        st.toast(f"Read as {checked.encoding}.", icon=":material/translate:")
    if checked.left_out:
        st.toast(
            messages.plain(f"Not read, as others have another ending: {checked.left_out}."),
            icon=":material/folder_zip:",
        )
    if checked.kind in KEYS:
        _chosen()[checked.kind] = upload
    if checked.kind not in kinds:
        st.session_state["offer"] = (upload, checked.kind)


def _offer_page(kinds: Sequence[Kind]) -> None:
    """After an upload of a kind that the page does not read, offer the page that reads it, or its sentences as text."""
    corpus, kind = st.session_state.get("offer", ("", ""))
    upload = uploads.visible(kind).get(corpus) if corpus else None
    if upload is None or kind in kinds:
        st.session_state.pop("offer", None)
        return

    def use_sentences() -> None:
        uploads.open_link(corpus, "text")
        _chosen()["text"] = corpus
        del st.session_state["offer"]

    page = next(entry for entry in links.BY_SECTION if entry.corpora == (kind,))
    st.info(f"“{messages.plain(upload.name)}” is {uploads.KINDS[kind]}.", icon=":material/account_tree:")
    links.to(page.name, f"Open {page.title}")
    if "text" in kinds:
        st.button("Use its sentences as text", on_click=use_sentences, icon=":material/notes:")
