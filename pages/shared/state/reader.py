"""One reader's jobs and uploads; other readers' are never shown. On a public server they end with the session; in a
local app jobs run to their end, and uploads stay."""

import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Timer

from bertviz_core.corpora.upload_check import UploadCheck
from bertviz_core.engine.jobs import Job
from bertviz_core.engine.uploads import Upload
from bertviz_core.errors import BertvizError, StoreError
from pages.shared import services

GRACE = 120.0  # seconds for which Streamlit keeps a session whose connection is closed


@dataclass(eq=False)
class Reader:
    """The jobs and uploads of one reader."""

    name: str = field(default_factory=lambda: secrets.token_hex(16))  # a secret, which identifies the reader to jobs
    jobs: dict[str, Job] = field(default_factory=dict)  # by key, the latest last
    announced: list[Job] = field(default_factory=list)  # jobs whose end the reader has been told
    visible: dict[str, dict[str, Upload]] = field(default_factory=dict)  # uploads by kind of corpus and address
    check: UploadCheck | None = None  # running
    checking: str = ""  # the role on the page of what is checked
    uploaded: int = 0  # how many times files were given
    problem: BertvizError | None = None  # of the last upload, until it is shown
    offer: Upload | None = None  # an upload that other pages read
    offered_on: str = ""  # the page where it was given
    timer: Timer | None = None  # see `close`
    is_connected: bool = False  # whether Streamlit calls `close` when the connection is closed

    @property
    def uploads(self) -> set[Upload]:
        # Copies: other threads may add to them.
        by_kind = list(self.visible.values())
        return {upload for by_address in by_kind for upload in list(by_address.values())}

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
        for queue in services.queues():
            queue.leave_all(self.name)
        for upload in self.uploads:
            with suppress(StoreError):  # it expires
                services.uploads().delete(upload.token)
