"""A model that ends or stops whoever opens it, asked for on a running server: everybody else goes on."""

import shutil
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.support import chromium as browser
from tests.support import hostile_models
from tests.support.visitors import visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def models(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models: one that multiplies text, and one whose file is a gigabyte."""
    models = tmp_path_factory.mktemp("models")
    for name in ("nested", "zeros"):
        shutil.copytree(tiny_folder, models / name)
    hostile_models.nest_replacements(models / "nested")
    with (models / "zeros" / "tokenizer.json").open("wb") as stream:
        stream.truncate(10**9)
    return models


@contextmanager
def watched(address: str) -> Iterator[list[float]]:
    """The seconds that the server took to answer, again and again meanwhile."""
    seconds: list[float] = []
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            began = time.perf_counter()
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=60).close()
            seconds.append(time.perf_counter() - began)
            time.sleep(0.05)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seconds
    finally:
        over.set()
        thread.join()


def test_a_public_server_that_is_given_hostile_models_goes_on(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTVIZ_PUBLIC", "1")
    monkeypatch.setenv("BERTVIZ_MODELS", str(models))
    with browser.served(tmp_path / "store") as address, visitor(address) as stranger, visitor(address) as reader:
        server = next(each for each in psutil.Process().children() if "streamlit" in " ".join(each.cmdline()))
        reader.open("attention_viewer")  # the demo is loaded
        before = server.memory_info().rss
        for name, said in (("nested", "its tokenizer would take too much time or memory"), ("zeros", "100 MB are")):
            with watched(address) as seconds:
                run = stranger.open("attention_viewer", model=name)
                assert said in run.text and not run.exceptions
                other = reader.open("entropy")
                assert not other.exceptions and other.seconds < 5
            assert max(seconds) < 1
        assert server.memory_info().rss - before < 500 * MEGABYTE
