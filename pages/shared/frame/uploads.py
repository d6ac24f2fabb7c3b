"""The uploads that a reader sees: on a public server those of the session, else the latest, and those of links."""

from concurrent.futures import wait
from contextlib import suppress

import streamlit as st

from bertviz_core.corpora.upload_check import CheckedFiles, UploadCheck
from bertviz_core.engine.uploads import MINIMUM, TOKEN, Upload
from bertviz_core.errors import InputError, StoreError
from pages.shared import jobs, messages, services
from pages.shared.state.reader import Reader
from pages.shared.state.session import UPLOADED

KINDS = {"text": "a text", "treebank": "a treebank", "coreference": "a corpus with coreference", "vectors": "vectors"}
CANNOT = "The link cannot be restored: "
CHOOSE = "Choose another file, or upload it again."
# Seconds before a page goes on without a check.
PATIENCE = 1.0


def visible(kind: str) -> dict[str, Upload]:
    """The uploads of one kind by address, oldest first."""
    by_kind = jobs.session().visible
    if kind not in by_kind:
        by_kind[kind] = {}
        # The header shows the error.
        with suppress(StoreError):
            latest = [] if services.access().public else services.uploads().latest(kind)
            by_kind[kind] = {UPLOADED + upload.token: upload for upload in latest}
    return by_kind[kind]


def lifetime() -> str:
    access = services.access()
    return "until this tab is closed" if access.public else f"for {access.upload_days} days"


def keep(checked: CheckedFiles) -> str:
    """Store checked files, and return their address; raises InputError where there is not enough space."""
    access = services.access()
    size = sum(max(upload.size, MINIMUM) for upload in jobs.session().uploads)
    if access.public and size + len(checked.data) > access.session_uploads:
        what = f"Your uploads would take more than {access.session_uploads / 1e6:,.0f} MB."
        raise InputError(what, where=checked.name, hint="Delete some that you no longer need.")
    upload = services.uploads().keep(checked.data, checked.name, checked.kind)
    address = UPLOADED + upload.token
    visible(checked.kind)[address] = upload
    return address


def begin(files: list[tuple[str, bytes]], kind: str, role: str, *, fixed: bool = False) -> None:
    """Begin the check of files that a reader gives for a role on the page; `take` returns its outcome."""
    mine = jobs.session()
    if mine.check:
        mine.check.end()
    size = services.max_upload()
    unpacked = services.UNPACKED * size
    is_public = services.access().public
    seconds = 10 if is_public else 60
    mine.check = UploadCheck(files, kind, fixed=fixed, max_size=size, max_unpacked=unpacked, seconds=seconds)
    mine.checking = role
    wait([mine.check.checked], PATIENCE)


def take(role: str) -> CheckedFiles | None:
    """The checked files for a role, once; None while the check runs, which is drawn. Raises InputError if it fails."""
    mine = jobs.session()
    if mine.check is None or mine.checking != role:
        return None
    if not mine.check.checked.done():
        _checking(mine)
        return None
    check, mine.check = mine.check, None
    return check.checked.result()


@st.fragment(run_every=1.0)
def _checking(mine: Reader) -> None:
    if mine.check is None or mine.check.checked.done():
        st.rerun()
    st.caption(f":material/hourglass_top: Checking “{messages.plain(mine.check.name)}”")
    st.button("Cancel", key="cancel check", on_click=mine.check.end, icon=":material/stop:")


def delete(address: str) -> None:
    """Delete an upload, in a callback; the page shows the error if it cannot be deleted."""
    try:
        services.uploads().delete(address.removeprefix(UPLOADED))
    except StoreError as problem:
        jobs.session().problem = problem
        return
    services.segments.clear()
    # A treebank may be listed as text too.
    for kind in KINDS:
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
    visible(upload.kind)[address] = upload
    if kind == "text" and upload.kind in ("treebank", "coreference"):
        # Its sentences are text.
        visible(kind)[address] = upload
    elif upload.kind != kind:
        raise InputError(CANNOT + f"it opens {KINDS[upload.kind]}; this page reads {KINDS[kind]}.", hint=CHOOSE)
