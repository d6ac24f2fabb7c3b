"""The server around the app: what it does at its start, the addresses that Streamlit does not know, and around every
request the cookie that knows a browser again, and the room in memory for files on their way."""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Route
from streamlit import cli_util, runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.server import server_util

from bertviz_core.access import Access, from_environment
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.engine.uploads import TOKEN
from bertviz_core.import_lock import IMPORTING
from bertviz_core.models.checkpoint import DEMO, find
from pages.shared.frame import catalogue

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# What the first page imports; torch and transformers are none of it.
SHARED = ("page", "views.overview_view", "views.clearest_heads")
# What pages import when they need it.
LATER = ("plotly.express", "scipy.cluster.hierarchy", "scipy.spatial.distance", "sklearn.manifold")
FIRST_PAGE = ("plotly.graph_objects", *(f"pages.shared.{name}" for name in SHARED))

COOKIE = "bertviz_reader"
SECONDS = 30 * 86_400  # that the cookie lasts; renewed at every visit
READERS = 10  # as many full shares of files on their way fit into memory at once
first_page_served = threading.Event()


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Open a browser, and import what the first page needs while the browser loads Streamlit's own code.

    The frame is to run at every address: a fresh server would run a file of the folder `pages` without it, Streamlit's
    older way, until the first visit to its start.
    """
    PagesManager.uses_pages_directory = False
    for work in (_get_ready, _import_later):
        threading.Thread(target=work, name=work.__name__, daemon=True).start()
    yield


def _get_ready() -> None:
    if not st.get_option("server.headless"):
        address = st.get_option("server.address") or st.get_option("browser.serverAddress")
        cli_util.open_browser(server_util.get_url(server_util.get_display_address(address)))
    for name in FIRST_PAGE:
        import_module(name)
    for analysis in ANALYSES.values():
        _ = analysis.result_class
    find(DEMO).fingerprint()  # remembered


def _import_later() -> None:
    """Import what no first page should wait for; a page that needs it earlier imports it itself."""
    first_page_served.wait()
    for name in LATER:
        with IMPORTING:
            import_module(name)


def _to_default(request: Request) -> RedirectResponse:
    query = request.url.query
    return RedirectResponse(f"./?{query}" if query else "./")


class OwnerCookie:
    """Middleware that gives every browser a random secret with the page, so that its reader still owns earlier uploads
    after a reload or in a new tab; scripts in the page cannot read it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on; add the cookie to HTML pages."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        cookie = _cookie(Request(scope))

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    headers.append("set-cookie", cookie)
                    headers["cache-control"] = "no-store"  # no proxy may give one reader's cookie to another
                    headers["referrer-policy"] = "same-origin"  # addresses hold uploads' tokens
            await send(message)

        await self.app(scope, receive, send_with_cookie)


def _cookie(request: Request) -> str:
    """The value of Set-Cookie: the browser's own secret again, or a new one."""
    secret = request.cookies.get(COOKIE, "")
    if not TOKEN.fullmatch(secret):
        secret = secrets.token_urlsafe(32)
    https = "https" in (request.url.scheme, request.headers.get("x-forwarded-proto"))
    return f"{COOKIE}={secret}; Path=/; Max-Age={SECONDS}; HttpOnly; SameSite=Lax{'; Secure' if https else ''}"


class UploadQuota:
    """Middleware that refuses a file past the room of its session, or of all sessions, before it is read: Streamlit
    bounds one file, but not how many a session sends."""

    def __init__(self, app: ASGIApp, access: Access | None = None) -> None:
        self.app, self.access = app, access or from_environment()
        self.arriving: Counter[str] = Counter()  # session -> bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on but files for which there is no room."""
        parts = scope.get("path", "").split("/")
        if scope["type"] != "http" or scope["method"] not in ("PUT", "POST") or "upload_file" not in parts[:-2]:
            await self.app(scope, receive, send)
            return
        session, size = parts[-2], _size(scope)
        if size is None:
            await PlainTextResponse("A file needs a Content-Length.", 411)(scope, receive, send)
        elif not self._fits(session, size):
            await PlainTextResponse("There is not enough space for this file.", 413)(scope, receive, send)
        else:
            self.arriving[session] += size
            try:
                await self.app(scope, receive, send)
            finally:
                self.arriving[session] -= size
                self.arriving += Counter()  # forgets sessions at zero

    def _fits(self, session: str, size: int) -> bool:
        present = in_memory()
        own = present[session] + self.arriving[session] + size
        total = present.total() + self.arriving.total() + size
        return own <= self.access.reader_uploads and total <= READERS * self.access.reader_uploads


def in_memory() -> Counter[str]:
    """Session -> bytes of the files that Streamlit holds for it."""
    manager = runtime.get_instance().uploaded_file_mgr
    if not isinstance(manager, MemoryUploadedFileManager):
        return Counter()
    sessions = list(manager.file_storage.items())
    return Counter({session: sum(len(file.data) for file in list(files.values())) for session, files in sessions})


def _size(scope: Scope) -> int | None:
    value = dict(scope["headers"]).get(b"content-length", b"")
    return int(value) if value.isdigit() and len(value) < 16 else None


# The default page's address is empty; with its own name Streamlit would show "Page not found".
ROUTES = (Route(f"/{catalogue.DEFAULT.name}", _to_default),)
MIDDLEWARE = (Middleware(OwnerCookie), Middleware(UploadQuota))
