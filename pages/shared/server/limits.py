"""How much may pass between the network and Streamlit: connections, and on a public server files and messages."""

import asyncio
import time
from collections import Counter

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bertviz_core.corpora import upload_check
from bertviz_core.settings import Access, access_from_environment
from pages.shared.server.access import refuse
from pages.shared.server.credit import Credit, credits_of_server
from pages.shared.streamlit_internals import message_kind, upload_session, uploaded_bytes

SESSIONS_IN_MEMORY = 10  # sessions whose full uploads, arriving or being checked, fit into memory together
# On a public server:
MAX_MESSAGE_BYTES = 5_000_000  # bytes of a message: each has the pasted text
FRAGMENT = 0.1  # of a run: a fragment's
IMPATIENT = 3  # runs: a page's that is requested before the one before it has come
UNDISTURBED_S = 1.0  # seconds that a page has before the next request of its connection ends it
LOOK_S = 0.05  # seconds between two looks at whether it has ended
SLOWED = 30  # delayed messages in a row, after which a connection is closed


class Limits:
    """Middleware that counts the bytes of files and messages as they arrive, whatever their headers say.

    Attributes:
        app: What is behind it.
        arriving: From a session to the bytes of its files that arrive.
        connected: The number of open websockets.
    """

    def __init__(self, app: ASGIApp, access: Access | None = None) -> None:
        self.app = app
        self.access = access or access_from_environment()
        self.arriving: Counter[str] = Counter()
        self.connected = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._connect(scope, receive, send)
        elif (
            self.access.public
            and scope["type"] == "http"
            and (session := upload_session(scope["method"], scope["path"])) is not None
        ):
            await self._take_file(session, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.connected >= self.access.sessions:
            await refuse(send)
            return
        self.connected += 1
        try:
            if self.access.public:
                with credits_of_server.connection(scope) as (credit, named):
                    await self.app(named, *_slowed(receive, send, credit))
            else:
                await self.app(scope, receive, send)
        finally:
            self.connected -= 1

    async def _take_file(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a file's bytes while it arrives, and end Streamlit's handler at the limit of its session or of all."""
        count = 0

        async def counted() -> Message:
            nonlocal count
            message = await receive()
            size = len(message.get("body", b""))
            self._check_room(session, size)
            count += size
            self.arriving[session] += size
            return message

        try:
            await self.app(scope, counted, send)
        except ClientDisconnect:
            pass  # The reader has closed the tab, which is no error for the server's log.
        finally:
            self.arriving[session] -= count
            self.arriving += Counter()  # This drops the sessions that are at zero.

    def _check_room(self, session: str, size: int) -> None:
        """Raises HTTPException where `size` more bytes of this session do not fit into memory."""
        limit = self.access.session_uploads
        present = self.arriving + Counter(uploaded_bytes())
        total = present.total() + upload_check.bytes_in_memory()
        if present[session] + size > limit or total + size > SESSIONS_IN_MEMORY * limit:
            raise HTTPException(413, "There is not enough space for this file.")


async def _page_before(credit: Credit) -> None:
    """Wait for the page that the connection has requested before, for a while: whoever asks on and on would have pages
    begin that all end at once, and each beginning takes the server as long as a tenth of a page."""
    end = time.monotonic() + UNDISTURBED_S
    while credit.page and time.monotonic() < end:
        await asyncio.sleep(LOOK_S)
    credit.page = object()


def _slowed(receive: Receive, send: Send, credit: Credit) -> tuple[Receive, Send]:
    """The messages of one connection, as fast as its credit allows; it ends where they are too long or too many."""
    slowed = 0
    is_open = True

    async def next_message() -> Message:
        nonlocal slowed, is_open
        event = await receive()
        if event["type"] != "websocket.receive":
            return event
        data = event.get("bytes") or b""
        if len(data) > MAX_MESSAGE_BYTES or slowed > SLOWED:
            is_open = False
            await send({"type": "websocket.close", "code": 1009})
            return {"type": "websocket.disconnect", "code": 1009}
        kind = message_kind(data)
        runs = FRAGMENT if kind == "fragment" else IMPATIENT if credit.page else 1
        seconds = credit.spend(runs)
        slowed = slowed + 1 if seconds else 0
        await asyncio.sleep(seconds)
        if kind == "rerun_script":
            await _page_before(credit)
        return event if is_open else {"type": "websocket.disconnect", "code": 1006}

    async def send_while_open(message: Message) -> None:
        """Streamlit goes on sending when the connection is closed; of an OSError it knows that it is."""
        nonlocal is_open
        if not is_open:
            raise OSError("The connection is closed.")
        try:
            await send(message)
        except OSError:
            is_open = False
            raise

    return next_message, send_while_open
