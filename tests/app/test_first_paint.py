"""What the server does to the page that a browser loads first."""

import gzip

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.shared.server.first_paint import APPEARANCE, FirstPaint

PAGE = "<html><body><div id=root></div></body></html>"


def _page(request) -> Response:
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(gzip.compress(PAGE.encode()), media_type="text/html", headers={"content-encoding": "gzip"})
    return HTMLResponse(PAGE)


@pytest.fixture
def client() -> TestClient:
    routes = [Route("/", _page), Route("/text", lambda request: PlainTextResponse("</body>"))]
    return TestClient(FirstPaint(Starlette(routes=routes)))  # type: ignore[arg-type]


def test_style_sheet_and_script_are_the_last_of_the_page_whatever_the_browser_could_unpack(client: TestClient) -> None:
    answer = client.get("/", headers={"accept": "text/html", "accept-encoding": "gzip"})
    style = f"<style>{APPEARANCE.read_text(encoding='utf-8')}</style>"
    before, found, after = answer.text.partition(style)
    assert found and before == PAGE.removesuffix("</body></html>")
    assert after.startswith("<script>") and after.endswith("</script></body></html>")
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_other_answers_are_left_as_they_are(client: TestClient) -> None:
    assert client.get("/text", headers={"accept": "text/html"}).text == "</body>"
    assert client.get("/", headers={"accept": "*/*", "accept-encoding": "gzip"}).text == PAGE
