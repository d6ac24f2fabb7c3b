"""The chosen corpora: one of each kind, the same on all pages; a page draws the choices of the kinds that it reads."""

from collections.abc import Sequence
from typing import Any, cast

import streamlit as st

from bertviz_core.analyses.analysis import Kind
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.corpora.source import Source
from bertviz_core.engine.uploads import Upload, missing_upload
from bertviz_core.errors import InputError
from pages.shared import services, uploads
from pages.shared.frame import add_corpus, address, links

KEYS: dict[Kind, str] = {"text": "corpus", "treebank": "treebank", "coreference": "coreference"}  # in the address


def choose(kinds: Sequence[Kind]) -> dict[Kind, Source]:
    """Draw the choices of these kinds and the popover that adds a corpus; return the corpora that can be opened."""
    read = [kind for kind in kinds if kind in KEYS]
    for kind in KEYS:
        _update(kind)
    add_corpus.take(read, _choose)
    for kind in read:
        _select(kind)
    if "random" in kinds:
        st.caption("Corpus: none. Sequences of random tokens are drawn; see “More settings”.")
    if read:
        add_corpus.draw(read, {kind: upload for kind in read if (upload := _chosen_upload(kind))})
    sources: dict[Kind, Source] = {"random": sample("random")}
    for kind, corpus in _chosen().items():
        if isinstance(corpus, InputError):
            address.put(KEYS[kind], "")
            continue
        address.put(KEYS[kind], "" if corpus == _default(kind) else uploads.in_address(corpus))
        upload = _chosen_upload(kind)
        sources[kind] = uploads.source(upload) if upload else sample(corpus)
    return sources


def check(entry: links.Entry) -> None:
    """Draw the outcome of the last upload; raises InputError where a corpus that the page reads cannot be opened."""
    add_corpus.draw_outcome(entry.corpora, _choose)
    for kind in entry.corpora:
        if isinstance(corpus := _chosen().get(kind), InputError):
            raise corpus


def _chosen() -> dict[Kind, str | InputError]:
    """The name or address of the chosen corpus of each kind, or the error why it cannot be opened."""
    return st.session_state.setdefault("corpora", {})


def _choose(kind: str, corpus: str) -> None:
    """Choose a corpus, by its name or address, for its kind."""
    _chosen()[cast(Kind, kind)] = corpus


def _chosen_upload(kind: Kind) -> Upload | None:
    corpus = _chosen()[kind]
    return uploads.visible(kind).get(corpus) if isinstance(corpus, str) else None


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
        if uploads.find(corpus, kind) is None:
            chosen[kind] = default
    except InputError as problem:
        chosen[kind] = problem


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
