"""The server's start: a browser opens where there is one, and the first page's modules are imported ahead of it."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from bertviz_core.plotting.head_map import value_map
from pages.shared import memoize, streamlit_internals, turns
from pages.shared.server import startup

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def start(monkeypatch: pytest.MonkeyPatch, **options: object) -> list[str]:
    """The addresses that a server with these options opens."""
    opened: list[str] = []
    settings = {"server.headless": False, "server.address": None, "browser.serverAddress": "localhost", **options}
    monkeypatch.setattr(startup.st, "get_option", ({"server.port": 8501} | settings).get)
    monkeypatch.setattr(startup.webbrowser, "open", opened.append)

    async def once() -> None:
        async with startup.lifespan(None):
            for thread in threading.enumerate():
                if thread.name == "_get_ready":
                    thread.join(60)

    asyncio.run(once())
    return opened


def test_a_browser_opens_at_the_server_and_no_page_is_run_without_the_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere: list[bool] = []
    monkeypatch.setattr(streamlit_internals, "run_app_at_every_address", lambda: everywhere.append(True))
    assert start(monkeypatch) == ["http://localhost:8501"]
    assert start(monkeypatch, **{"server.address": "0.0.0.0"}) == ["http://localhost:8501"]
    secure = {"server.sslCertFile": "a.pem", "server.baseUrlPath": "heads/", "server.port": 443}
    assert start(monkeypatch, **secure) == ["https://localhost:443/heads"]
    assert everywhere == [True] * 3


def test_the_server_may_open_as_many_files_as_the_system_allows() -> None:
    code = """
from resource import RLIMIT_NOFILE, getrlimit, setrlimit
import app
from pages.shared.server import startup
_, high = getrlimit(RLIMIT_NOFILE)
setrlimit(RLIMIT_NOFILE, (256, high))
startup._allow_open_files()
print(getrlimit(RLIMIT_NOFILE)[0] == high)
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    assert run.stdout.split() == ["True"]


def test_getting_ready_imports_plotly_but_no_model() -> None:
    code = "import sys, app\nfrom pages.shared.server import startup\nstartup._get_ready()\nprint(*sys.modules)"
    run = [sys.executable, "-c", code]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "", "STREAMLIT_SERVER_HEADLESS": "true"}
    loaded = set(subprocess.run(run, check=True, capture_output=True, text=True, env=environment).stdout.split())
    assert {"plotly.graph_objects", "pages.shared.head_panel", "scipy.special"} <= loaded  # of intervals
    assert not loaded & {"torch", "transformers", "sklearn", "scipy.stats", *startup.LATER}


def test_no_page_waits_long_for_one_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MAX_RUNNING_PAGES", 1)
    monkeypatch.setattr(turns, "LONG_S", 0.1)
    server = turns.Turns()
    with server.page_turn(), server.page_turn():
        assert len(server._running) == 2
    assert not server._running and not server._waiting


def test_a_page_that_waits_behind_many_short_ones_does_not_run_beside_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MAX_RUNNING_PAGES", 1)
    monkeypatch.setattr(turns, "LONG_S", 0.2)
    server, at_once = turns.Turns(), list[int]()

    def page() -> None:
        with server.page_turn():
            at_once.append(len(server._running))
            time.sleep(0.05)

    threads = [threading.Thread(target=page) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert at_once == [1] * 12


def order_of_turns(credits: list[float]) -> list[int]:
    """In which order pages of readers with these credits run that came, in this order, while another page ran."""
    server, order, began = turns.Turns(), list[int](), threading.Event()

    def page(number: int) -> None:
        with server.page_turn(lambda: credits[number]):
            order.append(number)

    threads = [threading.Thread(target=page, args=(number,)) for number in range(len(credits))]
    with server.page_turn():
        for number, thread in enumerate(threads):
            thread.start()
            while len(server._waiting) <= number:
                began.wait(0.01)
    for thread in threads:
        thread.join()
    return order


def test_who_has_used_the_fewest_runs_is_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MAX_RUNNING_PAGES", 1)
    assert order_of_turns([0.6, 1.0, 0.8, 1.0]) == [1, 3, 2, 0]


def test_a_hasty_readers_page_waits_for_others_which_do_not_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MAX_WAIT_S", 0.2)
    server = turns.Turns()
    with server.page_turn(lambda: 0.0):
        began = time.monotonic()
        with server.page_turn(lambda: 1.0):
            assert len(server._running) == 2 and time.monotonic() - began < 0.2
            with server.page_turn(lambda: 0.0):  # after its time it runs without a turn
                assert len(server._running) == 2 and time.monotonic() - began >= 0.2


def test_a_page_that_nobody_waits_for_any_more_waits_for_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MAX_RUNNING_PAGES", 1)
    server = turns.Turns()
    with server.page_turn(), server.page_turn(is_stopped=lambda: True):
        assert len(server._running) == 1 and not server._waiting


def test_a_hasty_page_keeps_its_turn_from_other_hasty_ones_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "REST", 4)

    def seconds(credit: float) -> float:
        began = time.monotonic()
        with server.page_turn(lambda: credit):
            time.sleep(0.1)
        return time.monotonic() - began

    server = turns.Turns()
    assert seconds(credit=1.0) < 0.4 < seconds(credit=0.0)


def test_a_page_that_waits_for_something_else_lets_others_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MAX_RUNNING_PAGES", 1)
    server = turns.Turns()
    with server.page_turn():
        with server.given_back():
            assert not server._running
        assert len(server._running) == 1
    with server.given_back():  # outside of a page
        pass
    assert not server._running


def test_what_all_sessions_share_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memoize, "_values", OrderedDict())
    monkeypatch.setattr(memoize, "MAX_VALUES", 3)
    maps = [np.full((80, 64), float(number)) for number in range(6)]
    drawn = memoize.memoized(value_map)
    shown = [drawn(values) for values in maps]
    assert drawn(maps[5]) is shown[5]
    assert drawn(maps[0]) is not shown[0]
    assert drawn(maps[3]) is not shown[3], "the one that was used the longest ago"
    assert drawn(maps[5]) is shown[5]


def test_a_server_whose_limits_cannot_be_read_does_not_start() -> None:
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true", "--server.port", "0"]
    environment = os.environ | {"BERTVIZ_PUBLIC": "maybe", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "BERTVIZ_PUBLIC is 'maybe'" in done.stderr and "Traceback" not in done.stderr
