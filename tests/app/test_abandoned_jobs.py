"""Who closes the tab of a public server gives up the jobs asked for; who comes back in time does not."""

import time
from pathlib import Path

import pytest

from bertviz_core.settings import Access
from pages.shared import jobs, services
from pages.shared.state.reader import Reader
from pages.shared.state.session import Session
from tests.support import chromium as browser
from tests.support.visitors import Visitor, visitor

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[1] / "support" / "closed_tab_page.py"


def until(reader: Visitor, text: str, seconds: float = 30) -> None:
    ends = time.monotonic() + seconds
    while text not in (shown := reader.look().text):
        assert time.monotonic() < ends, shown
        time.sleep(0.1)


def test_a_closed_tab_keeps_no_place_on_a_public_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERTVIZ_PUBLIC", "1")
    with browser.served(tmp_path / "store", PAGE) as address, visitor(address) as stays:
        assert "1 mine, 1 in all" in stays.open(ask="one").text
        with visitor(address) as leaves:
            assert "1 mine, 2 in all" in leaves.open(ask="two").text
        until(stays, "1 mine, 1 in all")


class Left(list):
    """In place of the jobs: who has left; everybody has one."""

    leave_all = list.append

    def jobs_of(self, session_id: str) -> list[str]:
        return [session_id]


@pytest.mark.parametrize("returns", [True, False])
def test_who_comes_back_in_time_keeps_the_jobs(returns: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    left = Left()
    monkeypatch.setattr(services, "access", lambda: Access(public=True))
    monkeypatch.setattr(services, "jobs", lambda: left)
    monkeypatch.setattr("pages.shared.state.reader.GRACE", 0.2)
    monkeypatch.setattr(jobs, "_connected", lambda _name, reader: reader)
    reader = Reader()
    monkeypatch.setattr("pages.shared.state.session.st.session_state", {"session": Session(reader=reader)})
    reader.close()
    if returns:
        assert jobs.session() is reader
    time.sleep(0.5)
    assert left == ([] if returns else [reader.name])
