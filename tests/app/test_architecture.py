"""The way from a click to a measure is the one that ARCHITECTURE.md gives."""

import re
import sys
from pathlib import Path
from types import FrameType

import pytest

from bertviz_core.analyses.surface_patterns import measure
from bertviz_core.engine.jobs import JobQueue
from tests.app.driving import ROOT, open_app, wait_for_job

LOOP = {"_work", "outcome"}  # of the queue's thread, and of the worker process
LISTED = re.compile(r"^\d+\. `(\w+)` in (?:`([\w/.]+)`|the analysis's `measure.py`)", re.MULTILINE)


def stack() -> list[tuple[str, str]]:
    """(function, file) of the pages' and the core's functions that run, the outermost first."""
    functions, frame = list[tuple[str, str]](), sys._getframe(1)
    at: FrameType | None = frame
    while at is not None:
        file = Path(at.f_code.co_filename)
        if file.is_relative_to(ROOT) and file.relative_to(ROOT).parts[0] in ("bertviz_core", "pages"):
            functions.append((at.f_code.co_name, str(file.relative_to(ROOT))))
        at = at.f_back
    return functions[::-1]


@pytest.mark.usefixtures("own_store")
def test_the_way_from_a_click_to_a_measure_is_the_documented_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ways: dict[str, list[tuple[str, str]]] = {}

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
    documented = LISTED.findall((ROOT / "ARCHITECTURE.md").read_text())
    assert [*clicked, *computed, ("measure", "")] == documented
    assert len(documented) <= 12
