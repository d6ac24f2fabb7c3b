"""The sidebar's choice of a corpus: samples, uploads and pastes, each kind of page with its own kind of corpus."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from bertviz_core.corpora import formats
from bertviz_core.corpora.samples import SAMPLES, sample
from bertviz_core.corpora.source import Source
from bertviz_core.engine.uploads import Upload, missing
from bertviz_core.errors import BertvizError, InputError
from pages.shared import boxes, services
from pages.shared.frame import uploads
from pages.shared.frame.catalogue import Entry


@dataclass(frozen=True, slots=True)
class UploadForm:
    """How the reader is asked for a corpus of one kind."""

    title: str
    file: str
    endings: list[str]
    paste: str


UPLOAD_FORMS = {
    "text": UploadForm(
        "Your own text",
        "A text file (one paragraph per line, a blank line between documents), or the authors' JSON",
        ["txt", "json", "gz", "xz"],
        "One paragraph or sentence per line.",
    ),
    "treebank": UploadForm(
        "Your own treebank",
        f"A treebank: {formats.names('treebank')}",
        ["conllu", "conll", "conllx", "conll10", "txt", "gz", "xz"],
        "He 2-nsubj\nsat 0-root",
    ),
    "coreference": UploadForm(
        "Your own corpus",
        f"Documents with chains: {formats.names('coreference')}",
        ["conll", "conllu", "jsonlines", "jsonl", "tsv", "txt", "v4_gold_conll", "v4_auto_conll", "gz", "xz"],
        "One word per line, its chains in the last column.",
    ),
}


def choose(entry: Entry) -> Source:
    """Draw the choice; raises InputError for a link or an upload that opens nothing (any more)."""
    kind = entry.corpus
    problem = _follow_link(kind) or _forget_deleted(kind)
    visible = uploads.visible(kind)
    options = [*SAMPLES[kind], *visible]
    _return_to(kind, options, problem)
    chosen = st.selectbox(
        "Corpus",
        options,
        index=0 if problem is None else None,
        key="corpus",
        format_func=lambda option: visible[option].name if option in visible else option,
        placeholder="Choose a corpus",
    )
    with st.popover(UPLOAD_FORMS[kind].title, icon=":material/upload:", width="stretch"):
        _add_corpus(kind)
        if chosen in visible:
            _say_whose(chosen, visible[chosen])
    if refused := st.session_state.pop("upload_problem", None):
        boxes.error(refused)
    if chosen is None:
        raise problem or missing()
    # Not bound by the widget: a bound address would hold the name that is shown, and an upload's must hold its token.
    st.query_params["corpus"] = chosen
    st.session_state.pop("link_problem", None)
    st.session_state["corpora"][kind] = chosen
    return services.upload(visible[chosen].token) if chosen in visible else sample(chosen)


def _return_to(kind: str, options: list[str], problem: InputError | None) -> None:
    """Pages read different kinds of corpora: on coming back to a kind, the corpus last chosen for it. A link that opens
    nothing chooses nothing: what it was made of must not seem to be the sample."""
    last = st.session_state.setdefault("corpora", {}).get(kind)
    if "corpus" in st.session_state and st.session_state["corpus"] not in options:
        st.session_state["corpus"] = None if problem else last if last in options else options[0]


def _follow_link(kind: str) -> InputError | None:
    """On arrival, take the choice from the address; the reason, where it cannot be restored."""
    linked = st.query_params.get("corpus", "")
    if "corpus" in st.session_state:
        return st.session_state.get("link_problem", {}).get(kind)
    try:
        if linked.startswith(uploads.PREFIX):
            uploads.open_link(linked, kind)
        elif linked and all(linked not in names for names in SAMPLES.values()):
            raise InputError(uploads.CANNOT + f"there is no corpus {linked[:40]!r}.", hint=uploads.CHOOSE)
        elif linked not in SAMPLES[kind]:
            return None
    except InputError as problem:
        return _without_corpus(kind, problem)
    st.session_state["corpus"] = linked
    return None


def _forget_deleted(kind: str) -> InputError | None:
    """The chosen upload may have been deleted, or have expired, since the last click."""
    chosen: str = st.session_state.get("corpus") or ""
    upload = uploads.visible(kind).get(chosen)
    if upload is None or services.uploads().find(upload.token) is not None:
        return None
    uploads.delete(chosen, kind)
    return _without_corpus(kind, missing())


def _without_corpus(kind: str, problem: InputError) -> InputError:
    """Choose nothing on pages of this kind until the reader chooses."""
    st.session_state["corpus"] = None
    st.session_state["link_problem"] = {kind: problem}
    return problem


def _say_whose(chosen: str, upload: Upload) -> None:
    """How long the upload stays, who may delete it, and the button for its owner."""
    name, days = boxes.plain(upload.name), services.access().upload_days
    if not uploads.is_own(upload):
        st.caption(f"“{name}” was opened from a link. Only the person who uploaded it can delete it.")
        return
    st.caption(f"“{name}” is stored on this server for {days} days. Anyone with a link to it can read it.")
    st.button("Delete now", on_click=_delete, args=(chosen, upload.kind), icon=":material/delete:")


def _add_corpus(kind: str) -> None:
    form = UPLOAD_FORMS[kind]
    st.file_uploader(form.file, type=form.endings, key="uploader", on_change=_take_upload, args=(kind,))
    st.text_area("Or paste text", key="paste", height=140, placeholder=form.paste)
    st.button("Use the pasted text", on_click=_take_paste, args=(kind,), type="primary")


def _take_upload(kind: str) -> None:
    file = st.session_state["uploader"]
    if file is not None:
        _keep(file.getvalue(), file.name, kind)


def _take_paste(kind: str) -> None:
    _keep(st.session_state["paste"].encode(), "pasted text", kind)


def _keep(data: bytes, name: str, kind: str) -> None:
    """Read it once, so that a file nobody can read is refused at once; then store it and choose it."""
    from bertviz_core.corpora.readers import check
    from bertviz_core.corpora.source import from_bytes

    try:
        uploads.check_size(data, name)
        check(kind, services.bounded(from_bytes(data, name)))
        st.session_state["corpus"] = uploads.keep(data, name, kind)
    except BertvizError as problem:
        st.session_state["upload_problem"] = problem


def _delete(address: str, kind: str) -> None:
    try:
        uploads.delete(address, kind)
    except BertvizError as problem:  # the store cannot be written
        st.session_state["upload_problem"] = problem
        return
    st.session_state["corpus"] = next(iter(SAMPLES[kind]))
