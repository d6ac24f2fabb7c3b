"""One object, added to the registry, is an analysis everywhere; what cannot be one is logged and left out."""

import sys
from importlib.metadata import EntryPoint

import pytest
import typer

from bertviz_core.analyses import registry
from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.request import Options


def named(name: str) -> type[Analysis]:
    return type("Named", (Analysis,), {"name": name, "title": name, "summary": "A test."})


GOOD = named("good")
BAD = list(map(named, ("entropy", "overview", "store", "no-hyphens", "Good", "good")))
NO_ANALYSIS = Options


def test_what_cannot_be_an_analysis_is_left_out_and_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = ["GOOD", *(f"BAD_{place}" for place in range(len(BAD))), "NO_ANALYSIS", "MISSING"]
    for place, bad in enumerate(BAD):
        monkeypatch.setattr(sys.modules[__name__], f"BAD_{place}", bad, raising=False)
    entries = [EntryPoint(name, f"{__name__}:{name}", registry.ENTRY_POINT) for name in wanted]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    assert [name for name in registry._all() if name not in registry.BUILT_IN] == ["good"]
    assert len(caplog.records) == len(wanted) - 1


def test_names_that_pages_and_commands_have_are_reserved() -> None:
    from bertviz_core.cli.commands import app
    from pages.shared.frame.catalogue import EXPLORE

    assert {entry.name for entry in EXPLORE} == set(registry.PAGES)
    names = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    assert names - {analysis.command for analysis in registry.ANALYSES.values()} == set(registry.COMMANDS)
