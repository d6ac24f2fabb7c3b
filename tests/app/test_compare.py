"""The page of two runs: what ships is compared at once, the address holds both, other choices change them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.driving import open_app, words

pytestmark = pytest.mark.usefixtures("own_store")


def address(app: AppTest, name: str) -> str:
    value = app.query_params[name]
    return value if isinstance(value, str) else value[0]


def test_runs_that_ship_are_compared_and_their_address_restores_them() -> None:
    app = open_app("compare")
    assert not app.error
    assert re.search(r"\d+ of 48 heads differ in", words(app)), words(app)
    assert app.selectbox(key="compared").value == "previous"
    assert {"A against B", "Heads that changed most", "Best heads"} <= {each.value for each in app.subheader}
    box = app.selectbox(key="b")
    norms = next(option for option in box.options if option.endswith("norms"))
    box.set_value(norms).run()
    assert not app.exception
    assert "One run read attention weights, the other norms" in words(app)
    again = open_app("compare", **{name: address(app, name) for name in ("a", "b")})
    assert again.selectbox(key="b").value == app.selectbox(key="b").value
    assert "One run read attention weights, the other norms" in words(again)


def test_checkpoints_of_the_demos_training() -> None:
    app = open_app("compare", analysis="dependency_heads", a="step-0", b="step-0")
    steps = [option for option in app.selectbox(key="a").options if "step" in option]
    assert len(steps) > 1
    app.selectbox(key="a").set_value(steps[0]).run()
    app.selectbox(key="b").set_value(steps[-1]).run()
    assert not app.exception
    assert "heads differ in" in words(app)


def test_clustering_of_two_modes() -> None:
    app = open_app("compare", analysis="clustering")
    assert not app.error
    assert app.selectbox(key="compared").value == "to_own_layer"
    assert "No checkpoints are offered here" in words(app) and "without standard errors" in words(app)


def test_an_address_of_a_run_that_is_not_there_shows_another() -> None:
    app = open_app("compare", a="0123456789abcdef", b="../../x")
    assert not app.exception
    assert "of 48 heads" in words(app)


def test_a_store_of_nothing_says_what_to_do(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("pages.shared.services.runs", lambda: ())
    monkeypatch.setattr("bertviz_core.comparison.checkpoints.names", lambda *_: {})
    app = open_app("compare")
    assert not app.exception
    assert "two stored results" in " ".join(info.value for info in app.info)
