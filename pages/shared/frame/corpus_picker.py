"""The sidebar's choice of a corpus: samples, uploads and pastes, each kind of page with its own kind of corpus."""

from __future__ import annotations

import streamlit as st

from bertviz_core.corpora import formats
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.corpora.source import Source
from bertviz_core.engine.uploads import Upload, missing
from bertviz_core.errors import BertvizError, InputError
from pages.shared import boxes, services
from pages.shared.frame import address, catalogue, links, uploads

# Kind -> how the reader is asked for a corpus: title, files, what a paste looks like.
UPLOAD_FORMS = {
    "text": (
        "Your own text",
        "Text (one paragraph per line, a blank line between documents), the authors' JSON, or Word",
        "One paragraph or sentence per line.",
    ),
    "treebank": ("Your own treebank", f"A treebank: {formats.names('treebank')}", "He 2-nsubj\nsat 0-root"),
    "coreference": (
        "Your own corpus",
        f"Documents with chains: {formats.names('coreference')}",
        "One word per line, its chains in the last column.",
    ),
}
POPOVER = "add a corpus"
LONGEST_PASTE = 1_000_000  # characters: the browser sends them again with every click


def choose(entry: catalogue.Page) -> Source:
    """Draw the choice; raises InputError for a link or an upload that opens nothing (any more)."""
    kind = entry.corpus
    if kind == "random":
        st.caption("Corpus: none. Sequences of random tokens are drawn; see “More settings”.")
        return sample(kind)
    problem = _follow_address(kind) or _forget_deleted(kind)
    if _keep_checked(kind):
        problem = None
    visible = uploads.visible(kind)
    options = [*SAMPLES[kind], *visible]
    if st.session_state.get("corpus") not in (None, *options):
        st.session_state["corpus"] = options[0]
    chosen = st.selectbox(
        "Corpus",
        options,
        index=0 if problem is None else None,
        key="corpus",
        format_func=lambda option: visible[option].name if option in visible else option,
        placeholder="Choose a corpus",
    )
    title = UPLOAD_FORMS[kind][0]
    with st.popover(title, icon=":material/upload:", width="stretch", key=POPOVER, on_change="rerun"):
        _add_corpus(kind)
        if chosen in visible:
            _describe(chosen, visible[chosen], kind)
    if refused := st.session_state.pop("upload_problem", None):
        boxes.error(refused)
    _offer_page(entry)
    if chosen is None:
        raise problem or missing()
    shown = "" if chosen == options[0] else uploads.in_address(chosen)  # an upload's token, not the name that is shown
    address.put("corpus", shown)
    st.session_state.pop("link_problem", None)
    st.session_state["corpora"][kind] = chosen
    return services.upload(visible[chosen]) if chosen in visible else sample(chosen)


def _follow_address(kind: str) -> InputError | None:
    """On arrival, take the choice from the address; the reason, where it cannot be restored. A link that opens nothing
    chooses nothing: what it was made of must not seem to be the sample."""
    now, last = address.current(), st.session_state.setdefault("corpora", {})
    if "corpus" in now.restored:
        return st.session_state.get("link_problem", {}).get(kind)
    now.restored.add("corpus")
    linked = now.parameters.get("corpus", "")
    elsewhere = linked in last.values() and linked not in (*SAMPLES[kind], *uploads.visible(kind))
    if now.is_inside and (not linked or elsewhere):  # pages read different kinds of corpora
        linked = last.get(kind, "")
    st.session_state.pop("link_problem", None)
    st.session_state["corpus"] = linked or next(iter(SAMPLES[kind]))
    try:
        if linked.startswith(uploads.PREFIX):
            uploads.open_link(linked, kind)
        elif linked and linked not in SAMPLES[kind]:
            raise InputError(uploads.CANNOT + f"this page has no corpus “{linked[:40]}”.", hint=uploads.CHOOSE)
    except InputError as problem:
        return _without_corpus(kind, problem)
    return None


def _forget_deleted(kind: str) -> InputError | None:
    """The chosen upload may have been deleted, or have expired, since the last click."""
    chosen: str = st.session_state.get("corpus") or ""
    upload = uploads.visible(kind).get(chosen)
    if upload is None or services.uploads().find(upload.token) is not None:
        return None
    uploads.delete(chosen)
    return _without_corpus(kind, missing())


