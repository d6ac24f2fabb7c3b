"""State of one session, which ends with it: its jobs and uploads on a public server, and a running upload check.

Streamlit gives a session back to a tab whose connection broke and comes back in time; on one's own machine jobs run to
their end, and uploads stay.
"""

import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Timer

import streamlit as st

from bertviz_core.corpora.upload_check import UploadCheck
from bertviz_core.engine.uploads import Upload
from bertviz_core.errors import StoreError
from pages.shared import services

GRACE = 120.0  # seconds for which Streamlit keeps a session whose connection is closed


@dataclass(eq=False)
class Session:
    """One reader's session.

    Attributes:
        name: A secret name, by which jobs know it.
        uploads: What it has uploaded, on a public server.
        check: The check of an upload that runs.
        leaving: Runs out when the connection has been closed for too long.
    """

    name: str = field(default_factory=lambda: secrets.token_hex(16))
    uploads: list[Upload] = field(default_factory=list)
    check: UploadCheck | None = None
    leaving: Timer | None = None

    def close(self) -> None:
        """The connection is closed: stop the check, and end everything else unless the reader comes back."""
        if self.check:
            self.check.end()
        if services.access().public and (self.uploads or any(queue.jobs_of(self.name) for queue in services.queues())):
            self.leaving = Timer(GRACE, self.end)
            self.leaving.daemon = True  # does not delay the server's end
            self.leaving.start()

    def end(self) -> None:
        """Withdraw from the jobs, and delete the uploads."""
        for queue in services.queues():
            queue.leave_all(self.name)
        for upload in self.uploads:
            with suppress(StoreError):  # it expires
                services.uploads().delete(upload.token)


def current() -> Session:
    """This reader's session, whose connection is open."""
    session: Session = st.session_state.setdefault("session", Session())
    if session.leaving:
        session.leaving.cancel()
        session.leaving = None
    return _connected(session.name, session)


@st.cache_resource(scope="session", show_spinner=False, on_release=Session.close)
def _connected(name: str, _session: Session) -> Session:
    """Streamlit releases it when the connection is closed, and asks for it anew in a session that comes back."""
    return _session
