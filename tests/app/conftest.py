"""An app whose store is empty and whose jobs run in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import in_process
from tests.app.driving import ROOT


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty store; no model, upload or job of an earlier test is left."""
    import streamlit as st

    monkeypatch.setenv("BERTVIZ_STORE", str(tmp_path / "store"))
    monkeypatch.setattr("pages.shared.services.Worker", in_process.worker)
    monkeypatch.setattr("pages.shared.frame.uploads.PATIENCE", 60)  # of a test that looks once
    monkeypatch.chdir(ROOT)
    st.cache_resource.clear()  # it ends the sessions of earlier tests, which ask for services
    monkeypatch.setattr("pages.shared.services._made", {})
