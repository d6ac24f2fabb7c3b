"""How much may pass between the network and Streamlit: connections, and on a public server files and messages."""

import asyncio
from collections import Counter

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bertviz_core.corpora import upload_check
from bertviz_core.settings import Access, access_from_environment
from pages.shared.server.access import refuse
from pages.shared.server.connection import Connection
from pages.shared.server.credit import credits_of_server
from pages.shared.streamlit_internals import upload_session, uploaded_bytes

SESSIONS_IN_MEMORY = 10  # sessions whose full uploads, arriving or being checked, fit into memory together


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
                await self._connect_stranger(scope, receive, send)
            else:
                await self.app(scope, receive, send)
        finally:
            self.connected -= 1

    async def _connect_stranger(self, scope: Scope, receive: Receive, send: Send) -> None:
        with credits_of_server.connection(scope) as (credit, named):
            connection = Connection(receive, send, credit)
            reading = asyncio.create_task(connection.read())
            try:
                await self.app(named, connection.next, connection.send)
            finally:
                reading.cancel()

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
