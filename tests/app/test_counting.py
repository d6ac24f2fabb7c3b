"""Heads count from 0 or 1 as each reader chooses, in fragments too; files count from 1. Readers at once are in
tests/browser/test_sessions.py."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.analyses.dependency_heads.result import RelationView
from bertviz_core.exports import to_latex
from bertviz_core.heads import counting_from
from bertviz_core.paper_report.report import Report
from pages.shared.state import session
from pages.shared.state.choices import HeaderChoices
from tests.support.driving import open_app, parameter, unescaped
from tests.support.shipped import clearest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]


def test_a_fragment_that_runs_in_a_thread_of_its_own_counts_as_its_reader_does() -> None:
    def script() -> None:
        import streamlit as st

        from bertviz_core.heads import Head
        from pages.shared.state import session

        @session.fragment
        def part() -> None:
            st.write(Head(0, 1).label())

        part()

    app = AppTest.from_function(script)
    app.session_state[session.KEY] = session.Session(header=HeaderChoices(zero=True))
    assert app.run().markdown[0].value == "0-1"


def test_addresses_count_from_1() -> None:
    app = open_app("head", head="2-3", zero="true")
    app.button(key="step-next").click().run()
    assert parameter(app, "head") == "2-4" and "Head 1-3 · L1H3" in unescaped(app.title[0].value)


def test_files_count_from_1_and_the_file_of_a_head_as_its_page_does(monkeypatch: pytest.MonkeyPatch) -> None:
    built: dict[str, Callable[[], bytes]] = {}

    def button(label: str, build: Callable[[], bytes], name: str, **more: object) -> None:
        built[Path(name).suffix] = build

    monkeypatch.setattr("streamlit.download_button", button)
    best = clearest("previous")
    open_app("surface_patterns", zero="true")
    assert f"Head {best} puts".encode() in built[".json"]()
    open_app("head", zero="true", head=best)
    layer, head = (int(part) - 1 for part in best.split("-"))
    assert f"Head {layer}-{head} · L{layer}H{head} of".encode() in built[".html"]()


def test_latex_counts_from_1_in_its_table_and_in_its_comments(report: Report) -> None:
    result = RelationView(relation="det", direction="dependent->governor", head="3-1").choose(
        report.results["dependency_heads"].default_view()
    )
    with counting_from(0):
        from_zero = to_latex(result)
    assert "The chosen head 3-1" in from_zero and from_zero == to_latex(result)
