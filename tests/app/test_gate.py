"""What a real server refuses of strangers: foreign pages, Streamlit's own messages, floods, files without an end; and
the networks that it does not ask."""

import asyncio
import gzip
import http.client
import json
import shutil
import socket
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode, urlsplit

import pytest
from safetensors.torch import load_file
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from bertviz_core.settings import Access
from pages.shared.server import connection, credit, limits
from pages.shared.server.access import AccessRules
from pages.shared.streamlit_internals import MESSAGES, message_kind
from tests.support import chromium as browser
from tests.support.visitors import Visitor, visitor

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[1] / "support" / "closed_tab_page.py"
# In place of the resolver: it writes down which names a server asks for, and takes its time.
RESOLVER = """
import os, socket, time
real = socket.getaddrinfo
def ask(host, *more, **options):
    if host not in ("localhost", "127.0.0.1", "::1", None):
        open(os.environ["ASKED"], "a").write(f"{host}\\n")
        time.sleep(20)
    return real(host, *more, **options)
socket.getaddrinfo = ask
"""


@pytest.fixture(scope="module")
def address(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a public server whose resolver writes to the file `asked` beside its store; one of its models has an index
    that names a device."""
    folder = tmp_path_factory.mktemp("gate")
    (folder / "sitecustomize.py").write_text(RESOLVER)
    model = shutil.copytree(tiny_folder, folder / "models" / "endless")
    weights = load_file(model / "model.safetensors")
    (model / "model.safetensors").unlink()
    index = {"metadata": {}, "weight_map": dict.fromkeys(weights, "/dev/zero")}
    (model / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERTVIZ_PUBLIC", "1")
        patch.setenv("ASKED", str(folder / "asked"))
        patch.setenv("BERTVIZ_MODELS", str(folder / "models"))
        with browser.served(folder / "store", python_path=f"{folder}:{browser.ROOT}") as url:
            yield url
    assert not (folder / "asked").exists(), (folder / "asked").read_text()


def answer(address: str, method: str, path: str, **more: object) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
    connection.request(method, path, **more)
    response = connection.getresponse()
    return response, response.read()


def test_another_sites_page_opens_no_connection_and_stops_nobody(address: str) -> None:
    began = time.monotonic()
    host = urlsplit(address).netloc
    for origin in ("http://evil.example", "null", f"http://evil.example@{host}", f"http://{host}.evil.example"):
        with pytest.raises(InvalidStatus) as refused:
            connect(f"ws://{host}/_stcore/stream", origin=origin, subprotocols=["streamlit"])
        assert refused.value.response.status_code == 403
    assert answer(address, "GET", "/_stcore/health")[1] == b"ok"
    assert time.monotonic() - began < 10


def test_pages_may_be_framed_by_nobody_else_and_metrics_are_closed(address: str) -> None:
    for path in ("/", "/_stcore/health", "/nothing"):
        response, _ = answer(address, "GET", path)
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["content-security-policy"] == "frame-ancestors 'self'"
        assert not any("bertviz" in cookie for cookie in response.headers.get_all("set-cookie") or [])
    for path in ("/_stcore/metrics", "/_stcore/agent/openapi.json", "/_stcore/agent/mcp"):
        assert answer(address, "GET", path)[0].status == 404


@pytest.mark.parametrize("fetch_site", ["same-origin", None])
def test_sites_that_are_named_may_frame_pages_with_cookies_that_browsers_keep_in_frames(fetch_site: str | None) -> None:
    async def page(scope, receive, send) -> None:
        answer = PlainTextResponse("ok")
        answer.set_cookie("a", "1", samesite="lax")
        await answer(scope, receive, send)

    headers = {} if fetch_site is None else {"sec-fetch-site": fetch_site}
    access = Access(frame_ancestors=("https://a.example", "https://*.b.example"))
    response = TestClient(AccessRules(page, access)).get("/", headers=headers)
    expected = "frame-ancestors 'self' https://a.example https://*.b.example"
    assert response.headers["content-security-policy"] == expected
    # A browser without this header would not take secure cookies from here.
    attributes = "; SameSite=None; Secure; Partitioned" if fetch_site else "; SameSite=lax"
    assert response.headers["set-cookie"] == f"a=1; Path=/{attributes}"
    plain = TestClient(AccessRules(page, Access())).get("/", headers=headers)
    assert plain.headers["set-cookie"] == "a=1; Path=/; SameSite=lax"


def test_every_page_but_the_first_has_plotly_loaded_ahead(address: str) -> None:
    link = answer(address, "GET", "/entropy")[0].headers["link"]
    address_of_plotly, _, rest = link.removeprefix("<.").partition(">")
    assert rest == "; rel=modulepreload" and len(answer(address, "GET", address_of_plotly)[1]) > 1_000_000
    assert "link" not in answer(address, "GET", "/")[0].headers
    assert "link" not in answer(address, "GET", "/_stcore/health")[0].headers


def send(reader: Visitor, **fields: object) -> None:
    message = BackMsg()
    for name, value in fields.items():
        setattr(message, name, value)
    reader._socket.send(message.SerializeToString())


def test_no_client_takes_the_jobs_of_others_by_emptying_caches(tmp_path: Path) -> None:
    """A server without rules and limits: no service is in Streamlit's caches."""
    with browser.served(tmp_path / "store", PAGE) as address, visitor(address) as owner, visitor(address) as other:
        assert "1 mine, 1 in all" in owner.open(ask="one").text
        other.open()
        send(other, clear_cache=True)
        assert "0 mine, 1 in all" in other.look().text
        with visitor(address) as third:
            assert "1 mine, 2 in all" in third.open(ask="two").text
        assert "1 mine, 2 in all" in owner.look().text


def gated(access: Access) -> tuple[partial, list[bytes]]:
    """What connects to an application behind the rules and limits, and the messages that pass."""
    passed: list[bytes] = []

    async def note(scope, receive, send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (event := await receive())["type"] == "websocket.receive":
            passed.append(event["bytes"])

    client = TestClient(AccessRules(limits.Limits(note, access)))
    return partial(client.websocket_connect, "/_stcore/stream", headers={"host": "localhost"}), passed


def test_what_no_page_sends_does_not_pass() -> None:
    connected, messages = gated(Access())
    names = [each.name for each in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields]
    with connected() as s:
        for name in names:
            message = BackMsg()
            field = getattr(message, name)
            setattr(message, name, field) if not hasattr(field, "SetInParent") else field.SetInParent()
            s.send_bytes(message.SerializeToString())
        for name in ("deferred_file", "install_skills"):
            message = BackMsg()
            getattr(message.backend_operation_request, name).SetInParent()
            s.send_bytes(message.SerializeToString())
        s.send_bytes(b"no message")
    passed = [message_kind(message) for message in messages]
    assert set(passed) == MESSAGES < set(names) and "clear_cache" in names
    assert passed.count("backend_operation_request") == 1  # it asked for nothing that no page asks for


def rerun(characters: int = 0) -> bytes:
    message = BackMsg()
    message.rerun_script.query_string = "y" * characters
    return message.SerializeToString()


@pytest.mark.parametrize("message", [rerun(), rerun(connection.MAX_MESSAGE_BYTES + 1)], ids=["flood", "huge"])
def test_a_strangers_flood_ends_as_a_huge_message_does(message: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    connected, passed = gated(Access(public=True))
    monkeypatch.setattr(connection, "UNDISTURBED_S", 0.0)
    with connected() as socket:
        for _ in range(100):
            socket.send_bytes(message)
        assert socket.receive()["code"] == 1009
    assert len(passed) <= credit.BURST and set(passed) <= {rerun()}


def passed_at_once(events: list[dict[str, object]], own: credit.Credit) -> list[dict[str, object]]:
    """What passes of these events of a connection within a fifth of a second."""
    passed: list[dict[str, object]] = []

    async def arrive() -> dict[str, object]:
        return events.pop(0) if events else await asyncio.Event().wait()

    async def take() -> None:
        each = connection.Connection(arrive, None, own)
        reading = asyncio.create_task(each.read())
        while not passed or passed[-1]["type"] == "websocket.receive":
            passed.append(await each.next())
        reading.cancel()

    async def take_for_a_while() -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(take(), 0.2)

    asyncio.run(take_for_a_while())
    return passed


def test_requests_beyond_the_credit_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "UNDISTURBED_S", 0.0)
    monkeypatch.setattr(connection, "UNDISTURBED_HASTY_S", 0.0)
    monkeypatch.setattr(connection, "IMPATIENT", 1)
    request = {"type": "websocket.receive", "bytes": rerun()}
    assert len(passed_at_once([request] * 25, credit.Credit())) == credit.BURST


def test_who_leaves_is_gone_at_once_with_all_that_waited() -> None:
    own = credit.Credit()
    own.spend(credit.BURST)
    request = {"type": "websocket.receive", "bytes": rerun()}
    end = {"type": "websocket.disconnect", "code": 1001}
    assert passed_at_once([request, request, end], own) == [end]


def test_a_request_waits_for_the_page_before_it_but_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    own = credit.Credit()
    monkeypatch.setattr(connection, "UNDISTURBED_HASTY_S", 1.5)

    async def seconds_of_request(seconds_of_page: float) -> float:
        asyncio.get_running_loop().call_later(seconds_of_page, setattr, own, "page", None)
        began = time.monotonic()
        await connection.Connection(None, None, own)._page_before()
        assert own.page
        return time.monotonic() - began

    assert asyncio.run(seconds_of_request(10.0)) < 0.1  # the first request waits for nothing
    assert 0.2 < asyncio.run(seconds_of_request(0.2)) < 0.8
    assert connection.UNDISTURBED_S < asyncio.run(seconds_of_request(10.0)) < 1.4
    own.spend(credit.BURST)
    assert asyncio.run(seconds_of_request(10.0)) > 1.5  # a hasty reader's


def test_the_page_of_a_connection_is_the_last_that_was_requested(monkeypatch: pytest.MonkeyPatch) -> None:
    credits_of_all = credit.Credits()
    with credits_of_all.connection({"client": ("10.0.0.1", 1), "headers": []}) as (own, scope):
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        monkeypatch.setattr(credit, "st", SimpleNamespace(context=SimpleNamespace(headers=headers)))
        with credits_of_all.page() as share:
            own.spend(5)
            assert share() < 0.8 and own.page
        assert own.page is None
        with credits_of_all.page():
            newer = own.page = object()  # its reader has asked for another one meanwhile
        assert own.page is newer


def test_who_connects_again_has_no_new_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(credit, "time", SimpleNamespace(monotonic=lambda: now))
    credits_of_all = credit.Credits()

    def connect(address: str, runs: int) -> float:
        """Connect, ask for so many runs, and leave; the runs that there were at first."""
        with credits_of_all.connection({"client": (address, 1), "headers": [(b"bertviz-connection", b"forged")]}) as (
            own,
            scope,
        ):
            assert [value for name, value in scope["headers"] if name == b"bertviz-connection"] != [b"forged"]
            before = own.left()
            own.spend(runs)
            return before

    assert connect("10.0.0.1", 20) == credit.BURST
    assert connect("10.0.0.1", 0) == 0
    assert connect("10.0.0.2", 0) == credit.BURST  # of another address
    now = 10.0
    assert connect("10.0.0.1", 3) == 10 * credit.RATE
    now = 100.0
    assert connect("10.0.0.1", 0) == credit.BURST and not credits_of_all._left_behind["10.0.0.2"]
    assert connect("2001:db8::1", 20) == credit.BURST and connect("2001:db8::2", 0) == 0  # one machine has all of these


def test_who_leaves_again_and_again_owes_few_runs_and_leaves_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credit, "time", SimpleNamespace(monotonic=lambda: 0.0))
    credits_of_all = credit.Credits()
    for _ in range(20):
        with credits_of_all.connection({"client": ("10.0.0.1", 1), "headers": []}) as (own, _scope):
            own.spend(5)
            own.page = object()
    assert own.left() == -credit.MAX_DEBT and own.page is None


def test_hasty_readers_pages_begin_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "UNDISTURBED_HASTY_S", 0.3)

    async def request(own: credit.Credit) -> bool:
        """Whether it waited."""
        began = time.monotonic()
        await connection.Connection(None, None, own)._page_before()
        return time.monotonic() - began > 0.2

    async def requests() -> list[bool]:
        with ExitStack() as stack:
            scope = {"client": ("10.0.0.1", 1), "headers": []}
            readers = [stack.enter_context(credit.credits_of_server.connection(scope))[0] for _ in range(5)]
            for reader in readers[:4]:
                reader.spend(credit.BURST)
            return [await request(reader) for reader in readers]

    assert asyncio.run(requests()) == [False, True, True, True, False]


