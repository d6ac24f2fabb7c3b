"""The lecturer's window of the guided tour: the slide, its notes, the next question, a clock."""

from collections.abc import Callable, Sequence

from bertviz_core.tour import NOTES, Step
from pages.shared import widgets
from pages.shared.components import component
from pages.shared.state import session

KEY = "speaker"
TITLES = {"terms": "Words to begin with", "end": "What this model shows", "own": "Now your sentence"}  # by NOTES


def draw(steps: Sequence[Step], here: int, go_to: Callable[[int], None], *, alone: bool) -> None:
    """Draw the button that opens the window, or N while the slide stands `alone`; keys that are pressed there turn the
    slide by `go_to`, or show the answer."""

    def turn() -> None:
        if (number := widgets.received(KEY, "step")) is not None:
            go_to(number)

    def answer() -> None:
        if widgets.received(KEY, "answer"):
            session.choose(answer="shown")

    data = {"here": here, "alone": alone, "slides": slides(steps)}
    component("speaker")(data=data, key=KEY, on_step_change=turn, on_answer_change=answer, width="content")


def slides(steps: Sequence[Step]) -> list[dict[str, str]]:
    """Title, question and notes of each slide, from the first."""
    asked = [{"title": step.title, "question": step.question, "notes": step.notes} for step in steps]
    first, *last = ({"title": TITLES[name], "question": "", "notes": NOTES[name]} for name in TITLES)
    return [first, *asked, *last]
