"""The paper's own model on the overview, with a double of the hub: offered, fetched and analyzed in one job, or not."""

import threading
import time
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.models import model_sources
from bertviz_core.models.checkpoint import PAPER_MODEL
from pages.shared import services, stored
from tests.support.driving import open_app, unescaped, wait_for_job, words

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]
LABEL = "Download 440 MB and analyze"


class Hub:
    """What the hub answers.   folder: of the files, once they are fetched.   error: where it cannot be reached.
    arrives: when the files do."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.fetched, self.asked = folder, False, 0
        self.error: Exception | None = None
        self.arrives = threading.Event()
        self.arrives.set()

    def model_info(self, *_: object, **options: object) -> SimpleNamespace:
        self.asked += 1
        assert options["timeout"] <= 5
        if self.error:
            raise self.error
        return SimpleNamespace(siblings=[SimpleNamespace(rfilename="model.safetensors", size=440_000_000)])

    def snapshot_download(self, *_: object, local_files_only: bool = False, **__: object) -> str:
        if local_files_only and not self.fetched:
            raise FileNotFoundError
        assert self.arrives.wait(60)
        self.fetched = True
        return str(self.folder)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tiny_folder: Path) -> Hub:
    double = Hub(tiny_folder)
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda **_: double)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", double.snapshot_download)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(services, "DELAY", 0.0)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    model_sources._files.cache_clear()  # what the hub of another test has answered
    return double


def answered(**address: str) -> AppTest:
    """The overview, once the hub has answered."""
    app = open_app(**address)
    stored._hub_answer("", None).result(timeout=10)
    return app.run()


def labels(app: AppTest) -> set[str]:
    return {button.label for button in app.button}


def click(app: AppTest, label: str) -> None:
    next(button for button in app.main.button if button.label == label).click().run()


def test_one_click_fetches_and_analyzes_it(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MAX_COST", 2)  # surface patterns, entropy, clustering and the linguistic ones
    app = answered(max_length="64")  # the double's positions
    assert LABEL in labels(app) and "runs every analysis." in words(app)
    assert hub.asked == 1
    click(app, LABEL)
    app = wait_for_job(app)
    assert hub.fetched and not app.error and not app.exception
    stored._hub_answer("done", None).result(timeout=10)
    app.run()
    assert LABEL not in labels(app)
    link = next(link for link in app.get("page_link") if link.proto.label == f"Open {PAPER_MODEL}")
    assert f"model={PAPER_MODEL}" in link.proto.query_string
    there = open_app(model=PAPER_MODEL, max_length="64")
    assert not there.error and "of 4 heads do something recognizable" in words(there) and LABEL not in labels(there)


def test_the_others_compute_while_it_is_downloaded(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MAX_COST", 2)
    hub.arrives.clear()
    app = answered(max_length="64")
    click(app, LABEL)
    other = open_app("surface_patterns", limit="3", max_length="64")
    click(other, next(label for label in labels(other) if label.startswith("Analyze")))
    end = time.monotonic() + 60
    while not other.metric and time.monotonic() < end:  # the download, which it shows too, goes on
        time.sleep(0.2)
        other.run()
    assert other.metric and not other.error
    assert any(
        f"Downloading {PAPER_MODEL}: 0 of 440 MB" in unescaped(bar.proto.text) for bar in app.run().get("progress")
    )
    click(app, "Cancel")
    assert "Cancelled. What was downloaded and computed is kept." in words(app.run())
    hub.arrives.set()


@pytest.mark.parametrize("error", [OSError("no route"), TimeoutError()])
def test_without_the_hub_nothing_is_offered_and_it_is_asked_once(hub: Hub, error: Exception) -> None:
    hub.error = error
    app = answered()
    app.run()
    assert PAPER_MODEL not in words(app) and LABEL not in labels(app) and not app.error
    assert hub.asked == 1


def test_where_downloads_are_off_the_hub_is_not_asked(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERTVIZ_DOWNLOADS", "off")
    app = open_app()
    app.run()
    assert PAPER_MODEL not in words(app) and hub.asked == 0
