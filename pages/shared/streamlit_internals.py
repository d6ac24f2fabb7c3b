"""Everything that the app uses of Streamlit beyond its documented interface, one name for each.

The next version of Streamlit may change any of it. tests/app/test_streamlit_internals.py has a test for each name here;
tests/test_imports.py fails where another module uses what is not documented. `TEST_IDS` are the parts of Streamlit's
pages that appearance.css styles; what JavaScript relies on is in components/streamlit_internals.js.
"""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import streamlit as st
from streamlit import net_util, runtime
from streamlit.delta_generator import DeltaGenerator
from streamlit.delta_generator_singletons import get_last_dg_added_to_context_stack
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

# Kinds of messages that a page sends. Others, such as `clear_cache`, would affect every reader, or list folders.
MESSAGES = {"rerun_script", "stop_script", "app_heartbeat", "file_urls_request", "backend_operation_request"}
OPERATIONS = {"deferred_file", "dataframe_chunk"}  # of a `backend_operation_request`
# Consecutive parts of paths that no page needs; the last three are for accounts, of which the app has none.
CLOSED = {("_stcore", "metrics"), ("_stcore", "agent"), ("auth", "login"), ("auth", "logout"), ("oauth2callback",)}
TEST_IDS = {  # `data-testid` in Streamlit's pages -> what appearance.css does with it
    "stMainBlockContainer": "the page: narrower margins, a smaller gap at its top",
    "stVerticalBlock": "containers: a smaller gap between their parts",
    "stColumn": "columns: the same",
    "stMain": "the page without the sidebar",
    "stAppViewContainer": "the page with the sidebar, whose place is kept until it arrives",
    "stSidebarHeader": "the head of the sidebar, lower",
    "stIconMaterial": "the arrow of the button in the line of words, hidden",
    "stAlert": "warnings: a margin under a line of choices",
    "stWidgetLabel": "labels of choices, which stand in the edge of their boxes",
    "stSelectbox": "boxes whose labels stand in their edge",
    "stNumberInput": "the same",
    "stTextInput": "lines of text, which begin on the side where their writing does",
    "InputInstructions": "Streamlit's hint in such a line, hidden where it would cover the sentence",
    "stButtonGroup": "segmented controls, as high as the boxes beside them",
    "stCaptionContainer": "captions, of more contrast",
    "stBaseButton-primary": "buttons whose text needs contrast on the dark theme's primary color",
    "stMultiSelect": "chosen options, likewise",
    "stMetric": "cards, whose values and notes wrap",
    "stSidebar": "the sidebar, hidden around a slide alone",
    "stHeader": "Streamlit's bar at the top, likewise",
    "stLayoutWrapper": "containers around the header's lines, likewise",
    "stElementContainer": "of a figure on a slide alone: its size",
    "stFullScreenFrame": "inside of it, the same",
    "stPlotlyChart": "inside of it, the same",
}


# The current run of the script.


def server_address(pages: Iterable[str]) -> str:
    """A script that tells the browser's part of Streamlit where the server is: above the address of one of these pages.

    Without it Streamlit first asks below that address, as if it were a folder, and the browser logs an error.
    """
    return f"""(() => {{
  const parts = location.pathname.replace(/\\/+$/, "").split("/");
  if ({json.dumps([*pages])}.includes(parts.at(-1))) parts.pop();
  window.__streamlit = {{ ...window.__streamlit, BACKEND_BASE_URL: location.origin + parts.join("/") }};
}})();"""


def is_history_navigation() -> bool:
    """Whether this run answers Back, Forward, or a link of a component that acts as they do."""
    return bool(getattr(get_script_run_ctx(), "is_history_navigation", False))


def is_fragment_run() -> bool:
    """Whether a fragment runs without the rest of its page."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


def browser_secret() -> str:
    """What Streamlit has given this browser, and no other, to send with its uploads; empty without. Its cookie has the
    secret under a mask, another one in each answer."""
    found = st.context.cookies.get(XSRF_COOKIE_NAME, "")
    secret, _ = decode_xsrf_token_string(found) if isinstance(found, str) else (None, None)  # a test has no browser
    return secret.hex() if secret else ""


def stop_of_run() -> Callable[[], bool]:
    """Whether this run of the script has been told to end, as it will at its next command: its reader has gone to
    another page, or has left."""
    requests = getattr(get_script_run_ctx(), "script_requests", None)
    return lambda: requests is not None and requests._state is ScriptRequestType.STOP


def innermost_container() -> DeltaGenerator | None:
    """The container of the innermost `with`, into which `st.` functions draw; None outside of all."""
    return get_last_dg_added_to_context_stack()


def is_in_popover(container: DeltaGenerator) -> bool:
    """Whether a container is a popover, or is inside one."""
    return "popover" in container._ancestor_block_types


# The server.


def run_app_at_every_address() -> None:
    """Have app.py run at the address of every page; else a file in pages/ is run alone until app.py has run once."""
    PagesManager.uses_pages_directory = False


def ask_no_network() -> None:
    """Have Streamlit not ask a public service for this machine's address: it would wait for it, in its event loop."""
    net_util.get_external_ip = lambda: None


def plotly_bundle() -> str | None:
    """The path, in the served application, of the 4.7 MB of JavaScript that draw a figure; None where it has moved."""
    static = Path(st.__file__).parent / "static"
    bundle = next(static.rglob("PlotlyChart.*.js"), None)
    return str(bundle.relative_to(static)) if bundle else None


def upload_session(method: str, path: str) -> str | None:
    """The id of the session to which a request sends a file; None for a request that sends none."""
    parts = path.split("/")
    return parts[-2] if method == "PUT" and "upload_file" in parts[:-2] else None


def uploaded_bytes() -> dict[str, int]:
    """Session -> bytes of the files of its uploaders, which Streamlit holds in memory."""
    files = runtime.get_instance().uploaded_file_mgr.file_storage  # type: ignore[attr-defined]
    return {owner: sum(len(file.data) for file in list(owned.values())) for owner, owned in list(files.items())}


def message_kind(data: bytes) -> str:
    """The kind of a message from a browser: one of MESSAGES, or "fragment" for a run of a fragment alone; empty for
    any other message, and for bytes that are none."""
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except Exception:  # Protobuf has errors of several kinds.
        return ""
    kind = message.WhichOneof("type") or ""
    if kind == "rerun_script" and message.rerun_script.fragment_id:
        return "fragment"
    if kind == "backend_operation_request":
        return kind if message.backend_operation_request.WhichOneof("payload") in OPERATIONS else ""
    return kind if kind in MESSAGES else ""
