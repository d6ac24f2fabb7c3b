"""What the page that a browser loads first has of the app: its style, so that nothing moves when the first parts
arrive, and where the server is."""

from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.shared import streamlit_internals
from pages.shared.frame import links

APPEARANCE = Path(__file__).parents[1] / "frame" / "appearance.css"
END = b"</body>"  # after Streamlit's own styles, so that these count


class FirstPaint:
    """Middleware that puts the style sheet and a script at the end of Streamlit's page, which every address answers.

    Attributes:
        app: What is behind it.
        parts: The elements with both.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        script = streamlit_internals.server_address(entry.name for entry in links.ENTRIES)
        self.parts = b"<style>" + APPEARANCE.read_bytes() + b"</style><script>" + script.encode() + b"</script>"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", ""):
            scope = _plain(scope)
            send = self._with_parts(send)
        await self.app(scope, receive, send)

    def _with_parts(self, send: Send) -> Send:
        """Send an HTML page whole, with both in it; other answers as they are."""
        start: Message = {}
        body = bytearray()

        async def completed(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            if not MutableHeaders(raw=start["headers"]).get("content-type", "").startswith("text/html"):
                await send(message)
            elif message["type"] == "http.response.body":
                body.extend(message.get("body", b""))
                if not message.get("more_body"):
                    await self._send_page(send, start, bytes(body))

        return completed

    async def _send_page(self, send: Send, start: Message, body: bytes) -> None:
        page = body.replace(END, self.parts + END)
        headers = MutableHeaders(raw=start["headers"])
        if body:  # the answer to HEAD has none
            headers["content-length"] = str(len(page))
        await send(start)
        await send({"type": "http.response.body", "body": page})


def _plain(scope: Scope) -> Scope:
    """A request for a page that is neither packed nor answered by “not modified”."""
    left_out = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if name not in left_out]}
