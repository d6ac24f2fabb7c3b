"""The ways through the code are those that ARCHITECTURE.md gives."""

import inspect
import re
import sys
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import streamlit as st

from bertviz_core.analyses.surface_patterns import measure
from bertviz_core.corpora import upload_check
from bertviz_core.engine.jobs import JobQueue
from pages.shared import page
from pages.shared.components import component
from pages.shared.state import session
from pages.shared.views import default_heads
from tests.support import recording
from tests.support.driving import ROOT, analyze, open_app, uploader, wait_for_job

pytestmark = pytest.mark.slow

LOOP = {"_work", "_perform", "outcome", "computing"}  # of the queue's thread, of the worker process, and around a pass
LISTED = re.compile(r"^\d+\. `(\w+)` in (?:`([\w/.]+)`|the analysis's `measure.py`)", re.MULTILINE)
Step = tuple[str, str]  # function, file

BANK = b"\n\n".join([b"The 2-det\ncat 3-nsubj\nsat 0-root\n. 3-punct"] * 3)
# In place of the command that checks an upload: the same, recorded.
CHECK = """
import sys
from pathlib import Path
from tests.support import recording
from bertviz_core.corpora import upload_check
recording.record(Path({file!r}))
upload_check.main(Path(sys.argv[1]))
"""


def documented(beginning: str) -> list[Step]:
    """(function, file) of each step of the list in ARCHITECTURE.md that follows the sentence with this beginning."""
    blocks = (ROOT / "ARCHITECTURE.md").read_text().split("\n\n")
    (steps,) = (after for before, after in pairwise(blocks) if before.startswith(beginning))
    return LISTED.findall(steps)


def stack() -> list[Step]:
    """The pages' and the core's functions that run, the outermost first."""
    functions, frame = list[Step](), sys._getframe(1)
    at: FrameType | None = frame
    while at is not None:
        file = Path(at.f_code.co_filename)
        if file.is_relative_to(ROOT) and file.relative_to(ROOT).parts[0] in ("bertviz_core", "pages"):
            functions.append((at.f_code.co_name, str(file.relative_to(ROOT))))
        at = at.f_back
    return functions[::-1]


@pytest.mark.usefixtures("own_store")
def test_the_way_from_a_click_to_a_measure_is_the_documented_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ways: dict[str, list[Step]] = {}

    def followed(owner: object, name: str) -> None:
        function = getattr(owner, name)

        def spy(*arguments: object, **options: object) -> object:
            ways.setdefault(name, stack())
            return function(*arguments, **options)

        monkeypatch.setattr(owner, name, spy)

    followed(JobQueue, "submit")
    followed(measure, "measure")
    app = open_app("surface_patterns", limit="3")
    next(button for button in app.main.button if button.label.startswith("Analyze")).click().run()
    wait_for_job(app)
    clicked = [*ways["submit"], ("submit", "bertviz_core/engine/jobs.py")]
    computed = [each for each in ways["measure"] if each[0] not in LOOP]
    steps = documented('From a click on "Analyze"')
    assert [*clicked, *computed, ("measure", "")] == steps
    assert len(steps) <= 12


@pytest.mark.usefixtures("own_store")
def test_the_way_from_an_upload_to_a_figure_is_the_documented_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step is called after the one before it, in whichever process."""
    file = tmp_path / "calls"
    monkeypatch.setattr(upload_check, "COMMAND", (sys.executable, "-c", CHECK.format(file=str(file))))
    app = open_app("dependency_heads")
    with recording.recorded(file):
        uploader(app).set_value(("mine.txt", BANK, "text/plain")).run()
        analyze(app)
    assert not app.error and not app.exception
    called = iter(recording.calls(file))
    steps = documented("From an upload to a figure")
    assert [step for step in steps if step not in called] == []
    assert 12 <= len(steps) <= 15


def owner_of(function: str, file: str) -> Any:
    """The module of a function, or the class of a method."""
    module = import_module(file.removesuffix(".py").replace("/", "."))
    if hasattr(module, function):
        return module
    classes = [each for _, each in inspect.getmembers(module, inspect.isclass) if each.__module__ == module.__name__]
    return next(each for each in classes if function in vars(each))


@pytest.mark.usefixtures("own_store")
def test_the_way_from_a_click_on_a_head_to_the_screen_is_the_documented_one(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = documented("From a click on a head to the screen")
    called: list[Step] = []
    clicks: list[list[Step]] = []

    def spied(step: Step) -> None:
        owner = owner_of(*step)
        function: Callable[..., object] = getattr(owner, step[0])

        def spy(*arguments: object, **options: object) -> object:
            if step not in called:
                called.append(step)
            return function(*arguments, **options)

        monkeypatch.setattr(owner, step[0], spy)

    def map_that_is_clicked_once(name: str, *rest: Any, **options: Any) -> Callable[..., Any]:
        def draw(key: str, on_head_change: Callable[[], None], **_: Any) -> None:
            if not clicks:
                st.session_state[key] = {"head": "2-3"}
                on_head_change()

        return draw if name == "head_map" else component(name, *rest, **options)

    choose = session.choose

    def chosen(**values: Any) -> None:
        clicks.append(stack())
        choose(**values)

    monkeypatch.setattr(page, "component", map_that_is_clicked_once)
    monkeypatch.setattr(session, "choose", chosen)
    app = open_app("entropy", head="1-1")
    assert clicks[0][-1] == steps[0] and steps[1] == ("choose", "pages/shared/state/session.py")
    for step in steps[2:]:
        spied(step)
    monkeypatch.setattr(default_heads, "default_head", lambda *_: pytest.fail("a default head, which nobody needs"))
    app.run()
    assert (
        not app.exception and app.selectbox(key="head").value == "2-3" and app.query_params["head"] in ("2-3", ["2-3"])
    )
    assert called == steps[2:]
    assert len(steps) <= 15
