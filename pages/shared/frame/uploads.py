"""The uploads that a reader sees: own ones, which this browser may delete, and those that a link opened."""

from __future__ import annotations

import re
import secrets
from contextlib import suppress

import streamlit as st

from bertviz_core.corpora.source import Source
from bertviz_core.engine.uploads import TOKEN, Upload, owner_of
from bertviz_core.errors import InputError, StoreError
from pages.shared import services
from pages.shared.frame.serving import COOKIE

PREFIX = "upload-"  # before a token, in the address bar
KINDS = {"text": "a text", "treebank": "a treebank", "coreference": "a corpus with coreference", "vectors": "vectors"}
CANNOT = "The link cannot be restored: "
CHOOSE = "Choose a corpus in the sidebar, or upload the file again."


def owner() -> str:
    """Who uploads from this browser: by its cookie, by the session alone where it takes none."""
    if "reader" not in st.session_state:
        cookie = str(st.context.cookies.get(COOKIE, ""))
        st.session_state["reader"] = cookie if TOKEN.fullmatch(cookie) else secrets.token_urlsafe(32)
    return owner_of(st.session_state["reader"])


def visible(kind: str) -> dict[str, Upload]:
    """Address (as a link has it) -> upload, of one kind, oldest first; other readers' uploads only by their links."""
    if f"uploads-{kind}" not in st.session_state:
        try:
            present = [upload for upload in services.uploads().of(owner()) if upload.kind == kind]
        except StoreError:  # as the sidebar says
            present = []
        st.session_state[f"uploads-{kind}"] = {PREFIX + upload.token: upload for upload in present}
    uploads: dict[str, Upload] = st.session_state[f"uploads-{kind}"]
    return uploads


def is_own(upload: Upload) -> bool:
    """Whether this browser uploaded it, and so may delete it."""
    return upload.owner == owner()


def keep(data: bytes, name: str, kind: str) -> str:
    """Store checked bytes as this reader's upload; returns its address."""
    upload = services.uploads().keep(data, name, kind, owner())
    visible(kind)[PREFIX + upload.token] = upload
    return PREFIX + upload.token


def check_size(data: bytes, name: str) -> None:
    """Raises InputError for more bytes than one upload may have; a paste is bound to the same."""
    maximum = st.get_option("server.maxUploadSize")  # in .streamlit/config.toml
    if len(data) > maximum * 2**20:
        raise InputError(f"The file is over {maximum} MB.", where=name, hint="Use the command line.")


def delete(address: str, kind: str) -> None:
    """Delete an own upload; one that a link opened only leaves this reader's list."""
    services.delete_upload(address.removeprefix(PREFIX), owner())
    for each in KINDS:  # a treebank may be listed as text too
        visible(each).pop(address, None)


def open_link(address: str, kind: str) -> Upload:
    """The upload of a link, visible to this reader from now on.

    Raises:
        InputError: The link cannot be restored, with the reason.
    """
    token = address.removeprefix(PREFIX)
    if re.fullmatch("[0-9a-f]{64}", token):
        raise InputError(
            CANNOT + "it was created by an earlier version, whose links no longer open.",
            hint=CHOOSE,
        )
    if not TOKEN.fullmatch(token):
        raise InputError(CANNOT + "its address is cut off or misspelled.", hint=CHOOSE)
    upload = services.uploads().find(token)
    if upload is None:
        days = services.access().upload_days
        raise InputError(
            CANNOT + f"the upload is not on this server. Uploads last {days} days, or until their owner deletes them.",
            hint=CHOOSE,
        )
    visible(upload.kind)[address] = upload
    if kind == "text" and upload.kind in ("treebank", "coreference"):
        visible(kind)[address] = upload  # its sentences are text
        return upload
    if upload.kind != kind:
        st.session_state.setdefault("corpora", {})[upload.kind] = address  # chosen on pages that read it
        raise InputError(CANNOT + f"it opens {KINDS[upload.kind]}; this page reads {KINDS[kind]}.", hint=CHOOSE)
    return upload


def sources(kind: str) -> list[Source]:
    """The bytes of every visible upload of a kind, newest first; those that cannot be read any more are skipped."""
    readable = []
    for upload in reversed(visible(kind).values()):
        with suppress(InputError, StoreError):
            readable.append(services.upload(upload.token))
    return readable
