"""An app whose store is empty and whose jobs run in this process."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bertviz_core.analyses.run.run_pass import last_model_loader
from bertviz_core.engine.progress import Progress
from bertviz_core.models.loaded_models import LoadedModels
from bertviz_core.tasks import Task, perform
from tests.support.driving import ROOT

MODELS = LoadedModels()  # known by their fingerprints, so that tests can share them


def worker() -> Callable[[Task, Progress], None]:
    """In place of a `Worker`: in this process, where patches reach jobs; through JSON, as to another."""
    load = last_model_loader()
    return lambda task, progress: perform(json.loads(json.dumps(task)), progress, load)


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty store; no model, upload or job of an earlier test is left."""
    import streamlit as st

    monkeypatch.setenv("BERTVIZ_STORE", str(tmp_path / "store"))
    monkeypatch.setattr("pages.shared.services.Worker", worker)
    monkeypatch.setattr("pages.shared.uploads.CHECK_WAIT_S", 60)  # of a test that looks once
    monkeypatch.setattr("bertviz_core.engine.first_opening.open_in_process", lambda *_: None)  # they harm nobody
    monkeypatch.chdir(ROOT)
    st.cache_resource.clear()  # it ends the sessions of earlier tests, which ask for services
    monkeypatch.setattr("pages.shared.services._singletons", {LoadedModels: MODELS})
