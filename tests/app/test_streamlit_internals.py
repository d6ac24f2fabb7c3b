"""Each name that the app uses of Streamlit beyond its documented interface still does what the app expects of it."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit import net_util, runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.runtime_util import get_max_message_size_bytes
from streamlit.runtime.scriptrunner import ScriptRunContext
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest

from pages.shared import streamlit_internals
from tests.support.driving import ROOT

pytestmark = pytest.mark.slow

STATIC = Path(st.__file__).parent / "static"
APPEARANCE = ROOT / "pages/shared/frame/appearance.css"


def message(**fields: Any) -> bytes:
    """A message of a browser whose `rerun_script` has these fields."""
    sent = BackMsg()
    sent.rerun_script.SetInParent()
    for name, value in fields.items():
        setattr(sent.rerun_script, name, value)
    return sent.SerializeToString()


def test_a_run_knows_what_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not streamlit_internals.is_history_navigation() and not streamlit_internals.is_fragment_run()  # no run
    names = ScriptRunContext.__dataclass_fields__
    assert {"is_history_navigation", "fragment_ids_this_run"} <= set(names)
    for is_so in (True, False):
        context = SimpleNamespace(is_history_navigation=is_so, fragment_ids_this_run=["a"] if is_so else [])
        monkeypatch.setattr(streamlit_internals, "get_script_run_ctx", lambda context=context: context)
        assert streamlit_internals.is_history_navigation() is is_so
        assert streamlit_internals.is_fragment_run() is is_so


def test_the_secret_of_a_browser_is_its_cookie(monkeypatch: pytest.MonkeyPatch) -> None:
    assert streamlit_internals.browser_secret() == ""  # no run

    def secret_of(cookie: str) -> str:
        monkeypatch.setattr(st, "context", SimpleNamespace(cookies={"_streamlit_xsrf": cookie, "mine": "x"}))
        return streamlit_internals.browser_secret()

    # What one browser was sent at its first and at its second page, and another browser.
    of_one = {secret_of(f"2|{text}|1795966187") for text in ("715c6c45|95744a05c0b19dc9", "089fe199|ecb7c7d9b9721015")}
    assert len(of_one) == 1 and secret_of("2|00000000|0123456789abcdef|1795966187") not in of_one | {""}
    assert secret_of("") == secret_of("2|nonsense") == ""


def test_a_run_knows_that_it_is_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not streamlit_internals.stop_of_run()()  # no run
    assert "script_requests" in ScriptRunContext.__dataclass_fields__
    requests = ScriptRequests()
    monkeypatch.setattr(streamlit_internals, "get_script_run_ctx", lambda: SimpleNamespace(script_requests=requests))
    is_stopped = streamlit_internals.stop_of_run()
    assert not is_stopped()
    requests.request_stop()
    assert is_stopped()


def test_a_container_knows_whether_it_is_in_a_popover() -> None:
    def script() -> None:
        import streamlit as st

        from pages.shared.streamlit_internals import innermost_container, is_in_popover

        def where() -> str:
            container = innermost_container()
            return "outside" if container is None else str(is_in_popover(container))

        st.text(where())
        with st.container():
            st.text(where())
        with st.popover("More"):
            st.text(where())
            with st.container():
                st.text(where())

    texts = [text.value for text in AppTest.from_function(script).run().text]
    assert texts == ["outside", "False", "True", "True"]


def test_the_frame_runs_at_every_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    streamlit_internals.run_app_at_every_address()
    assert PagesManager.uses_pages_directory is False


def test_nobody_is_asked_for_this_machines_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(net_util, "get_external_ip", lambda: pytest.fail("asked"))
    streamlit_internals.ask_no_network()
    assert net_util.get_external_ip() is None


def test_the_script_knows_the_pages_below_which_nothing_is_to_be_asked_for() -> None:
    script = streamlit_internals.server_address(["reach", "entropy"])
    assert '["reach", "entropy"].includes(' in script and "BACKEND_BASE_URL: location.origin" in script


def test_plotlys_bundle_is_where_pages_load_it_from() -> None:
    bundle = streamlit_internals.plotly_bundle()
    assert bundle is not None and (STATIC / bundle).stat().st_size > 1_000_000


def test_a_file_on_its_way_names_its_session_and_has_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    (urls,) = manager.get_upload_urls("mine", ["a.txt"])
    assert streamlit_internals.upload_session("PUT", urls.upload_url) == "mine"
    assert streamlit_internals.upload_session("PUT", f"/base{urls.upload_url}") == "mine"
    assert streamlit_internals.upload_session("DELETE", urls.delete_url) is None
    assert streamlit_internals.upload_session("PUT", "/_stcore/health") is None
    for number in range(2):
        manager.add_file("mine", UploadedFileRec(str(number), "a.txt", "text/plain", b"12345"))
    monkeypatch.setattr(runtime, "get_instance", lambda: SimpleNamespace(uploaded_file_mgr=manager))
    assert streamlit_internals.uploaded_bytes() == {"mine": 10}


def test_a_message_has_a_kind() -> None:
    assert streamlit_internals.message_kind(message()) == "rerun_script"
    assert streamlit_internals.message_kind(message(fragment_id="part")) == "fragment"
    assert streamlit_internals.message_kind(BackMsg(clear_cache=True).SerializeToString()) == ""
    assert streamlit_internals.message_kind(b"no message") == streamlit_internals.message_kind(b"") == ""
    assert {each.name for each in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields} > streamlit_internals.MESSAGES
    operation = BackMsg()
    payloads = operation.backend_operation_request.DESCRIPTOR.oneofs_by_name["payload"].fields
    assert {each.name for each in payloads} >= streamlit_internals.OPERATIONS
    assert get_max_message_size_bytes() > 0


def test_the_style_sheet_uses_the_listed_parts_of_streamlits_pages_and_no_others() -> None:
    used = set(re.findall(r'data-testid="(\w+(?:-\w+)*)"', APPEARANCE.read_text()))
    assert used == set(streamlit_internals.TEST_IDS)
    scripts = "".join(path.read_text() for path in (STATIC / "static/js").glob("*.js"))
    for name in used:
        stem = "stBaseButton" if name.startswith("stBaseButton") else name  # followed by the kind of button
        assert f"{stem}" in scripts, name
