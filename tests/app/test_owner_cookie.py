"""The cookie that knows a browser again: random, renewed, out of the reach of scripts and of shared caches."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.shared.frame.serving import COOKIE, OwnerCookie


def client(**options: str) -> TestClient:
    routes = [
        Route("/", lambda _: HTMLResponse("<p>page</p>")),
        Route("/health", lambda _: PlainTextResponse("ok")),
    ]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(OwnerCookie)]), **options)


def test_a_browser_gets_a_secret_with_the_page_and_keeps_it() -> None:
    browser, other = client(), client()
    first = browser.get("/")
    parts = first.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"} <= set(parts) and "Secure" not in parts
    assert first.headers["cache-control"] == "no-store"
    secret = browser.cookies[COOKIE]
    assert len(secret) == 43
    assert browser.get("/").headers["set-cookie"].startswith(f"{COOKIE}={secret};")  # its days begin anew
    assert other.get("/").cookies[COOKIE] != secret


def test_only_pages_carry_it() -> None:
    answer = client().get("/health")
    assert "set-cookie" not in answer.headers and "cache-control" not in answer.headers


def test_a_forged_cookie_is_replaced() -> None:
    browser = client()
    for forged in ("short", "x" * 500, "a; Path=/evil", "A" * 42 + "\u00e9"):
        answer = browser.get("/", headers={"cookie": f"{COOKIE}={forged}".encode()})
        assert forged not in answer.headers["set-cookie"] and len(answer.cookies[COOKIE]) == 43


def test_behind_https_it_is_sent_over_https_alone() -> None:
    assert "; Secure" in client(base_url="https://testserver").get("/").headers["set-cookie"]
    assert "; Secure" in client().get("/", headers={"x-forwarded-proto": "https"}).headers["set-cookie"]
