"""The chosen corpora: one of each kind, the same on all pages; a page draws the choices of the kinds that it reads."""

from collections.abc import Mapping, Sequence, Set
from typing import cast

import streamlit as st

from bertviz_core.analyses.base.presentation import CorpusKind
from bertviz_core.corpora.files import NO_CORPUS, SAMPLES, sample
from bertviz_core.corpora.source import Source
from bertviz_core.errors import InputError
from pages.shared import messages, uploads, widgets
from pages.shared.frame import add_corpus
from pages.shared.state import session
from pages.shared.state.choices import HeaderChoices

KEYS: dict[CorpusKind, str] = {  # in the address
    "text": "corpus",
    "treebank": "treebank",
    "coreference": "coreference",
    "pairs": "pairs",
}


def take(kinds: Sequence[CorpusKind]) -> None:
    """Choose the corpus whose upload has been checked, on a page that reads these kinds."""
    if read := _files(kinds):
        add_corpus.take(read, _choose)


def opened() -> dict[CorpusKind, Source | InputError]:
    """The chosen corpus of every kind, or why it cannot be opened."""
    return {kind: _open(kind) for kind in KEYS} | {cast(CorpusKind, kind): sample(kind) for kind in NO_CORPUS}


def choose(kinds: Sequence[CorpusKind], opened: Mapping[CorpusKind, Source | InputError]) -> None:
    """Draw the choices of these kinds of corpora, of those `opened`."""
    with st.container(horizontal=True, gap="small"):
        for kind in _files(kinds):
            _select(kind, opened[kind])
    if "random" in kinds:
        st.caption("Corpus: none. Sequences of random tokens are drawn, as many as inputs are asked for.")
    if "vocabulary" in kinds:
        st.caption("Corpus: none. Tokens are drawn from the model's vocabulary, as many as inputs are asked for.")


def offer_upload(kinds: Sequence[CorpusKind]) -> None:
    """Draw what adds a corpus of these kinds, and what can be done with the uploads that are chosen."""
    if read := _files(kinds):
        chosen = {kind: upload for kind in read if (upload := uploads.visible(kind).get(_chosen(kind)))}
        add_corpus.draw(read, chosen, _delete)


def check(
    kinds: Sequence[CorpusKind], opened: Mapping[CorpusKind, Source | InputError], needed: Set[CorpusKind]
) -> None:
    """Draw the outcome of the last upload, and why a corpus of these kinds cannot be opened, with a button that chooses
    the sample; raises PageEnd where it is `needed`."""
    add_corpus.draw_outcome(kinds, _choose)
    missing = [kind for kind in kinds if isinstance(opened[kind], InputError)]
    for kind in missing:
        problem = opened[kind]
        assert isinstance(problem, InputError), "it is missing"
        messages.error(InputError(problem.what, where=problem.where or KEYS[kind].capitalize(), hint=problem.hint))
        sample_name = getattr(HeaderChoices, KEYS[kind])
        label = f"Use the sample “{sample_name}”"
        st.button(label, key=f"sample-{kind}", on_click=_choose, args=(kind, sample_name), icon=":material/undo:")
    if needed & set(missing):
        raise session.PageEnd


def _files(kinds: Sequence[CorpusKind]) -> list[CorpusKind]:
    """Those kinds that are read from files."""
    return [kind for kind in kinds if kind in KEYS]


def _open(kind: CorpusKind) -> Source | InputError:
    """The chosen corpus, or why it cannot be opened. Then no corpus is chosen in its place: the sample's numbers must
    not seem to be those of a link."""
    corpus = _chosen(kind)
    if corpus in SAMPLES[kind]:
        return sample(corpus)
    try:
        if corpus not in uploads.visible(kind):
            uploads.open_link(corpus, kind)
        upload = uploads.find(corpus, kind)
    except InputError as problem:
        return problem
    assert upload is not None, "a link is opened, or an error raised"
    return uploads.source(upload)


def _choose(kind: str, corpus: str) -> None:
    """Choose a corpus, by its name or address, for its kind."""
    session.choose(**{KEYS[cast(CorpusKind, kind)]: corpus})


def _delete(corpus: str) -> None:
    """Delete an upload, in a callback, and choose the samples in its place."""
    uploads.delete(corpus)
    for kind, name in KEYS.items():
        if _chosen(kind) == corpus and corpus not in uploads.visible(kind):
            session.choose(**{name: getattr(HeaderChoices, name)})


def _chosen(kind: CorpusKind) -> str:
    """The name or address of the chosen corpus of a kind."""
    corpus: str = getattr(session.current().header, KEYS[kind])
    return corpus


def _select(kind: CorpusKind, opened: Source | InputError) -> None:
    visible = uploads.visible(kind)
    is_open = not isinstance(opened, InputError)
    widgets.select(
        KEYS[kind].capitalize(),
        [*SAMPLES[kind], *visible],
        KEYS[kind],
        _chosen(kind) if is_open else None,
        placeholder="Choose a corpus",
        index=0 if is_open else None,
        format_func=lambda option: visible[option].name if option in visible else option,
    )
