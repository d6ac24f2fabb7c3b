"""The part of the panel that adds a corpus: files or a pasted text, and what becomes of them."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from bertviz_core.analyses.base.presentation import CorpusKind
from bertviz_core.corpora import annotation_formats
from bertviz_core.engine.uploads import Upload
from bertviz_core.errors import BertvizError
from pages.shared import jobs, messages, services, uploads, widgets
from pages.shared.frame import PANEL, links
from pages.shared.state import session
from pages.shared.state.kinds import kind_of
from pages.shared.state.session import UPLOADED

ROLE = "corpus"  # of the files, see `uploads.begin`
# Descriptions of the files that can be read.
FORMS: dict[str, str] = {
    "text": "**Text**: one paragraph per line, a blank line between documents; or the authors' JSON",
    "treebank": f"**Treebank**: {annotation_formats.list_formats('treebank')}",
    "coreference": f"**Coreference**: {annotation_formats.list_formats('coreference')}",
    "pairs": "**Minimal pairs**: JSON lines as BLiMP has; columns with a header: good, bad, phenomenon; or a treebank "
    "in CoNLL-U with features, of whose subjects and verbs pairs are made",
}
PASTE = "paste"
LONGEST_PASTE = 1_000_000  # characters: the browser sends them again with every click


def take(kinds: Sequence[CorpusKind], choose: Callable[[str, str], None]) -> None:
    """Take the files whose check is over, and choose them for the kind of corpus that they are: `choose(kind,
    address)`. For kinds that the page does not read, another page is offered."""
    try:
        address = uploads.take(ROLE)
    except BertvizError as problem:
        jobs.session().problem = problem
        return
    if not address:
        return
    upload = next(found for kind in FORMS if (found := uploads.visible(kind).get(address)))
    for kind in upload.kinds:
        choose(kind, address)
    jobs.session().offer = upload
    jobs.session().offered_on = session.current().page


def draw(kinds: Sequence[CorpusKind], chosen: Mapping[CorpusKind, Upload], delete: Callable[[str], None]) -> None:
    """Draw the choices that add corpora of these kinds, with what can be done with the `chosen` uploads: the button
    `delete`s one, by its address, in a callback."""
    for kind, upload in chosen.items():
        _describe(upload, kind, delete)
    _draw_choices(kinds)


def draw_outcome(kinds: Sequence[CorpusKind], choose: Callable[[str, str], None]) -> None:
    """Draw what came of the last upload: its error, other pages that read it, or an offer of its sentences as text."""
    reader = jobs.session()
    if reader.problem is not None:
        messages.error(reader.problem)
        reader.problem = None
    others = _others(reader.offer, kinds) if reader.offer else []
    is_here = reader.offered_on == session.current().page
    if reader.offer and (others or (reader.offer_reason and is_here and _is_visible(reader.offer))):
        _draw_offer(reader.offer, others, choose if "text" in kinds else None)
    else:
        reader.offer = None


def _others(upload: Upload, kinds: Sequence[CorpusKind]) -> list[str]:
    """The kinds of an upload that a page of these kinds does not read; none once it is deleted, or its reader has gone
    on to a page that reads it."""
    others = [kind for kind in upload.kinds if kind not in kinds]
    is_elsewhere = len(others) < len(upload.kinds) and jobs.session().offered_on != session.current().page
    return others if _is_visible(upload) and not is_elsewhere else []


def _is_visible(upload: Upload) -> bool:
    """Whether it is not deleted."""
    return UPLOADED + upload.token in uploads.visible(upload.kind)


def _draw_offer(upload: Upload, others: list[str], choose: Callable[[str, str], None] | None) -> None:
    """Say what else an upload is, or why it is not all that it seems, and offer the pages that read it; with `choose`,
    also to read the sentences as text."""
    address = UPLOADED + upload.token

    def use_sentences() -> None:
        assert choose is not None, "the button is drawn only then"
        uploads.open_link(address, "text")
        choose("text", address)
        jobs.session().offer = None

    also = "also " * (0 < len(others) < len(upload.kinds))
    what = " and ".join(uploads.KINDS[kind] for kind in others or upload.kinds)
    why = messages.plain(f" {jobs.session().offer_reason}".rstrip())
    st.info(f"“{messages.plain(upload.name)}” is {also}{what}.{why}", icon=":material/account_tree:")
    for page in (next(entry for entry in links.BY_SECTION if entry.corpora[0] == kind) for kind in others):
        links.to(kind_of(page.name)(), f"Open {page.title}")
    if choose:
        st.button("Use its sentences as text", on_click=use_sentences, icon=":material/notes:")


def _draw_choices(kinds: Sequence[CorpusKind]) -> None:
    # A new uploader after each upload: an uploader would add files to the earlier ones.
    uploader = f"uploader {jobs.session().uploaded}"

    def take_files() -> None:
        if files := widgets.entered(uploader):  # the browser also reports the uploader that this one replaces
            jobs.session().uploaded += 1
            begin([(file.name, file.getvalue()) for file in files])

    def take_paste() -> None:
        text = widgets.entered(PASTE)
        part = f", its first {LONGEST_PASTE:,} characters" if len(text) > LONGEST_PASTE else ""
        begin([(f"pasted text{part}", text[:LONGEST_PASTE].encode())])

    def begin(files: list[tuple[str, bytes]]) -> None:
        widgets.close(PANEL)
        uploads.begin(files, kinds[0], ROLE)

    label = "Several files of one kind, or those of a zip, become one corpus"
    st.file_uploader(label, key=uploader, accept_multiple_files=True, on_change=take_files)
    st.text_area("Or paste text", key=PASTE, height=140)
    st.button("Use the pasted text", on_click=take_paste, type="primary")
    for kind in kinds:
        st.caption(FORMS[kind])


def _describe(upload: Upload, kind: CorpusKind, delete: Callable[[str], None]) -> None:
    """Say who can read an upload that is chosen as a corpus of a kind, and for how long; draw the button that deletes
    it."""
    name = messages.plain(upload.name)
    if kind not in upload.kinds:
        st.caption(f"“{name}” is {uploads.KINDS[upload.kind]}: its sentences are read as text.")
    readers = "No one else" if services.access().public else "Anyone who can open this page"
    st.caption(f"“{name}” is stored on this server {uploads.lifetime()}. {readers} can read it.")
    address = UPLOADED + upload.token
    icon = ":material/delete:"
    st.button("Delete now", on_click=delete, args=(address,), icon=icon, key=f"delete {kind}")
