"""What an upload is to a page: a file of the reader's that was checked, is stored, and is opened by its address.

The way of a file, which no page goes otherwise: the callback of an uploader calls `begin`, and a process with limits
recognizes the file and reads it once to its end (bertviz_core/corpora/upload_check.py, which says why this is not the
process of the jobs). The next runs of the page call `take`, which draws the check while it goes on, stores the checked
file (bertviz_core/engine/uploads.py), and returns its address. `find` is the upload of an address, and `source` opens
it; a job reads it once more.

A reader sees, on a public server, the uploads of the session alone, and no address has them. Elsewhere a reader sees
the latest uploads and those that a link opens (`open_link`).
"""

from concurrent.futures import wait
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

import streamlit as st

from bertviz_core.corpora.contents import describe
from bertviz_core.corpora.files import SAMPLES
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.upload_check import CheckedFiles, UploadCheck
from bertviz_core.engine.uploads import MINIMUM, TOKEN, Upload, missing_upload
from bertviz_core.errors import InputError, StoreError
from pages.shared import jobs, messages, services
from pages.shared.state.reader import Reader
from pages.shared.state.session import UPLOADED

KINDS = {
    "text": "a text",
    "treebank": "a treebank",
    "coreference": "a corpus with coreference",
    "pairs": "a corpus with minimal pairs",
    "vectors": "vectors",
}
CANNOT = "The link cannot be restored: "
CHOOSE = "Choose another file, or upload it again."
CHECK_WAIT_S = 1.0  # seconds before a page goes on without a check
UNPACKED = 10  # maximum ratio of unpacked to packed size: text shrinks to a tenth at best
SECONDS = 60  # of a core, for a check
SECONDS_PUBLIC = 10
BYTES_PER_SECOND = 2 << 20  # of a file, for each of which a check may take a second more


def begin(files: list[tuple[str, bytes]], kind: str, role: str, *, fixed: bool = False) -> None:
    """Begin the check of files that a reader gives, in a callback; `take` returns what comes of it.

    Args:
        files: (name, bytes) of each; several become one corpus.
        kind: The kind of corpus that the page reads ("text", "treebank", "coreference", "pairs"), or
            "vectors".
        role: What the files are on the page, by which `take` knows them; a new check ends that of any other role.
        fixed: Whether the files must be of this kind; else they are stored as the kind that they are.
    """
    reader = jobs.session()
    if reader.check:
        reader.check.end()
    reader.check = UploadCheck(
        files,
        kind,
        fixed=fixed,
        max_size=_max_upload(),
        max_unpacked=UNPACKED * _max_upload(),
        seconds=_seconds(sum(len(data) for _, data in files)),
    )
    reader.checking = role
    wait([reader.check.checked], CHECK_WAIT_S)


def _seconds(size: int) -> int:
    """Seconds of a core that the check of so many bytes may take: a text of 50 MB in short lines takes some 15."""
    return (SECONDS_PUBLIC if services.access().public else SECONDS) + size // BYTES_PER_SECOND


def take(role: str) -> str:
    """Store the files that were checked for a role, once, and return the address; "" where there are none, or while
    the check goes on, which is drawn. Raises InputError for files that cannot be read, StoreError for a full disk."""
    reader = jobs.session()
    if reader.check is None or reader.checking != role:
        return ""
    if not reader.check.checked.done():
        _draw_check(reader)
        return ""
    check, reader.check = reader.check, None
    checked = check.checked.result()
    address = _keep(checked)
    reader.offer_reason = checked.problem
    if checked.encoding:
        st.toast(f"Read as {checked.encoding}.", icon=":material/translate:")
    return address


@st.fragment(run_every=1.0)
def _draw_check(reader: Reader) -> None:
    if reader.check is None or reader.check.checked.done():
        st.rerun()
    line = st.container(horizontal=True, vertical_alignment="center", gap="small")
    line.caption(f":material/hourglass_top: Checking “{messages.plain(reader.check.name)}”", width="content")
    icon = ":material/stop:"
    line.button("Cancel", key="cancel check", on_click=_cancel, args=(reader,), icon=icon, type="tertiary")


def _cancel(reader: Reader) -> None:
    """Stop a reader's check, in a callback; nothing is left of it."""
    if reader.check:
        reader.check.end()
    reader.check = None


