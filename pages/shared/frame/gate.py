"""Limits on what passes between the network and Streamlit: origins, sizes, rates and kinds of messages."""

import asyncio
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import net_util, runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from bertviz_core.corpora import upload_check
from bertviz_core.settings import Access, access_from_environment

# Messages that a page sends. Others, such as `clear_cache`, would affect every reader, or list the server's folder.
MESSAGES = {"rerun_script", "stop_script", "app_heartbeat", "file_urls_request", "backend_operation_request"}
OPERATIONS = {"deferred_file", "dataframe_chunk"}  # allowed in a `backend_operation_request`
CLOSED = {("_stcore", "metrics"), ("_stcore", "agent")}  # paths of Streamlit's that no page needs
LONGEST = 5_000_000  # bytes of a message on a public server: each has the pasted text
# Runs of a page that a connection may request on a public server.
RATE = 0.5  # per second
BURST = 20.0  # at once
FRAGMENT = 0.1  # of a run: a fragment's
SLOWED = 30  # delayed messages in a row, after which a connection is closed
PLOTLY = next((Path(st.__file__).parent / "static").rglob("PlotlyChart.*.js"), None)  # the 4.7 MB that draw a plot
HEADERS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "frame-ancestors 'self'",
    # Addresses hold uploads' tokens.
    "referrer-policy": "same-origin",
}
SESSIONS_IN_MEMORY = 10  # sessions whose full uploads, arriving or being checked, fit into memory together

net_util.get_external_ip = lambda: None  # Streamlit would wait for an answer from the internet


class Gate:
    """Middleware around Streamlit's application. It refuses pages of other sites, and counts the bytes of files and
    messages as they arrive, whatever their headers say."""

    def __init__(self, app: ASGIApp, access: Access | None = None) -> None:
        self.app = app
        self.access = access or access_from_environment()
        # session -> bytes of arriving files
        self.arriving: Counter[str] = Counter()
        self.connected = 0  # open websockets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._connect(scope, receive, send)
            return
        if scope["type"] == "http":
            path = scope["path"].split("/")
            send = _with_headers(scope["path"], send)
            if CLOSED & {*pairwise(path)}:
                await PlainTextResponse("Not found", 404)(scope, receive, send)
                return
            if scope["method"] == "PUT" and "upload_file" in path[:-2] and self.access.public:
                await self._take_file(path[-2], scope, receive, send)
                return
        await self.app(scope, receive, send)

    async def _take_file(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a file's bytes while it arrives, and end Streamlit's handler at the limit of its session or of all."""
        manager: Any = runtime.get_instance().uploaded_file_mgr
        count = 0

        async def counted() -> Message:
            nonlocal count
            message = await receive()
            size = len(message.get("body", b""))
            limit = self.access.session_uploads
            present = Counter(self.arriving)
            for owner, files in list(manager.file_storage.items()):
                present[owner] += sum(len(file.data) for file in list(files.values()))
            total = present.total() + upload_check.bytes_in_memory()
            if present[session] + size > limit or total + size > SESSIONS_IN_MEMORY * limit:
                raise HTTPException(413, "There is not enough space for this file.")
            count += size
            self.arriving[session] += size
            return message

        try:
            await self.app(scope, counted, send)
        except ClientDisconnect:
            # Nothing that belongs in the log.
            pass
        finally:
            self.arriving[session] -= count
            # Drops sessions at zero.
            self.arriving += Counter()

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        is_full = self.connected >= self.access.sessions
        if is_full or not _is_own(headers.get("origin"), headers.get("host")):
            await send({"type": "websocket.close", "code": 1008})  # answered with 403, as it is not open yet
            return
        self.connected += 1
        try:
            await self.app(scope, self._checked(receive, send), send)
        finally:
            self.connected -= 1

    def _checked(self, receive: Receive, send: Send) -> Receive:
        """The messages of one connection without those that no page sends; on a public server within limits."""
        credit = BURST
        before = time.monotonic()
        slowed = 0

        async def checked() -> Message:
            nonlocal credit, before, slowed
            while (event := await receive())["type"] == "websocket.receive":
                data = event.get("bytes") or b""
                if self.access.public and (len(data) > LONGEST or slowed > SLOWED):
                    await send({"type": "websocket.close", "code": 1009})
                    return {"type": "websocket.disconnect", "code": 1009}
                if (message := _parsed(data)) is None:
                    continue
                if self.access.public:
                    now = time.monotonic()
                    credit = min(BURST, credit + RATE * (now - before))
                    before = now
                    credit -= FRAGMENT if message.rerun_script.fragment_id else 1
                    slowed = slowed + 1 if credit < 0 else 0
                    await asyncio.sleep(max(0.0, -credit / RATE))
                break
            return event

        return checked


def _is_own(origin: str | None, host: str | None) -> bool:
    """Whether a request is from a page of this server, or from a program that names no page."""
    allowed = st.get_option("server.corsAllowedOrigins") or ()
    if not is_host_allowed(host):
        return False
    if origin is None or origin in allowed:
        return True
    return origin.partition("://")[2] == host


def _parsed(data: bytes) -> BackMsg | None:
    """A message that a page may send; None for any other, and for bytes that are no message."""
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except Exception:
        return None
    kind = message.WhichOneof("type")
    operation = message.backend_operation_request.WhichOneof("payload")
    is_known = operation in OPERATIONS if kind == "backend_operation_request" else kind in MESSAGES
    return message if is_known else None


def _with_headers(path: str, send: Send) -> Send:
    """Add HEADERS to answers; pages with plots, all but the overview, also have the browser load Plotly early."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            if PLOTLY and path != "/" and headers.get("content-type", "").startswith("text/html"):
                headers["link"] = f"<./static/js/{PLOTLY.name}>; rel=modulepreload"
        await send(message)

    return send_with_headers
