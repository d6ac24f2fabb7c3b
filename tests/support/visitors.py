"""Visitors over Streamlit's own websocket: a browser's messages without a browser, many at once for little."""

import random
import time
import urllib.request
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from streamlit.proto.AutoRerun_pb2 import AutoRerun
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileUploaderState, FileURLs, UploadedFileInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from pages.shared.frame import PANEL

TIMEOUT = 300.0  # seconds until the next message at most


@dataclass
class Run:
    """What one run of the script sent.   seconds: from the question to the end of the script."""

    seconds: float = 0.0
    bytes: int = 0
    messages: int = 0
    elements: list[Any] = field(default_factory=list)

    def of(self, kind: str) -> list[Any]:
        """The elements of one type, by Streamlit's own name for it."""
        return [getattr(element, kind) for element in self.elements if element.WhichOneof("type") == kind]

    @property
    def exceptions(self) -> list[str]:
        """Streamlit's error boxes."""
        return [exception.message for exception in self.of("exception")]

    @property
    def text(self) -> str:
        """Every element, as protobuf prints it, without the backslashes that keep markdown plain."""
        return "\n".join(map(str, self.elements)).replace("\\", "")


@dataclass
class Visit:
    """What one visitor of a crowd met: the seconds of each page, Streamlit's error boxes, errors of the connection."""

    seconds: list[float] = field(default_factory=list)
    boxes: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class Visitor:
    """One session: a page at a time, its widgets changed as a browser would."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._query = self._hash = ""
        self._change = BackMsg()
        self._rerun = AutoRerun()  # the part of the page that the browser runs again and again
        self.widgets: dict[str, Any] = {}  # a widget's key, or label, -> its element
        self.session = ""  # its id

    def open(self, page: str = "", **query: str) -> Run:
        """Go to a page by its name, as with an address typed."""
        self._query, self._hash = "&".join(f"{name}={value}" for name, value in query.items()), ""
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.is_history_navigation = True  # the address counts, not the session's choices
        return self._ask(message)

    def set(self, key: str, **value: Any) -> Run:
        """Change a widget: `set("head", string_value="2-3")`."""
        message = BackMsg()
        message.rerun_script.page_script_hash = self._hash
        message.rerun_script.widget_states.widgets.add(id=self.widgets[key].id, **value)
        self._change = message
        return self._ask(message)

    def again(self) -> Run:
        """The last change of a widget once more."""
        return self._ask(self._change)

    def press(self, label: str) -> Run:
        """Press a button by its label or key."""
        return self.set(label, trigger_value=True)

    def upload(self, name: str, data: bytes) -> Run:
        """Upload a corpus in the panel of the header; gives the run that has its outcome."""
        self.set(PANEL, bool_value=True)
        file = str(uuid.uuid4())
        path = f"/_stcore/upload_file/{self.session}/{file}"
        self._put(path, name, data)
        info = UploadedFileInfo(file_id=file, name=name, size=len(data))
        info.file_urls.CopyFrom(FileURLs(file_id=file, upload_url=path, delete_url=path))
        uploader = next(key for key in reversed(self.widgets) if key.startswith("uploader "))
        run = self.set(uploader, file_uploader_state_value=FileUploaderState(uploaded_file_info=[info]))
        while "Checking “" in run.text:
            time.sleep(self._rerun.interval)
            run = self.look(self._rerun.fragment_id)
        return run

    def _put(self, path: str, name: str, data: bytes) -> None:
        address = f"http://{self._socket.request.headers['Host']}"  # type: ignore[union-attr]
        with urllib.request.urlopen(f"{address}/_stcore/health") as answer:
            cookie = next(each for each in answer.headers.get_all("set-cookie") if each.startswith("_streamlit_xsrf"))
        head = f'--xx\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
        headers = {
            "Content-Type": "multipart/form-data; boundary=xx",
            "Cookie": cookie.partition(";")[0],
            "X-Xsrftoken": cookie.partition(";")[0].partition("=")[2],
        }
        body = head + data + b"\r\n--xx--\r\n"
        urllib.request.urlopen(urllib.request.Request(address + path, body, headers, method="PUT")).close()

    def look(self, fragment: str = "") -> Run:
        """The same page, or a part of it, once more."""
        message = BackMsg()
        message.rerun_script.fragment_id = fragment
        message.rerun_script.page_script_hash = self._hash
        return self._ask(message)

    def _ask(self, message: BackMsg) -> Run:
        message.rerun_script.query_string = self._query
        run, start = Run(), time.perf_counter()
        self._socket.send(message.SerializeToString())
        for answer in self._answers(run):
            kind = answer.WhichOneof("type")
            if kind == "delta" and answer.delta.WhichOneof("type") == "new_element":
                self._take(answer.delta.new_element, run)
            elif kind == "delta" and (popover := answer.delta.add_block.popover).id:
                self.widgets[popover.id.split("-", 2)[-1]] = popover
            elif kind == "new_session":
                self.session = answer.new_session.initialize.session_id or self.session
            elif kind == "navigation":
                self._hash = answer.navigation.page_script_hash
            elif kind == "auto_rerun":
                self._rerun = answer.auto_rerun
            elif kind == "page_info_changed":
                self._query = answer.page_info_changed.query_string
            elif kind == "script_finished" and answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                break
        run.seconds = time.perf_counter() - start
        return run

    def _answers(self, run: Run) -> Iterator[ForwardMsg]:
        while True:
            data = cast(bytes, self._socket.recv(timeout=TIMEOUT))
            run.bytes, run.messages = run.bytes + len(data), run.messages + 1
            answer = ForwardMsg()
            answer.ParseFromString(data)
            yield answer

    def _take(self, element: Any, run: Run) -> None:
        run.elements.append(element)
        widget = getattr(element, element.WhichOneof("type") or "", None)
        if widget is not None and (identity := getattr(widget, "id", "")):
            self.widgets[getattr(widget, "label", "")] = widget
            self.widgets[identity.split("-", 2)[-1]] = widget


@contextmanager
def visitor(address: str) -> Iterator[Visitor]:
    """A session that ends with the block."""
    host = address.partition("://")[2]
    uri = f"ws://{host}/_stcore/stream"
    with connect(uri, subprotocols=["streamlit"], origin=address, max_size=None, open_timeout=60) as socket:  # type: ignore[list-item,arg-type]
        yield Visitor(socket)


def crowd(address: str, visitors: int, pages: Sequence[str], pause: float = 1.0) -> list[Visit]:
    """So many visitors at once; each opens every page, in an order of its own, with a head drawn at random, and waits
    up to `pause` seconds between two."""
    with ThreadPoolExecutor(visitors) as pool:
        return list(pool.map(lambda seed: _visit(address, seed, pages, pause), range(visitors)))


def _visit(address: str, seed: int, pages: Sequence[str], pause: float) -> Visit:
    draws, visit = random.Random(seed), Visit()
    try:
        with visitor(address) as reader:
            for page in draws.sample(pages, len(pages)):
                run = reader.open(page, head=f"{draws.randint(1, 6)}-{draws.randint(1, 8)}")
                visit.seconds.append(run.seconds)
                visit.boxes += run.exceptions
                time.sleep(pause * draws.random())
    except (OSError, TimeoutError, WebSocketException) as error:
        visit.errors.append(f"{type(error).__name__}: {error}")
    return visit
