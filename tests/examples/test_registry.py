"""One object, added to the registry, is an analysis everywhere; what cannot be one is logged and left out."""

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import typer

from bertviz_core.analyses import registry
from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.request import Options

ROOT = Path(__file__).parents[2]
EIGHTH = """
import sys

import numpy as np

from bertviz_core.analyses import registry
from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.head_averages import HeadColumn


class Eighth(Analysis):
    name, title, summary, forwards = "eighth", "The eighth", "Nothing.", 10**7
    columns = (HeadColumn("warmth", "warmth of a head", lambda result: np.array([[0.1, 0.9]])),)


registry.ANALYSES["eighth"] = Eighth()

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
from typer.testing import CliRunner

from bertviz_core.cli.commands import app as commands
from bertviz_core.overview.head_summary import columns, frame
from bertviz_core.analyses.behaviors import Thresholds
from pages.shared.frame import catalogue
from tests.navigation import frame_at_every_page

assert "Nothing." in CliRunner().invoke(commands, ["eighth", "--help"]).output
assert [entry.name for entry in catalogue.SECTIONS["Installed analyses"]] == ["eighth"]
assert [column.quantity for column in columns({"eighth": object()})] == ["warmth"]
assert list(frame({"eighth": object()}, Thresholds())["eighth_warmth"]) == [0.1, 0.9]

frame_at_every_page()
app = AppTest.from_file("app.py", default_timeout=60)
app.query_params["model"] = sys.argv[1]
app.run()
assert not app.exception, app.exception
assert "The eighth" in set(next(f.value for f in app.dataframe if "stored" in f.value)["analysis"])
everything = next(b.label for b in app.button if b.label.startswith("Run all"))
assert "(about" in everything, everything  # the eighth is too long to run with everything
app._page_hash = calc_hash("eighth")
app.run()
assert [title.value for title in app.title] == ["The eighth"]
label = next(b.label for b in app.button if b.label.startswith("Analyze"))
assert label.endswith("min)"), label  # 10 million forward passes
"""


def test_an_eighth_analysis_is_everywhere(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERTVIZ_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = [sys.executable, "-c", EIGHTH, str(tiny_folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


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
