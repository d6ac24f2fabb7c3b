"""The server around the app: what it does on startup, and routes that Streamlit does not have."""

import gc
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from typing import cast

import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from starlette.routing import Route
from streamlit import cli_util, env_util, runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.web.server import server_util

from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.models.checkpoint import DEMO, find
from pages.shared.frame import links
from pages.shared.frame.gate import Gate

# What the first page imports; torch and transformers are none of it.
FIRST_PAGE = (
    "plotly.graph_objects",
    "pages.shared.frame.header",
    "pages.shared.views.compare_view",
    "pages.shared.views.viewer_input",
    "pages.shared.views.opening",
    "pages.shared.head_panel",
    "pages.shared.endnotes",
    "bertviz_core.paper_report.pages",
)
# What pages import when they need it; a reader who opens the viewer would wait three seconds for the first two.
LATER = (
    "bertviz_core.models.libraries",
    "transformers.models.bert.modeling_bert",
    "plotly.express",
    "scipy.cluster.hierarchy",
    "scipy.spatial.distance",
    "sklearn.manifold",
)

REMEMBERED = 32  # sessions whose browsers may come back; each takes three file descriptors, and Streamlit keeps 128
PATIENCE = 2.0  # seconds that a page waits: one before it may be loading a large model

first_page_served = threading.Event()
_turns = threading.Semaphore(2)


@contextmanager
def page_turn() -> Iterator[None]:
    """A page's turn, after those that came before it: pages share one interpreter, and of thirty at once each would
    take thirty times as long, the short ones too."""
    is_mine = _turns.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        if is_mine:
            _turns.release()


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Open a browser, and import what the first page needs while the browser loads Streamlit's own code."""
    PagesManager.uses_pages_directory = False  # else files in `pages` run without the frame until a visit to the start
    sessions = cast("WebsocketSessionManager", runtime.get_instance()._session_mgr)
    sessions._session_storage = MemorySessionStorage(REMEMBERED, st.get_option("server.disconnectedSessionTTL"))
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
    env_util.is_repl()  # asks for the file of every module, which is remembered; else the first visitor's script does
    find(DEMO).fingerprint()  # remembered


def _import_later() -> None:
    """Import what no first page should wait for; a page that needs it earlier imports it itself."""
    first_page_served.wait(10.0)  # seconds, in which the browser of somebody who has started the server is there
    for name in LATER:
        import_module(name)
    gc.freeze()  # modules: a full collection would look at all of them, and keep every reader waiting for half a second
    gc.set_threshold(5_000, 20, 20)  # from 700, 10, 10


# The default page's address is empty; with its own name Streamlit would show "Page not found".
ROUTES = (Route(f"/{links.DEFAULT.name}", lambda request: RedirectResponse(f"./?{request.url.query}".rstrip("?"))),)
MIDDLEWARE = (Middleware(Gate),)
