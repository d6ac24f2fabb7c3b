"""The server around the app: what it does on startup, and routes that Streamlit does not have."""

import gc
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from starlette.routing import Route
from streamlit import cli_util, env_util, runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.server import server_util

from bertviz_core.models.checkpoint import DEMO, find
from pages.shared.frame import links
from pages.shared.frame.gate import Gate

# Modules that pages import when they need them; whoever opens the viewer would wait 3 s for the first two.
LATER = (
    "bertviz_core.models.libraries",
    "transformers.models.bert.modeling_bert",
    "plotly.express",
    "scipy.cluster.hierarchy",
    "sklearn.manifold",
)

REMEMBERED = 32  # disconnected sessions: each takes three file descriptors, and Streamlit's default is 128
PATIENCE = 2.0  # seconds that a page waits for its turn: an earlier page may be loading a large model

first_page_served = threading.Event()
_turns = threading.Semaphore(2)


@contextmanager
def page_turn() -> Iterator[None]:
    """Wait at most PATIENCE seconds until fewer than two pages run: they share one interpreter."""
    has_turn = _turns.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        if has_turn:
            _turns.release()


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Open a browser, and prepare the first page while the browser loads Streamlit's own code."""
    PagesManager.uses_pages_directory = False  # else files in pages/ run without the frame until app.py has run once
    sessions: Any = runtime.get_instance()._session_mgr
    sessions._session_storage = MemorySessionStorage(REMEMBERED, st.get_option("server.disconnectedSessionTTL"))
    for work in (_get_ready, _import_later):
        threading.Thread(target=work, name=work.__name__, daemon=True).start()
    yield


def _get_ready() -> None:
    if not st.get_option("server.headless"):
        address = st.get_option("server.address") or st.get_option("browser.serverAddress")
        cli_util.open_browser(server_util.get_url(server_util.get_display_address(address)))
    env_util.is_repl()  # looks up the file of every module, once: the first page would wait for it
    # The digests of its files are cached.
    find(DEMO).fingerprint()


def _import_later() -> None:
    """Import what the first page should not wait for; a page that needs it earlier imports it itself."""
    first_page_served.wait(10.0)  # seconds, enough for the browser of whoever has started the server
    for name in LATER:
        import_module(name)
    gc.freeze()  # modules: a full collection of them would keep every reader waiting for half a second
    # The defaults are 700, 10, 10.
    gc.set_threshold(5_000, 20, 20)


# The default page's address is empty; with its own name Streamlit would show "Page not found".
ROUTES = (Route(f"/{links.DEFAULT.name}", lambda request: RedirectResponse(f"./?{request.url.query}".rstrip("?"))),)
MIDDLEWARE = (Middleware(Gate),)
