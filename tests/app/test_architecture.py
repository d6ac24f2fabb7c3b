"""The ways from one place to another are those that ARCHITECTURE.md gives."""

import inspect
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import streamlit as st

from bertviz_core.analyses.surface_patterns import measure
from bertviz_core.engine.jobs import JobQueue
from pages.shared import page
from pages.shared.components import component
from pages.shared.state import session
from pages.shared.views import default_heads
from tests.app.driving import ROOT, open_app, wait_for_job

LOOP = {"_work", "outcome"}  # of the queue's thread, and of the worker process
LISTED = re.compile(r"^\d+\. `(\w+)` in (?:`([\w/.]+)`|the analysis's `measure.py`)", re.MULTILINE)
Step = tuple[str, str]  # function, file


def documented(start: str) -> list[Step]:
    """The steps of the way that begins with these words."""
    text = (ROOT / "ARCHITECTURE.md").read_text().partition(start)[2]
    return LISTED.findall(text.partition("1. ")[1] + re.split(r"\n\n(?!\d)", text.partition("1. ")[2])[0])


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
