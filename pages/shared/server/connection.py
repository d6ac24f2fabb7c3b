"""A connection of a public server, whose messages pass as fast as its credit allows."""

import asyncio
import time
from contextlib import suppress

from starlette.types import Message, Receive, Send

from pages.shared.server.credit import Credit, credits_of_server
from pages.shared.streamlit_internals import message_kind

MAX_MESSAGE_BYTES = 5_000_000  # of a message: each has the pasted text
MAX_WAITING_BYTES = 2 * MAX_MESSAGE_BYTES  # of the messages of a connection that wait
MAX_WAITING = 30  # messages of a connection that wait
FRAGMENT = 0.1  # of a run: a fragment's
IMPATIENT = 3  # runs: a page's that is requested before the one before it has come
UNDISTURBED_S = 1.0  # seconds that a page has before the next request of its connection ends it
UNDISTURBED_HASTY_S = 10.0  # where the reader is hasty
MAX_HASTY_PAGES = 1  # of all hasty readers that are under way before the next begins
LOOK_S = 0.05  # seconds between two looks at whether it has ended


class Connection:
    """One connection, which ends where its messages are too long or too many.

    They are taken from the network as they come: who leaves is gone at once, with all that waited. Otherwise a flood
    that connects again and again would have many connections open, each with free runs.
    """

    def __init__(self, receive: Receive, send: Send, credit: Credit) -> None:
        self._receive = receive
        self._send = send
        self._credit = credit
        self._waiting: asyncio.Queue[Message] = asyncio.Queue()
        self._waiting_bytes = 0
        self._closed = asyncio.Event()
        self._end: Message = {"type": "websocket.disconnect", "code": 1006}

    async def read(self) -> None:
        """Take what arrives until the connection ends."""
        try:
            while not self._closed.is_set():
                event = await self._receive()
                if event["type"] == "websocket.disconnect":
                    self._end = event
                    return
                if self._is_too_much(event):
                    self._end = {"type": "websocket.disconnect", "code": 1009}
                    await self._send({"type": "websocket.close", "code": 1009})
                    return
                self._waiting_bytes += _size(event)
                self._waiting.put_nowait(event)
        finally:
            self._closed.set()
            self._waiting.put_nowait(self._end)

    async def next(self) -> Message:
        """The next message, when the credit allows it."""
        event = await self._waiting.get()
        if event["type"] != "websocket.receive":
            return event
        self._waiting_bytes -= _size(event)
        kind = message_kind(event.get("bytes") or b"")
        await self._pause(self._credit.spend(FRAGMENT if kind == "fragment" else IMPATIENT if self._credit.page else 1))
        if kind == "rerun_script":
            await self._page_before()
        return self._end if self._closed.is_set() else event

    async def send(self, message: Message) -> None:
        """Streamlit goes on sending when the connection is closed; of an OSError it knows that it is."""
        if self._closed.is_set():
            raise OSError("The connection is closed.")
        try:
            await self._send(message)
        except OSError:
            self._closed.set()
            raise

    def _is_too_much(self, event: Message) -> bool:
        size = _size(event)
        is_full = self._waiting.qsize() >= MAX_WAITING or self._waiting_bytes + size > MAX_WAITING_BYTES
        return size > MAX_MESSAGE_BYTES or is_full

    async def _page_before(self) -> None:
        """Wait for the page that the connection has requested before, for a while: whoever asks on and on would have
        pages begin that all end at once, and each beginning takes the server as long as a tenth of a page."""
        end = time.monotonic() + (UNDISTURBED_HASTY_S if self._credit.is_hasty else UNDISTURBED_S)
        while self._is_early() and time.monotonic() < end and not self._closed.is_set():
            await self._pause(LOOK_S)
        self._credit.page = object()

    def _is_early(self) -> bool:
        """Whether a page should not begin yet."""
        is_crowded = self._credit.is_hasty and credits_of_server.hasty_pages() >= MAX_HASTY_PAGES
        return self._credit.page is not None or is_crowded

    async def _pause(self, seconds: float) -> None:
        """Sleep, or until the connection is closed."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closed.wait(), seconds)


def _size(event: Message) -> int:
    return len(event.get("bytes") or b"") + len(event.get("text") or "")