def _keep(checked: CheckedFiles) -> str:
    """Store checked files, and return their address; raises InputError where there is not enough space."""
    access = services.access()
    size = sum(max(upload.size, MINIMUM) for upload in jobs.session().uploads)
    if access.public and size + len(checked.data) > access.session_uploads:
        what = f"Your uploads would take more than {access.session_uploads / 1e6:,.0f} MB."
        raise InputError(what, where=checked.name, hint="Delete some that you no longer need.")
    upload = services.uploads().keep(checked.data, checked.name, next(iter(checked.contents)), checked.contents)
    address = UPLOADED + upload.token
    for kind in upload.kinds:
        visible(kind)[address] = upload
    return address


def visible(kind: str) -> dict[str, Upload]:
    """The uploads of one kind that this reader sees, by address, oldest first."""
    by_kind = jobs.session().visible
    if kind not in by_kind:
        by_kind[kind] = {}
        with suppress(StoreError):  # The sidebar names a store that cannot be read.
            latest = [] if services.access().public else services.uploads().latest(kind)
            by_kind[kind] = {UPLOADED + upload.token: upload for upload in latest}
    return by_kind[kind]


def find(address: str, kind: str) -> Upload | None:
    """The upload of an address that this reader sees, or None; raises InputError where it was deleted meanwhile or has
    expired."""
    upload = visible(kind).get(address)
    if upload is not None and services.uploads().find(upload.token) is None:
        delete(address)
        raise missing_upload()
    return upload


def source(upload: Upload) -> Source:
    """The bytes of an upload, which may unpack to UNPACKED times the largest upload."""
    return replace(services.uploads().source_of(upload), max_unpacked=UNPACKED * _max_upload())


def contents(kind: str, source: Source) -> str:
    """What a corpus that is read as a kind contains, in words; "" for one of no kind."""
    upload = visible(kind).get(UPLOADED + source.locator.removeprefix("upload:"))
    if upload is None:
        return _contents_of_sample(kind, source) if kind in SAMPLES else ""
    return upload.contents.get(kind) or next(iter(upload.contents.values()), "")


@lru_cache(maxsize=8)
def _contents_of_sample(kind: str, source: Source) -> str:
    return describe(kind, source)


def delete(address: str) -> None:
    """Delete an upload, in a callback; the page shows the error if it cannot be deleted."""
    try:
        services.uploads().delete(address.removeprefix(UPLOADED))
    except StoreError as problem:
        jobs.session().problem = problem
        return
    services.segments.clear()
    for kind in KINDS:  # a treebank may be listed as text too
        visible(kind).pop(address, None)


def open_link(address: str, kind: str) -> None:
    """Make the upload of a link visible to this reader; raises InputError where it cannot be opened."""
    token = address.removeprefix(UPLOADED)
    if token == address:
        raise InputError(CANNOT + f"this page has no corpus “{address[:40]}”.", hint=CHOOSE)
    if not TOKEN.fullmatch(token):
        raise InputError(CANNOT + "its address is cut off or misspelled.", hint=CHOOSE)
    # No reader sees another session's uploads.
    if services.access().public:
        upload = next((upload for upload in jobs.session().uploads if upload.token == token), None)
    else:
        upload = services.uploads().find(token)
    if upload is None:
        raise InputError(CANNOT + f"the upload is not on this server. Uploads last {lifetime()}.", hint=CHOOSE)
    for each in upload.kinds:
        visible(each)[address] = upload
    if kind == "text" and upload.kind in ("treebank", "coreference", "pairs"):
        visible(kind)[address] = upload  # The sentences of a treebank are text, too.
    elif kind not in upload.kinds:
        raise InputError(CANNOT + f"it opens {KINDS[upload.kind]}; this page reads {KINDS[kind]}.", hint=CHOOSE)


def lifetime() -> str:
    """How long an upload is kept, as a part of a sentence."""
    access = services.access()
    return "until this tab is closed" if access.public else f"for {access.upload_days} days"


def _max_upload() -> int:
    """Bytes of the largest upload, from .streamlit/config.toml."""
    return int(st.get_option("server.maxUploadSize")) * 2**20
