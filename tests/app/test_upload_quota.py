"""Files on their way take only so much memory, however many a session sends, and however fast."""

from __future__ import annotations

from collections import Counter

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from bertviz_core.access import Access
from pages.shared.frame import serving
from pages.shared.frame.serving import READERS, UploadQuota


@pytest.fixture
def present(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What the server holds; 1,000 bytes a reader are allowed."""
    held: Counter[str] = Counter()
    monkeypatch.setattr(serving, "in_memory", lambda: Counter(held))
    return held


@pytest.fixture
def client(present: Counter[str]) -> TestClient:
    async def take(request: Request) -> PlainTextResponse:
        size = len(await request.body())
        if request.method == "PUT":
            present[request.path_params["session"]] += size
        return PlainTextResponse("taken")

    route = Route("/base/_stcore/upload_file/{session}/{file}", take, methods=["PUT", "DELETE"])
    return TestClient(Starlette(routes=[route], middleware=[Middleware(UploadQuota, Access(reader_uploads=1000))]))


def put(client: TestClient, session: str, size: int) -> int:
    return client.put(f"/base/_stcore/upload_file/{session}/f", content=bytes(size)).status_code


def test_a_session_has_so_much_room(client: TestClient, present: Counter[str]) -> None:
    assert [put(client, "ann", 400) for _ in range(3)] == [200, 200, 413]
    assert put(client, "ann", 200) == 200 and put(client, "ann", 1) == 413
    assert present["ann"] == 1000
    present["ann"] = 0  # deleted meanwhile
    assert put(client, "ann", 1000) == 200


def test_all_sessions_together_have_so_much_room(client: TestClient) -> None:
    taken = [put(client, f"reader {number}", 1000) for number in range(READERS + 1)]
    assert taken == [200] * READERS + [413]


def test_what_is_arriving_counts(present: Counter[str]) -> None:
    room = UploadQuota(lambda *_: None, Access(reader_uploads=1000))
    room.arriving["ann"] = 900
    assert not room._fits("ann", 101) and room._fits("ann", 100) and room._fits("ben", 1000)


def test_a_file_of_unknown_size_is_refused(client: TestClient) -> None:
    address = "/base/_stcore/upload_file/ann/f"
    assert client.put(address, content=iter([b"a"])).status_code == 411
    assert client.delete(address).status_code == 200
