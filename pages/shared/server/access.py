"""Who may ask the server for what: pages of this server alone, and of Streamlit's protocol what its pages use."""

from itertools import pairwise

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.shared.streamlit_internals import CLOSED, message_kind, plotly_bundle

HEADERS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "frame-ancestors 'self'",
    # Addresses hold uploads' tokens.
    "referrer-policy": "same-origin",
}
PLOTLY = plotly_bundle()


class AccessRules:
    """Middleware that refuses pages of other sites, closed paths, and messages that no page sends.

    Attributes:
        app: What is behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            headers = Headers(scope=scope)
            if not _is_from_this_server(headers.get("origin"), headers.get("host")):
                await refuse(send)
                return
            receive = _known_messages(receive)
        elif scope["type"] == "http":
            send = _with_headers(scope["path"], send)
            parts = scope["path"].split("/")
            if CLOSED & {*pairwise(parts), *zip(parts, strict=True)}:
                await PlainTextResponse("Not found", 404)(scope, receive, send)
                return
        await self.app(scope, receive, send)


async def refuse(send: Send) -> None:
    """Refuse a websocket that is not open yet, which is answered with 403."""
    await send({"type": "websocket.close", "code": 1008})


def _is_from_this_server(origin: str | None, host: str | None) -> bool:
    """Whether a websocket is opened by a page of this server, or by a program that names no page; Streamlit itself
    checks that the host is allowed."""
    if origin is None or origin in (st.get_option("server.corsAllowedOrigins") or ()):
        return True
    return origin.partition("://")[2] == host


def _known_messages(receive: Receive) -> Receive:
    """The messages of one connection without those that no page sends."""

    async def known() -> Message:
        event = await receive()
        while event["type"] == "websocket.receive" and not message_kind(event.get("bytes") or b""):
            event = await receive()
        return event

    return known


def _with_headers(path: str, send: Send) -> Send:
    """Add HEADERS to answers; pages with plots, all but the overview, also have the browser load Plotly early."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            if PLOTLY and path != "/" and headers.get("content-type", "").startswith("text/html"):
                headers["link"] = f"<./{PLOTLY}>; rel=modulepreload"
        await send(message)

    return send_with_headers
