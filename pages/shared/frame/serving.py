"""The server around the app: what it does on startup, and routes that Streamlit does not have."""

import gc
import threading
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import cast

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route
from streamlit import cli_util, env_util, runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.web.server import server_util

from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.models import IMPORTING
from bertviz_core.models.checkpoint import DEMO, find
from pages.shared.frame import links
from pages.shared.frame.gate import Gate

# What the first page imports; torch and transformers are none of it.
FIRST_PAGE = ("plotly.graph_objects", "pages.shared.page", "pages.shared.views.overview_view")
# What pages import when they need it; a reader who opens the viewer would wait three seconds for the first two.
LATER = (
    "torch",
    "transformers.models.bert.modeling_bert",
    "plotly.express",
    "scipy.cluster.hierarchy",
    "scipy.spatial.distance",
    "sklearn.manifold",
)

REMEMBERED = 32  # sessions whose browsers may come back; each takes three file descriptors, and Streamlit keeps 128

first_page_served = threading.Event()


class Turns:
    """Lets a few threads in at once, in the order in which they came; none waits longer than `patience` seconds.

    Pages share one interpreter: of thirty at once each would take thirty times as long, the short ones too.
    """

    def __init__(self, count: int, patience: float) -> None:
        self._free, self._patience = count, patience
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        turn = threading.Event()
        with self._lock:
            self._free -= 1
            if self._free >= 0:
                return
            self._waiting.append(turn)
        if not turn.wait(self._patience):  # a page before it may be loading a large model
            with self._lock, suppress(ValueError):  # its turn may have come just now
                self._waiting.remove(turn)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._free += 1
            if self._waiting:
                self._waiting.popleft().set()


page_turns = Turns(2, patience=2.0)


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Open a browser, and import what the first page needs while the browser loads Streamlit's own code.

    The frame is to run at every address: a fresh server would run a file of the folder `pages` without it, Streamlit's
    older way, until the first visit to its start.
    """
    PagesManager.uses_pages_directory = False
    _remember_sessions(REMEMBERED)
    for work in (_get_ready, _import_later):
        threading.Thread(target=work, name=work.__name__, daemon=True).start()
    yield


def _remember_sessions(count: int) -> None:
    storage = MemorySessionStorage(count, st.get_option("server.disconnectedSessionTTL"))
    cast("WebsocketSessionManager", runtime.get_instance()._session_mgr)._session_storage = storage


def _get_ready() -> None:
    if not st.get_option("server.headless"):
        address = st.get_option("server.address") or st.get_option("browser.serverAddress")
        cli_util.open_browser(server_util.get_url(server_util.get_display_address(address)))
    for name in FIRST_PAGE:
        import_module(name)
    for analysis in ANALYSES.values():
        _ = analysis.result_class
    env_util.is_repl()  # asks for the file of every module, which is remembered; else the first visitor's script does
    find(DEMO).fingerprint()  # remembered


def _import_later() -> None:
    """Import what no first page should wait for; a page that needs it earlier imports it itself."""
    first_page_served.wait(10.0)  # seconds, in which the browser of somebody who has started the server is there
    for name in LATER:
        with IMPORTING:
            import_module(name)
    gc.freeze()  # modules: a full collection would look at all of them, and keep every reader waiting for half a second
    gc.set_threshold(5_000, 20, 20)  # from 700, 10, 10


def _to_default(request: Request) -> RedirectResponse:
    query = request.url.query
    return RedirectResponse(f"./?{query}" if query else "./")


# The default page's address is empty; with its own name Streamlit would show "Page not found".
ROUTES = (Route(f"/{links.DEFAULT.name}", _to_default),)
MIDDLEWARE = (Middleware(Gate),)
