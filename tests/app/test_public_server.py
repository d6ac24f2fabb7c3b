"""A server that strangers visit: no folder, no hub, one answer to every miss; what is allowed is offered by name."""

import shutil
import tomllib
from pathlib import Path

import pytest

from bertviz_core.models import model_sources
from tests.support import families
from tests.support.driving import ROOT, open_app, unescaped, words

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch, own_store: None) -> None:
    monkeypatch.setenv("BERTVIZ_PUBLIC", "1")
    monkeypatch.setattr(model_sources, "snapshot", lambda *_: pytest.fail("asked the hub"))


def test_as_shipped_the_server_listens_to_its_own_machine_alone() -> None:
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())
    assert config["server"]["address"] == "localhost"


def test_allowed_models_and_trainings_are_offered_by_name(
    public: None, tmp_path: Path, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_folder, tmp_path / "models" / "tiny")
    families.save_training(tmp_path / "models" / "mine", steps=(3, 30))
    monkeypatch.setenv("BERTVIZ_MODELS", str(tmp_path / "models"))
    model_sources._scan.cache_clear()
    app = open_app("surface_patterns")
    assert app.selectbox(key="model").options == ["demo", "demo-decoder", "tiny"]
    app.selectbox(key="model").set_value("tiny").run()
    assert "tiny on encyclopedia" in words(app) and not app.error
    app = open_app("emergence", training="mine")
    assert "2 checkpoints, steps 3 to 30" in words(app) and not app.error
    assert str(tmp_path) not in words(app)


def test_errors_name_no_folder_of_the_server(
    public: None, tmp_path: Path, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = shutil.copytree(tiny_folder, tmp_path / "models" / "broken")
    (broken / "config.json").write_text("{")
    monkeypatch.setenv("BERTVIZ_MODELS", str(tmp_path / "models"))
    model_sources._scan.cache_clear()
    app = open_app(model="broken")
    assert "'broken' has no readable config.json" in unescaped(app.error[0].value)
    assert str(tmp_path) not in unescaped(app.error[0].value)
    for folder in (Path.home(), "/nope"):  # no answer tells folders that exist from others
        app = open_app("surface_patterns", corpus=str(folder))
        assert f"no corpus “{Path(folder).name}”" in unescaped(app.error[0].value)
