"""The server's start: a browser opens where there is one, and the first page's modules are imported ahead of it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from streamlit.runtime.pages_manager import PagesManager

from bertviz_core.analyses.clustering import result as embedding
from bertviz_core.import_lock import IMPORTING
from pages.shared.frame import serving
from tests.app.driving import open_app

ROOT = Path(__file__).parents[2]


def start(monkeypatch: pytest.MonkeyPatch, **options: object) -> list[str]:
    """The addresses that a server with these options opens."""
    opened: list[str] = []
    told = {"server.headless": False, "server.address": None, "browser.serverAddress": "localhost", **options}
    monkeypatch.setattr(serving.st, "get_option", told.get)
    monkeypatch.setattr(serving.cli_util, "open_browser", opened.append)

    async def once() -> None:
        async with serving.lifespan(None):
            for thread in threading.enumerate():
                if thread.name == "_get_ready":
                    thread.join(60)

    asyncio.run(once())
    return opened


def test_a_browser_opens_at_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    assert start(monkeypatch) == ["http://localhost:8501"]
    assert start(monkeypatch, **{"server.address": "0.0.0.0"}) == ["http://localhost:8501"]


def test_a_page_is_never_run_without_the_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    start(monkeypatch, **{"server.headless": True})
    assert PagesManager.uses_pages_directory is False


def test_no_browser_opens_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert start(monkeypatch, **{"server.headless": True}) == []


def test_getting_ready_imports_plotly_but_no_model() -> None:
    code = "import sys\nfrom pages.shared.frame import serving\nserving._get_ready()\nprint(*sys.modules)"
    run = [sys.executable, "-c", code]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "", "STREAMLIT_SERVER_HEADLESS": "true"}
    found = set(subprocess.run(run, check=True, capture_output=True, text=True, env=environment).stdout.split())
    assert {"plotly.graph_objects", "pages.shared.views.clearest_heads", "scipy.special"} <= found  # of intervals
    assert not found & {"torch", "transformers", "sklearn", "scipy.stats", *serving.LATER}


@pytest.mark.parametrize("work", [embedding.embed, embedding.dendrogram])
def test_of_two_pages_one_imports_at_a_time_what_has_circular_imports(work: Callable[[np.ndarray], object]) -> None:
    thread = threading.Thread(target=work, args=(np.ones((4, 4)) - np.eye(4),), daemon=True)
    with IMPORTING:
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
    thread.join(60)
    assert not thread.is_alive()


def test_what_is_imported_later_waits_for_the_first_page() -> None:
    imported: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving, "first_page_served", threading.Event())
        patch.setattr(serving, "import_module", imported.append)
        thread = threading.Thread(target=serving._import_later, daemon=True)
        thread.start()
        thread.join(0.05)
        assert thread.is_alive() and not imported
        open_app()
        thread.join(60)
    assert imported == [*serving.LATER]


def test_a_server_whose_limits_cannot_be_read_does_not_start() -> None:
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true", "--server.port", "0"]
    environment = os.environ | {"BERTVIZ_PUBLIC": "maybe", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "BERTVIZ_PUBLIC is 'maybe'" in done.stderr and "Traceback" not in done.stderr