def _without_corpus(kind: str, problem: InputError) -> InputError:
    """Choose nothing on pages of this kind until the reader chooses."""
    st.session_state["corpus"] = None
    st.session_state["link_problem"] = {kind: problem}
    return problem


def _describe(chosen: str, upload: Upload, kind: str) -> None:
    """How long the upload stays, who can read it, and the button that deletes it."""
    name = boxes.plain(upload.name)
    if upload.kind != kind:
        st.caption(f"“{name}” is {uploads.KINDS[upload.kind]}: its sentences are read as text.")
    readers = "No one else can read it." if services.access().public else "Anyone who can open this page can read it."
    st.caption(f"“{name}” is stored on this server {uploads.lifetime()}. {readers}")
    st.button("Delete now", on_click=_delete, args=(chosen, kind), icon=":material/delete:")


def _add_corpus(kind: str) -> None:
    _, files, paste = UPLOAD_FORMS[kind]
    st.file_uploader(
        f"{files}. Several files of one kind, or those of a zip, become one corpus.",
        key=_uploader(),
        accept_multiple_files=True,
        on_change=_take_upload,
        args=(kind,),
    )
    st.text_area("Or paste text", key="paste", height=140, placeholder=paste, max_chars=LONGEST_PASTE)
    st.button("Use the pasted text", on_click=_take_paste, args=(kind,), type="primary")


def _uploader() -> str:
    """The key of the uploader, another one after each upload: an uploader adds files to those that it has."""
    return f"uploader {st.session_state.get('uploads', 0)}"


def _take_upload(kind: str) -> None:
    if files := st.session_state[_uploader()]:
        st.session_state["uploads"] = st.session_state.get("uploads", 0) + 1
        _begin([(file.name, file.getvalue()) for file in files], kind)


def _take_paste(kind: str) -> None:
    _begin([("pasted text", st.session_state["paste"].encode())], kind)


def _begin(files: list[tuple[str, bytes]], kind: str) -> None:
    st.session_state[POPOVER] = False
    uploads.begin(files, kind, "corpus")


def _keep_checked(kind: str) -> bool:
    """Store the files that were checked as what they are; choose them and return True where this page reads that
    kind."""
    try:
        checked = uploads.take("corpus")
        if checked is None:
            return False
        address = uploads.keep(checked)
    except BertvizError as problem:
        st.session_state["upload_problem"] = problem
        return False
    if checked.encoding:
        st.toast(f"Read as {checked.encoding}.", icon=":material/translate:")
    if checked.kind == kind:
        st.session_state["corpus"] = address
    else:
        st.session_state.setdefault("corpora", {})[checked.kind] = address
        st.session_state["offer"] = (address, checked.kind)
    return checked.kind == kind


def _offer_page(entry: catalogue.Page) -> None:
    """After an upload of another kind than this page reads: the page that reads it, and its sentences as text."""
    address, kind = st.session_state.get("offer", ("", ""))
    upload = uploads.visible(kind).get(address) if address else None
    if upload is None or kind == entry.corpus:
        st.session_state.pop("offer", None)
        return
    page = next(other for other in catalogue.ENTRIES if other.corpus == kind)
    st.info(f"“{boxes.plain(upload.name)}” is {uploads.KINDS[kind]}.", icon=":material/account_tree:")
    links.to(page.name, f"Open {page.title}", None, page.icon)
    if entry.corpus == "text":
        st.button("Use its sentences as text", on_click=_use_sentences, args=(address,), icon=":material/notes:")


def _use_sentences(address: str) -> None:
    uploads.open_link(address, "text")
    st.session_state["corpus"] = address
    del st.session_state["offer"]


def _delete(upload: str, kind: str) -> None:
    try:
        uploads.delete(upload)
    except BertvizError as problem:  # the store cannot be written
        st.session_state["upload_problem"] = problem
        return
    _forget(upload)
    st.session_state["corpus"] = next(iter(SAMPLES[kind]))


def _forget(upload: str) -> None:
    """No page goes back to a deleted upload, whatever kind of corpus it was used as."""
    chosen = st.session_state["corpora"]
    st.session_state["corpora"] = {kind: corpus for kind, corpus in chosen.items() if corpus != upload}
    for parameters in address.current().visited.values():
        if parameters.get("corpus") == upload:
            del parameters["corpus"]
