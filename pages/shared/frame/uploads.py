"""The uploads that a reader sees: on a public server this session's, else the latest, and those of links."""

from concurrent.futures import wait
from contextlib import suppress

import streamlit as st

from bertviz_core.corpora.upload_check import CheckedFiles, UploadCheck
from bertviz_core.engine.uploads import MINIMUM, TOKEN, Upload
from bertviz_core.errors import InputError, StoreError
from pages.shared import jobs, messages, services

PREFIX = "upload-"  # before a token, in the address bar
KINDS = {"text": "a text", "treebank": "a treebank", "coreference": "a corpus with coreference", "vectors": "vectors"}
CANNOT = "The link cannot be restored: "
CHOOSE = "Choose a corpus under the title, or upload the file again."
PATIENCE = 1.0  # seconds that a reader waits for a check before the page goes on without it


def visible(kind: str) -> dict[str, Upload]:
    """Address (as a link has it) -> upload, of one kind, oldest first."""
    key = f"uploads-{kind}"
    if key not in st.session_state:
        st.session_state[key] = {}
        with suppress(StoreError):  # as the header says
            latest = [] if services.access().public else services.uploads().latest(kind)
            st.session_state[key] = {PREFIX + upload.token: upload for upload in latest}
    uploads: dict[str, Upload] = st.session_state[key]
    return uploads


def in_address(corpus: str) -> str:
    """A corpus as the address has it: on a public server no link leads to an upload."""
    return "" if corpus.startswith(PREFIX) and services.access().public else corpus


def lifetime() -> str:
    access = services.access()
    return "until this tab is closed" if access.public else f"for {access.upload_days} days"


def keep(checked: CheckedFiles) -> str:
    """Store a checked file; returns its address. Raises InputError where there is no room for it."""
    access = services.access()
    mine = jobs.session().uploads
    if access.public and sum(max(each.size, MINIMUM) for each in mine) + len(checked.data) > access.session_uploads:
        what = f"Your uploads would take more than {access.session_uploads / 1e6:,.0f} MB."
        raise InputError(what, where=checked.name, hint="Delete some that you no longer need.")
    upload = services.uploads().keep(checked.data, checked.name, checked.kind)
    if access.public:
        mine.append(upload)
    address = PREFIX + upload.token
    visible(checked.kind)[address] = upload
    return address


def begin(files: list[tuple[str, bytes]], kind: str, role: str, *, fixed: bool = False) -> None:
    """Begin to check files that have arrived for a role on the page; `take` draws and ends the check."""
    mine = jobs.session()
    if mine.check:
        mine.check.end()
    size = services.max_upload()
    seconds = 10 if services.access().public else 60
    limits = {"max_size": size, "max_unpacked": services.UNPACKED * size, "seconds": seconds}
    mine.check = UploadCheck(files, kind, fixed=fixed, **limits)
    st.session_state["checking"] = role
    wait([mine.check.checked], PATIENCE)


def take(role: str) -> CheckedFiles | None:
    """What the check for a role has found, once; draws it while it runs. Raises InputError for unreadable files."""
    mine = jobs.session()
    if mine.check is None or st.session_state.get("checking") != role:
        return None
    if not mine.check.checked.done():
        _checking(mine)
        return None
    check, mine.check = mine.check, None
    return check.checked.result()


@st.fragment(run_every=1.0)
def _checking(mine: jobs.Session) -> None:
    """The page goes on meanwhile, and is run again when the check is over."""
    if mine.check is None or mine.check.checked.done():
        st.rerun()
    st.caption(f":material/hourglass_top: Checking “{messages.plain(mine.check.name)}”")
    st.button("Cancel", key="cancel check", on_click=mine.check.end, icon=":material/stop:")


def delete(address: str) -> None:
    """Delete an upload, in a callback; the page says why it could not."""
    try:
        services.uploads().delete(address.removeprefix(PREFIX))
    except StoreError as problem:
        st.session_state["upload_problem"] = problem
        return
    services.segments.clear()
    mine = jobs.session()
    mine.uploads = [upload for upload in mine.uploads if PREFIX + upload.token != address]
    for each in KINDS:  # a treebank may be listed as text too
        visible(each).pop(address, None)


def open_link(address: str, kind: str) -> None:
    """Make the upload of a link visible to this reader from now on; raises InputError where it cannot be restored."""
    token = address.removeprefix(PREFIX)
    if token == address:
        raise InputError(CANNOT + f"this page has no corpus “{address[:40]}”.", hint=CHOOSE)
    if not TOKEN.fullmatch(token):
        raise InputError(CANNOT + "its address is cut off or misspelled.", hint=CHOOSE)
    if services.access().public:  # its readers have their own alone
        upload = next((upload for upload in jobs.session().uploads if upload.token == token), None)
    else:
        upload = services.uploads().find(token)
    if upload is None:
        raise InputError(CANNOT + f"the upload is not on this server. Uploads last {lifetime()}.", hint=CHOOSE)
    visible(upload.kind)[address] = upload
    if kind == "text" and upload.kind in ("treebank", "coreference"):
        visible(kind)[address] = upload  # its sentences are text
    elif upload.kind != kind:
        raise InputError(CANNOT + f"it opens {KINDS[upload.kind]}; this page reads {KINDS[kind]}.", hint=CHOOSE)
