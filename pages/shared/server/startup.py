"""What the server does on startup, and what it passes to Streamlit: a route and the middlewares."""

import gc
import inspect
import threading
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module

import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from starlette.routing import Route

from bertviz_core.models.checkpoint import DEMO, find_checkpoint
from pages.shared import streamlit_internals
from pages.shared.frame import links
from pages.shared.server.access import AccessRules
from pages.shared.server.first_paint import FirstPaint
from pages.shared.server.limits import Limits

# Modules that pages import when they need them; whoever opens the viewer would wait 3 s for the first two.
LATER = (
    "bertviz_core.models.libraries",
    "transformers.models.bert.modeling_bert",
    "transformers.models.llama.modeling_llama",
    "plotly.express",
    "scipy.cluster.hierarchy",
    "sklearn.manifold",
)

first_page_served = threading.Event()


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Open a browser, and prepare the first page while the browser loads Streamlit's own code."""
    streamlit_internals.run_app_at_every_address()
    _allow_open_files()
    for work in (_get_ready, _import_later):
        threading.Thread(target=work, name=work.__name__, daemon=True).start()
    yield


def _allow_open_files() -> None:
    """Raise the limit of open files, often 1,024, to what the system allows: a session takes four, and three more for
    two minutes after its end."""
    with suppress(ImportError, OSError, ValueError):  # Windows has no such limit
        import resource

        _, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest, highest))


def _get_ready() -> None:
    if not st.get_option("server.headless"):
        webbrowser.open(_address())
    inspect.stack()  # The first call looks up the file of every module, for which the first page would wait.
    # The digests of its files are cached.
    find_checkpoint(DEMO).fingerprint()


def _address() -> str:
    """The address of this server for a browser on the same machine."""
    host = st.get_option("server.address") or st.get_option("browser.serverAddress")
    if host in ("0.0.0.0", "::"):  # every address of the machine
        host = "localhost"
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    path = (st.get_option("server.baseUrlPath") or "").strip("/")
    return f"{scheme}://{host}:{st.get_option('server.port')}/{path}".rstrip("/")


def _import_later() -> None:
    """Import what the first page should not wait for; a page that needs it earlier imports it itself."""
    first_page_served.wait(10.0)  # Ten seconds are enough for the browser of whoever has started the server.
    for name in LATER:
        import_module(name)
    # Modules are frozen, because a full collection of them would keep every reader waiting for half a second.
    gc.freeze()
    # The defaults are 700, 10, 10.
    gc.set_threshold(5_000, 20, 20)


streamlit_internals.ask_no_network()  # before Streamlit prints its addresses, which it does ahead of `lifespan`
# The default page's address is empty; with its own name Streamlit would show "Page not found".
ROUTES = (Route(f"/{links.DEFAULT.name}", lambda request: RedirectResponse(f"./?{request.url.query}".rstrip("?"))),)
MIDDLEWARE = (Middleware(AccessRules), Middleware(Limits), Middleware(FirstPaint))  # the first is the outermost
