"""The chosen corpora: one of each kind, the same on all pages; a page draws the choices of the kinds that it reads."""

from collections.abc import Mapping, Sequence

import streamlit as st

from bertviz_core.analyses.analysis import Kind
from bertviz_core.corpora import annotated
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.corpora.source import Source
from bertviz_core.engine.uploads import missing_upload
from bertviz_core.errors import BertvizError, InputError
from pages.shared import jobs, messages, services, widgets
from pages.shared.frame import links, uploads
from pages.shared.state import session
from pages.shared.state.choices import Header, kind_of

KEYS: dict[Kind, str] = {"text": "corpus", "treebank": "treebank", "coreference": "coreference"}  # in the address
# Descriptions of the files that can be read.
UPLOAD_FORMS: dict[str, str] = {
    "text": "Text (one paragraph per line, a blank line between documents), or the authors' JSON",
    "treebank": f"A treebank: {annotated.list_formats('treebank')}",
    "coreference": f"Documents with chains: {annotated.list_formats('coreference')}",
}
POPOVER = "add a corpus"
PASTE = "paste"
LONGEST_PASTE = 1_000_000  # characters: the browser sends them again with every click


def choose(kinds: Sequence[Kind]) -> dict[Kind, Source | InputError]:
    """Draw the choices of these kinds and the popover that adds a corpus; return the chosen corpus of every kind, or
    why it cannot be opened."""
    read = [kind for kind in kinds if kind in KEYS]
    _keep_checked(read)
    opened: dict[Kind, Source | InputError] = {kind: _open(kind) for kind in KEYS}
    for kind in read:
        _select(kind, opened[kind])
    if "random" in kinds:
        st.caption("Corpus: none. Sequences of random tokens are drawn; see “More settings”.")
    if read:
        panel = widgets.popover("", ":material/upload:", POPOVER, help="Add your own corpus")
        if panel.open or widgets.entered(PASTE):  # Streamlit would forget a text that is not drawn
            with panel:
                _add_corpus(read)
    return opened | {"random": sample("random")}


def check(kinds: Sequence[Kind], opened: Mapping[Kind, Source | InputError]) -> None:
    """Draw the outcome of the last upload; raises InputError where a corpus of these kinds cannot be opened."""
    reader = jobs.session()
    if reader.problem is not None:
        messages.error(reader.problem)
        reader.problem = None
    _offer_page(kinds)
    for kind in kinds:
        if isinstance(problem := opened[kind], InputError):
            raise problem


def _open(kind: Kind) -> Source | InputError:
    """The chosen corpus, or why it cannot be opened. Then no corpus is chosen in its place: the sample's numbers must
    not seem to be those of a link."""
    corpus = _chosen(kind)
    if corpus in SAMPLES[kind]:
        return sample(corpus)
    try:
        if corpus not in uploads.visible(kind):
            uploads.open_link(corpus, kind)
    except InputError as problem:
        return problem
    upload = uploads.visible(kind)[corpus]
    if services.uploads().find(upload.token) is None:
        uploads.delete(corpus)
        return missing_upload()
    return services.source_of(upload)


def _chosen(kind: Kind) -> str:
    """The name or address of the chosen corpus of a kind."""
    corpus: str = getattr(session.current().header, KEYS[kind])
    return corpus


def _select(kind: Kind, opened: Source | InputError) -> None:
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


def _add_corpus(kinds: Sequence[Kind]) -> None:
    kind = kinds[0]

    def take_files() -> None:
        if files := widgets.entered(_uploader()):  # the browser also reports the uploader that this one replaces
            jobs.session().uploaded += 1
            begin([(file.name, file.getvalue()) for file in files])

    def take_paste() -> None:
        begin([("pasted text", widgets.entered(PASTE).encode())])

    def begin(files: list[tuple[str, bytes]]) -> None:
        widgets.close(POPOVER)
        uploads.begin(files, kind, "corpus")

    files = "; ".join(UPLOAD_FORMS[each] for each in kinds)
    label = f"{files}. Several files of one kind, or those of a zip, become one corpus."
    st.file_uploader(label, key=_uploader(), accept_multiple_files=True, on_change=take_files)
    st.text_area("Or paste text", key=PASTE, height=140, max_chars=LONGEST_PASTE)
    st.button("Use the pasted text", on_click=take_paste, type="primary")
    for each in kinds:
        corpus = _chosen(each)
        if upload := uploads.visible(each).get(corpus):
            name = messages.plain(upload.name)
            if upload.kind != each:
                st.caption(f"“{name}” is {uploads.KINDS[upload.kind]}: its sentences are read as text.")
            readers = "No one else" if services.access().public else "Anyone who can open this page"
            st.caption(f"“{name}” is stored on this server {uploads.lifetime()}. {readers} can read it.")
            key = f"delete {each}"
            icon = ":material/delete:"
            st.button("Delete now", on_click=_delete, args=(corpus,), icon=icon, key=key)


def _uploader() -> str:
    """The key of the uploader, a new one after each upload: an uploader would add files to the earlier ones."""
    return f"uploader {jobs.session().uploaded}"


def _delete(corpus: str) -> None:
    """Delete an upload, in a callback, and choose the samples in its place."""
    uploads.delete(corpus)
    for kind, name in KEYS.items():
        if _chosen(kind) == corpus and corpus not in uploads.visible(kind):
            session.choose(**{name: getattr(Header, name)})


def _keep_checked(kinds: Sequence[Kind]) -> None:
    """Store the files whose check is over, as the kind of corpus that they are, and choose them for that kind."""
    try:
        checked = uploads.take("corpus")
        if checked is None:
            return
        upload = uploads.keep(checked)
    except BertvizError as problem:
        jobs.session().problem = problem
        return
    if checked.encoding:
        st.toast(f"Read as {checked.encoding}.", icon=":material/translate:")
    if checked.kind in KEYS:
        session.choose(**{KEYS[checked.kind]: upload})
    if checked.kind not in kinds:
        jobs.session().offer = (upload, checked.kind)


def _offer_page(kinds: Sequence[Kind]) -> None:
    """After an upload of a kind that the page does not read, offer the page that reads it, or its sentences as text."""
    reader = jobs.session()
    corpus, kind = reader.offer
    upload = uploads.visible(kind).get(corpus) if corpus else None
    if upload is None or kind in kinds:
        reader.offer = ("", "")
        return

    def use_sentences() -> None:
        uploads.open_link(corpus, "text")
        session.choose(corpus=corpus)
        reader.offer = ("", "")

    page = next(entry for entry in links.BY_SECTION if entry.corpora == (kind,))
    st.info(f"“{messages.plain(upload.name)}” is {uploads.KINDS[kind]}.", icon=":material/account_tree:")
    links.to(kind_of(page.name)(), f"Open {page.title}")
    if "text" in kinds:
        st.button("Use its sentences as text", on_click=use_sentences, icon=":material/notes:")
