"""A job that was stopped or killed: the page says how much is done, and goes on from there."""

import os
from pathlib import Path

import pytest

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run import chunks
from bertviz_core.analyses.run.compute import compute, find
from bertviz_core.corpora.files import sample
from bertviz_core.engine.store import Store
from bertviz_core.errors import Cancelled
from bertviz_core.inputs import encoded_corpus
from bertviz_core.settings import Settings
from tests.support.driving import open_app, wait_for_job, words
from tests.support.waiting import Stops

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]


@pytest.fixture
def stopped(demo, monkeypatch) -> tuple[Store, Request]:
    """A request of which a part is computed."""
    monkeypatch.setattr(encoded_corpus, "CHUNK_TOKENS", 600)
    monkeypatch.setattr(chunks, "SAVING", float("inf"))
    store = Store(Path(os.environ["BERTVIZ_STORE"]))
    request = Request("surface_patterns", demo.checkpoint, sample("encyclopedia"), Settings(limit=20))
    with pytest.raises(Cancelled):
        compute(request, store, model=demo, progress=Stops(0.6))
    return store, request


def test_the_page_offers_to_resume(stopped, demo):
    store, request = stopped
    share = chunks.share_done(store, request)
    assert share is not None and 0.2 < share < 0.8
    app = open_app("surface_patterns", limit="20")
    (button,) = [button for button in app.main.button if "Resume" in button.label]
    assert button.label.startswith(f"Resume at {share:.0%} (about ")
    button.click().run()
    wait_for_job(app)
    assert "Head map" in words(app)
    assert not [button for button in app.main.button if "Resume" in button.label]
    assert find(store, request).to_bytes() == compute(request, None, model=demo).to_bytes()
