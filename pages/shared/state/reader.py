"""One reader's jobs and uploads; other readers' are never shown. On a public server they end with the session; in a
local app jobs run to their end, and uploads stay."""

import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Timer

from bertviz_core.corpora.upload_check import UploadCheck
from bertviz_core.engine.jobs import Job
from bertviz_core.engine.uploads import Upload
from bertviz_core.errors import BertvizError, StoreError
from pages.shared import services, streamlit_internals

GRACE = 120.0  # seconds for which Streamlit keeps a session whose connection is closed


def _new_name() -> str:
    """A secret that begins with that of the browser, which all of its tabs have."""
    browser = streamlit_internals.browser_secret() or secrets.token_hex(16)
    return f"{sha256(browser.encode()).hexdigest()}-{secrets.token_hex(16)}"


@dataclass(eq=False)
class Reader:
    """The jobs and uploads of one reader.

    Attributes:
        name: A secret, which identifies this tab to jobs.
        jobs: By key, the latest last.
        visible: Uploads by kind of corpus and address.
        check: The check of an upload that is running; None without.
        checking: The role on the page of what is checked.
        uploaded: How many times files were given.
        problem: What is wrong with the last upload, until it is shown.
        offer: An upload that other pages read; None without.
        offered_on: The page where it was given.
        offer_reason: Why that page does not read it, where it seems to be what the page reads.
        timer: Ends what the reader has left behind, see `close`.
        is_connected: Whether Streamlit calls `close` when the connection is closed.
    """

    name: str = field(default_factory=_new_name)
    jobs: dict[str, Job] = field(default_factory=dict)
    visible: dict[str, dict[str, Upload]] = field(default_factory=dict)
    check: UploadCheck | None = None
    checking: str = ""
    uploaded: int = 0
    problem: BertvizError | None = None
    offer: Upload | None = None
    offered_on: str = ""
    offer_reason: str = ""
    timer: Timer | None = None
    is_connected: bool = False

    @property
    def uploads(self) -> set[Upload]:
        """All uploads that the reader sees."""
        # Copies: other threads may add to them.
        by_kind = list(self.visible.values())
        return {upload for by_address in by_kind for upload in list(by_address.values())}

    def is_own(self, name: str) -> bool:
        """Whether a tab is one of this reader's browser or, on one's own machine, of any."""
        return not services.access().public or name.partition("-")[0] == self.name.partition("-")[0]

    def close(self) -> None:
        """Stop the check when the connection is closed, and end the rest unless the reader comes back."""
        self.is_connected = False
        if self.check:
            self.check.end()
        has_jobs = any(queue.jobs_of(self.name) for queue in services.queues())
        if services.access().public and (has_jobs or self.uploads):
            self.timer = Timer(GRACE, self.end)
            # It does not delay the server's end.
            self.timer.daemon = True
            self.timer.start()

    def end(self) -> None:
        """Leave all jobs and delete all uploads."""
        for queue in services.queues():
            queue.leave_all(self.name)
        for upload in self.uploads:
            with suppress(StoreError):  # An upload that is not deleted now expires later.
                services.uploads().delete(upload.token)