def test_readers_behind_one_router_are_not_slowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty of them who each open ten pages, and then come back once more."""
    now = 0.0
    monkeypatch.setattr(credit, "time", SimpleNamespace(monotonic=lambda: now))
    credits_of_all = credit.Credits()
    for _ in range(2):
        with ExitStack() as stack:
            scope = {"client": ("10.0.0.1", 1), "headers": []}
            readers = [stack.enter_context(credits_of_all.connection(scope))[0] for _ in range(30)]
            for _page in range(10):
                now += 8
                assert not any(reader.spend(1) for reader in readers)
                assert not any(reader.is_hasty for reader in readers)


def test_paths_of_accounts_are_closed(address: str) -> None:
    for path in ("/oauth2callback", "/auth/login", "/auth/logout"):
        assert answer(address, "GET", path)[0].status == 404


def test_a_connection_that_is_closed_for_its_flood_leaves_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTVIZ_PUBLIC", "1")
    with browser.served(tmp_path / "store") as url:
        uri = f"ws://{urlsplit(url).netloc}/_stcore/stream"
        for is_aborted in (False, True, True):
            with connect(uri, origin=url, subprotocols=["streamlit"]) as stranger:
                for _ in range(60):
                    stranger.send(rerun())
                if is_aborted:
                    stranger.socket.shutdown(socket.SHUT_RDWR)
                time.sleep(3)
    log = (tmp_path / "server.log").read_text()
    assert "Traceback" not in log, log


def test_a_message_that_never_ends_is_refused_where_it_begins(address: str) -> None:
    uri = f"ws://{urlsplit(address).netloc}/_stcore/stream"
    with (
        connect(uri, origin=address, subprotocols=["streamlit"]) as stranger,
        pytest.raises(ConnectionClosed) as closed,
    ):
        stranger.socket.sendall(b"\x82\xff" + (60_000_000).to_bytes(8) + bytes(4))  # the header of a frame, as RFC 6455
        stranger.recv(timeout=20)
    assert closed.value.rcvd.code == 1009


def test_only_so_many_connections_are_open() -> None:
    connected, _ = gated(Access(sessions=2))
    for _ in range(2):
        with connected(), connected(), pytest.raises(WebSocketDisconnect), connected():
            pass


def put(address: str, session: str, megabytes: int) -> bytes:
    """Send a file in chunks, with a Content-Length that lies; gives the status line."""
    url = urlsplit(address)
    cookies = answer(address, "GET", "/_stcore/health")[0].headers.get_all("set-cookie") or []
    token = next(cookie.split("=", 1)[1].split(";")[0] for cookie in cookies if cookie.startswith("_streamlit_xsrf"))
    head = (
        f"PUT /_stcore/upload_file/{session}/{uuid.uuid4()} HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Length: 5\r\n"
        "Transfer-Encoding: chunked\r\nContent-Type: multipart/form-data; boundary=xx\r\n"
        f"Cookie: _streamlit_xsrf={token}\r\nX-Xsrftoken: {token}\r\n\r\n"
    )
    part = b'--xx\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    with socket.create_connection((url.hostname, url.port), timeout=30) as connection:
        try:
            connection.sendall(head.encode())
            for piece in (part, *[b"a" * (1 << 20)] * megabytes, b"\r\n--xx--\r\n"):
                connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            connection.sendall(b"0\r\n\r\n")
        except OSError:  # it answers before the end
            pass
        return connection.recv(200).partition(b"\r\n")[0]


def test_files_are_counted_as_they_arrive(address: str) -> None:
    with visitor(address) as reader:
        reader.open("entropy")
        answers = [put(address, reader.session, megabytes).split()[1] for megabytes in (40, 40, 40, 10)]
        assert answers == [b"204", b"204", b"413", b"204"]


def test_an_upload_that_the_browser_reports_twice_is_one(address: str) -> None:
    """A run may begin before the browser knows that the panel with the uploads is closed."""
    with visitor(address) as reader:
        reader.open("surface_patterns")
        for run in (reader.upload("mine.txt", b"The cat sat on the mat.\n"), reader.again()):
            assert "mine.txt" in run.text and not run.exceptions


def test_an_index_of_weights_that_names_a_device_is_refused(address: str) -> None:
    with visitor(address) as reader:
        run = reader.open("attention_viewer", model="endless")
        assert "names weights that are not safetensors files in the folder" in run.text and not run.exceptions


def test_a_file_without_an_end_keeps_nobody_else_waiting(address: str) -> None:
    packed = gzip.compress(b"a\n" * (1 << 19)) * 200  # takes a minute to read
    with visitor(address) as reader, visitor(address) as stranger, ThreadPoolExecutor(1) as pool:
        reader.open("entropy")
        stranger.open("surface_patterns")
        upload = pool.submit(stranger.upload, "endless.txt", packed)
        for head in range(1, 9):
            assert not reader.open("entropy", head=f"1-{head}").exceptions
        assert not upload.done()
        assert "seconds of a core" in upload.result().text


@pytest.mark.skipif(not browser.CHROMIUM, reason="needs Chromium")
def test_an_address_in_a_link_becomes_no_link(address: str) -> None:
    links = "[...document.querySelectorAll('[data-testid=stAlert] a')].map(a => a.href)"
    with browser.browser() as chromium:
        names = {"seed": "https://evil.example/login", "limit": "www.evil.example", "corpus": "help@evil.example"}
        page = browser.open_page(chromium, f"{address}/entropy?{urlencode(names)}")
        page.wait_for_selector("[data-testid=stAlert]")
        warnings = "".join(page.locator("[data-testid=stAlert]").all_inner_texts())
        assert warnings.count("evil.example") == len(names) and page.evaluate(links) == []
