"""An app whose store is empty and whose jobs run in this process."""

from pathlib import Path

import pytest

from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.engine.store import Store
from bertviz_core.models.checkpoint import find
from bertviz_core.models.loading import LoadedModels
from bertviz_core.paper_report.request import Report, ReportRequest
from tests import in_process
from tests.app.driving import ROOT

MODELS = LoadedModels()  # known by their fingerprints, so that tests can share them


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty store; no model, upload or job of an earlier test is left."""
    import streamlit as st

    monkeypatch.setenv("BERTVIZ_STORE", str(tmp_path / "store"))
    monkeypatch.setattr("pages.shared.services.Worker", in_process.worker)
    monkeypatch.setattr("pages.shared.frame.uploads.PATIENCE", 60)  # of a test that looks once
    monkeypatch.chdir(ROOT)
    st.cache_resource.clear()  # it ends the sessions of earlier tests, which ask for services
    monkeypatch.setattr("pages.shared.services._singletons", {"_models": MODELS})


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """On the results that ship, with nothing computed."""
    corpora = {kind: sample(next(iter(names))) for kind, names in SAMPLES.items()}
    return ReportRequest(find("demo"), corpora).read(Store(tmp_path_factory.mktemp("report")))
