"""The sidebar's choice of a corpus: samples, uploads and pastes, each kind of page with its own kind of corpus."""

from __future__ import annotations

import re
from dataclasses import dataclass

import streamlit as st

from bertviz_core.corpora.samples import SAMPLES, sample
from bertviz_core.corpora.source import Source
from bertviz_core.engine.store import UPLOAD_DAYS
from bertviz_core.errors import BertvizError, InputError
from pages.shared import boxes, services
from pages.shared.catalogue import Entry

UPLOAD = "upload-"  # before a digest, in the address bar


@dataclass(frozen=True, slots=True)
class Own:
    """How the reader is asked for a corpus of one kind."""

    title: str
    file: str
    endings: list[str]
    paste: str


OWN = {
    "text": Own(
        "Your own text",
        "A text file (one paragraph a line, a blank line between documents), or the authors' JSON",
        ["txt", "json", "gz", "xz"],
        "One paragraph or sentence a line.",
    ),
    "treebank": Own(
        "Your own treebank",
        "A treebank: CoNLL-U, CoNLL-X, or lines of the form `word head-label`",
        ["conllu", "conll", "conllx", "conll10", "txt", "gz", "xz"],
        "He 2-nsubj\nsat 0-root",
    ),
    "coreference": Own(
        "Your own corpus",
        "Documents with chains: CoNLL-2012, LitBank, 3 columns, CorefUD, jsonlines or GAP",
        ["conll", "conllu", "jsonlines", "jsonl", "tsv", "txt", "v4_gold_conll", "v4_auto_conll", "gz", "xz"],
        "One word a line, its chains in the last column.",
    ),
}


def choose(entry: Entry) -> Source:
    """Draw the choice; raises InputError for an upload that is not here any more."""
    mine = _uploads(entry.corpus)
    options = [*SAMPLES[entry.corpus], *mine]
    _return_to(entry.corpus, options)
    _follow_link(entry.corpus, options)
    chosen = st.selectbox("Corpus", options, key="corpus", format_func=lambda option: mine.get(option, option))
    # Not bound by the widget: a bound address would hold the name that is shown, and an upload's must hold its digest.
    st.query_params["corpus"] = chosen
    st.session_state["corpora"][entry.corpus] = chosen
    with st.popover(OWN[entry.corpus].title, icon=":material/upload:", width="stretch"):
        _add_corpus(entry.corpus)
        if chosen.startswith(UPLOAD):
            st.caption(
                f"“{boxes.plain(mine[chosen])}” is kept on this server for {UPLOAD_DAYS} days, under its digest."
            )
            st.button("Delete it now", on_click=_delete, args=(chosen, entry.corpus), icon=":material/delete:")
    if problem := st.session_state.pop("upload_problem", None):
        boxes.error(problem)
    if not chosen.startswith(UPLOAD):
        return sample(chosen)
    return services.upload(chosen.removeprefix(UPLOAD))


def _uploads(kind: str) -> dict[str, str]:
    """This reader's uploads of one kind of corpus: option -> name."""
    mine: dict[str, str] = st.session_state.setdefault(f"uploads-{kind}", {})
    return mine


def _return_to(kind: str, options: list[str]) -> None:
    """Pages read different kinds of corpora: on coming back to a kind, the corpus last chosen for it."""
    last = st.session_state.setdefault("corpora", {})
    if st.session_state.get("corpus") not in (None, *options):
        st.session_state["corpus"] = last.get(kind, options[0])


def _follow_link(kind: str, options: list[str]) -> None:
    """On arrival, take the choice from the address; an upload that is not this reader's opens by its digest alone."""
    linked = st.query_params.get("corpus", "")
    if "corpus" in st.session_state:
        return
    if re.fullmatch(UPLOAD + "[0-9a-f]{64}", linked) and linked not in options:
        options.append(linked)
        _uploads(kind)[linked] = services.upload(linked.removeprefix(UPLOAD)).name
    if linked in options:
        st.session_state["corpus"] = linked


def _add_corpus(kind: str) -> None:
    own = OWN[kind]
    st.file_uploader(own.file, type=own.endings, key="uploader", on_change=_take_upload, args=(kind,))
    st.text_area("or paste text", key="paste", height=140, placeholder=own.paste)
    st.button("Use the pasted text", on_click=_take_paste, args=(kind,), type="primary")


def _take_upload(kind: str) -> None:
    held = st.session_state["uploader"]
    if held is not None:
        _keep(held.getvalue(), held.name, kind)


def _take_paste(kind: str) -> None:
    _keep(st.session_state["paste"].encode(), "pasted text", kind)


def _keep(data: bytes, name: str, kind: str) -> None:
    """Read it once, so that a file nobody can read is refused at once; then keep it and choose it."""
    from bertviz_core.corpora.readers import check
    from bertviz_core.corpora.source import from_bytes

    try:
        most = st.get_option("server.maxUploadSize")  # in .streamlit/config.toml; a paste is held to it too
        if len(data) > most * 2**20:
            raise InputError(f"The file is over {most} MB.", where=name, hint="Use the command line.")
        check(kind, services.bounded(from_bytes(data, name)))
        option = UPLOAD + services.store().keep_upload(data, name)
    except BertvizError as problem:
        st.session_state["upload_problem"] = problem
        return
    _uploads(kind)[option] = name
    st.session_state["corpus"] = option


def _delete(option: str, kind: str) -> None:
    try:
        services.store().delete_upload(option.removeprefix(UPLOAD))
    except BertvizError as problem:  # the store cannot be written
        st.session_state["upload_problem"] = problem
        return
    del _uploads(kind)[option]
    st.session_state["corpus"] = next(iter(SAMPLES[kind]))
