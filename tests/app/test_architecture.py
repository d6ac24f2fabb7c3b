"""The ways through the code are those that ARCHITECTURE.md gives."""

import re
import sys
from itertools import pairwise
from pathlib import Path
from types import FrameType

import pytest

from bertviz_core.analyses.surface_patterns import measure
from bertviz_core.corpora import upload_check
from bertviz_core.engine.jobs import JobQueue
from tests.app import recording
from tests.app.driving import ROOT, analyze, open_app, uploader, wait_for_job

LOOP = {"_work", "outcome"}  # of the queue's thread, and of the worker process
LISTED = re.compile(r"^\d+\. `(\w+)` in (?:`([\w/.]+)`|the analysis's `measure.py`)", re.MULTILINE)

BANK = b"\n\n".join([b"The 2-det\ncat 3-nsubj\nsat 0-root\n. 3-punct"] * 3)
# In place of the command that checks an upload: the same, recorded.
CHECK = """
import sys
from pathlib import Path
from tests.app import recording
from bertviz_core.corpora import upload_check
recording.record(Path({file!r}))
upload_check.main(Path(sys.argv[1]))
"""


def documented(beginning: str) -> list[tuple[str, str]]:
    """(function, file) of each step of the list in ARCHITECTURE.md that follows the sentence with this beginning."""
    blocks = (ROOT / "ARCHITECTURE.md").read_text().split("\n\n")
    (steps,) = (after for before, after in pairwise(blocks) if before.startswith(beginning))
    return LISTED.findall(steps)


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
    steps = documented("From a click on")
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
