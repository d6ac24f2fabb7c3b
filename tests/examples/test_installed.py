import csv
import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import typer

from bertviz_core.analyses.base import entry_points
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadAverages
from bertviz_core.analyses.base.entry_points import GROUP, Registry
from bertviz_core.analyses.base.registry import ANALYSES, BUILT_IN
from bertviz_core.analyses.base.request import Options

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LIMIT = "3"  # segments
PAGE = """
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
from tests.support.navigation import frame_at_every_page

frame_at_every_page()
app = AppTest.from_file("app.py", default_timeout=120)
app.query_params["limit"] = "3"
app.query_params["head"] = "2-3"
app.run()
app._page_hash = calc_hash("repeated_token")
app.run()
assert [title.value for title in app.title] == ["Repeated token"], app.title
assert not any(b.label.startswith("Analyze") for b in app.button), "the command has computed and stored it"
app.session_state["head-panel"] = True
app.run()
assert not app.exception and not app.error, (app.exception, app.error)
text = "\\n".join(m.value for m in [*app.markdown, *app.header, *app.caption]).replace("\\\\", "")
assert "of 72 heads" in text and "uniform attention" in text, text
assert "passages in which head 2-3 shows it most" in text and "Head map" in text
assert [metric.label for metric in app.metric] == ["Highest layer", "Mean over heads"]
panel = next(f.value for f in app.dataframe if "rank" in f.value).set_index("quantity")
assert panel.loc["attention to earlier occurrences", "baseline"].endswith("(uniform attention)")
labels = {e.label.partition(" (")[0].partition(":")[0] for e in app.expander}
assert labels >= {"About this figure", "Where these numbers come from"}, labels
labels = {b.proto.label for b in app.get("download_button")}
assert labels == {"CSV", "JSON", "HTML", "safetensors", "ZIP: all tables"}, labels
app.switch_page("pages/overview.py").run()
stored = next(f.value for f in app.dataframe if "stored" in f.value)
assert stored.set_index("analysis").loc["Repeated token", "stored"] == "✓"
"""


@pytest.fixture(scope="module")
def environment(example_path: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of processes that have the example installed, and a store of their own."""
    return os.environ | {"PYTHONPATH": example_path, "BERTVIZ_STORE": str(tmp_path_factory.mktemp("installed"))}


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def test_command_store_page_and_overview_agree(environment: dict[str, str], tmp_path: Path) -> None:
    """A job from the page is tried in a browser, in tests/browser/test_browser.py."""
    outs = {suffix: tmp_path / f"heads.{suffix}" for suffix in ("json", "csv", "html", "safetensors")}
    out = [argument for path in outs.values() for argument in ("--out", str(path))]
    run(environment, "-m", "bertviz_core", "repeated-token", "encyclopedia", "--limit", LIMIT, *out)
    run(environment, "-c", PAGE)
    found = json.loads(outs["json"].read_text(encoding="utf-8"))
    assert found["analysis"] == "repeated_token" and len(found["arrays"]["earlier"]) == 6
    assert "Repeated token" in outs["html"].read_text(encoding="utf-8")
    run(environment, "-m", "bertviz_core", "overview", "--out", str(tmp_path / "overview.csv"))
    with (tmp_path / "overview.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    numbers = [float(row["repeated_token_earlier"]) for row in rows]
    assert numbers == pytest.approx([value for layer in found["arrays"]["earlier"] for value in layer])


def test_importing_an_installed_analysis_imports_no_torch(environment: dict[str, str]) -> None:
    code = "from bertviz_core.analyses.base.registry import ANALYSES; import sys; print('repeated_token' in ANALYSES, "
    assert run(environment, "-c", code + "{'torch', 'transformers'} & {*sys.modules})").stdout == "True set()\n"


def named(name: str, of_results: str = "") -> type[Analysis]:
    result_class = type("Averages", (HeadAverages,), {"analysis": of_results or name})
    attributes = {"name": name, "title": name, "summary": "A test.", "result_class": result_class}
    attributes["measure"] = lambda *_: None
    return type("Named", (Analysis,), attributes)


GOOD = named("good")
BAD = [*map(named, ("entropy", "overview", "store", "no-hyphens", "Good", "good")), named("better", "good")]
NO_ANALYSIS = Options


def test_what_cannot_be_an_analysis_is_left_out_and_logged(monkeypatch, caplog):
    wanted = ["GOOD", *(f"BAD_{number}" for number in range(len(BAD))), "NO_ANALYSIS", "MISSING"]
    for number, bad in enumerate(BAD):
        monkeypatch.setattr(sys.modules[__name__], f"BAD_{number}", bad, raising=False)
    entries = [EntryPoint(name, f"{__name__}:{name}", GROUP) for name in wanted]
    found = Registry(lambda: (*entry_points.BUILT_IN, *entries))
    assert [name for name in found if name not in BUILT_IN] == ["good"]
    assert len(caplog.records) == len(wanted) - 1


@pytest.mark.parametrize(
    ("attributes", "methods"),
    [
        ({}, "measure or accumulator"),
        ({"accumulator": lambda *_: None, "has_own_pass": True}, "run"),
        ({"accumulator": lambda *_: None, "chunked": False}, "corpus_run"),
    ],
)
def test_an_analysis_says_which_method_it_lacks(attributes, methods):
    with pytest.raises(TypeError, match=f"Incomplete has to override {methods}$"):
        type("Incomplete", (Analysis,), attributes)().check_methods()


def test_the_built_in_analyses_lack_none():
    for analysis in BUILT_IN.values():
        analysis.check_methods()


def test_a_registry_loads_nothing_before_it_is_asked_and_then_once():
    calls = []
    registry = Registry(lambda: calls.append("asked") or entry_points.BUILT_IN)
    assert calls == []
    assert len(registry) == len(BUILT_IN) and registry["entropy"] is BUILT_IN["entropy"] and list(registry)
    assert calls == ["asked"]


def test_importing_the_registry_imports_no_analysis():
    code = """if True:
        import sys
        from bertviz_core.analyses.base.registry import ANALYSES
        loaded = [name for name in sys.modules if name.startswith("bertviz_core.analyses.")]
        print({name.split(".")[2] for name in loaded} & {*ANALYSES})"""
    assert run(dict(os.environ), "-c", code).stdout == "set()\n"


def test_names_of_pages_and_commands_are_reserved_and_nothing_is_left_without_it():
    from bertviz_core.cli.commands import app
    from pages.shared.frame.links import EXPLORE, SECTIONS

    assert {entry.name for entry in EXPLORE} == set(entry_points.PAGES)
    names = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    assert names - {analysis.command for analysis in ANALYSES.values()} == set(entry_points.COMMANDS)
    assert dict(ANALYSES) == dict(BUILT_IN)
    assert list(SECTIONS) == ["Explore", "The paper", "Beyond the paper"]
