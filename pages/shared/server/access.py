"""Who may ask the server for what: pages of this server alone, and of Streamlit's protocol what its pages use."""

from collections.abc import Sequence
from itertools import pairwise

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bertviz_core.settings import Access, access_from_environment
from pages.shared.streamlit_internals import CLOSED, message_kind, plotly_bundle

HEADERS = {
    "x-content-type-options": "nosniff",
    # Addresses hold uploads' tokens.
    "referrer-policy": "same-origin",
}
PLOTLY = plotly_bundle()


class AccessRules:
    """Middleware that refuses pages of other sites, closed paths, and messages that no page sends.

    Attributes:
        app: What is behind it.
        frame_ancestors: The origins of other sites that may show the app in a frame.
    """

    def __init__(self, app: ASGIApp, access: Access | None = None) -> None:
        self.app = app
        self.frame_ancestors = (access or access_from_environment()).frame_ancestors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            headers = Headers(scope=scope)
            if not _is_from_this_server(headers.get("origin"), headers.get("host")):
                await refuse(send)
                return
            receive = _known_messages(receive)
        elif scope["type"] == "http":
            send = _with_headers(scope["path"], send, self.frame_ancestors)
            # Browsers send this header only where they also take secure cookies: over HTTPS, and on their own machine.
            if self.frame_ancestors and "sec-fetch-site" in Headers(scope=scope):
                send = _with_cookies_in_frames(send)
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


def _with_headers(path: str, send: Send, frame_ancestors: Sequence[str]) -> Send:
    """Add HEADERS, and who may frame a page, to answers; pages with plots, all but the overview, also have the browser
    load Plotly early."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers["content-security-policy"] = " ".join(("frame-ancestors 'self'", *frame_ancestors))
            if PLOTLY and path != "/" and headers.get("content-type", "").startswith("text/html"):
                headers["link"] = f"<./{PLOTLY}>; rel=modulepreload"
        await send(message)

    return send_with_headers


def _with_cookies_in_frames(send: Send) -> Send:
    """Have browsers keep the cookies of answers in frames of other sites too, for each of these sites apart: Streamlit
    takes an upload only with its cookie."""

    async def send_with_cookies(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [
                (name, _in_frames(value) if name.lower() == b"set-cookie" else value)
                for name, value in message["headers"]
            ]
        await send(message)

    return send_with_cookies


def _in_frames(cookie: bytes) -> bytes:
    """A value of Set-Cookie, for frames."""
    pair, *attributes = cookie.split(b"; ")
    others = [each for each in attributes if not each.lower().startswith((b"samesite", b"secure", b"partitioned"))]
    return b"; ".join((pair, *others, b"SameSite=None", b"Secure", b"Partitioned"))
