"""A cookie that knows a browser again, so that its reader still owns earlier uploads after a reload or in a new tab."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders
from starlette.requests import Request

from bertviz_core.engine.uploads import TOKEN

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "bertviz_reader"
SECONDS = 30 * 86_400  # renewed at every visit


class OwnerCookie:
    """Middleware that gives every browser a random secret with the page; scripts in the page cannot read it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on; add the cookie to HTML pages."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        cookie = _cookie(Request(scope))

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    headers.append("set-cookie", cookie)
                    headers["cache-control"] = "no-store"  # no proxy may give one reader's cookie to another
                    headers["referrer-policy"] = "same-origin"  # addresses hold uploads' tokens
            await send(message)

        await self.app(scope, receive, send_with_cookie)


def _cookie(request: Request) -> str:
    """The value of Set-Cookie: the browser's own secret again, or a new one."""
    secret = request.cookies.get(COOKIE, "")
    if not TOKEN.fullmatch(secret):
        secret = secrets.token_urlsafe(32)
    https = "https" in (request.url.scheme, request.headers.get("x-forwarded-proto"))
    return f"{COOKIE}={secret}; Path=/; Max-Age={SECONDS}; HttpOnly; SameSite=Lax{'; Secure' if https else ''}"
