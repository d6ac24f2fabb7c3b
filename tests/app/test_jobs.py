"""Jobs as readers see them: their own alone, their place in the queue, a quiet cancel, a worker that dies."""

import threading
from collections.abc import Iterator

import pytest

from bertviz_core.errors import BertvizError
from bertviz_core.settings import Access
from pages.shared import services
from tests.support.driving import open_app, switch, unescaped, wait_for_job, words
from tests.support.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]


class Gate:
    """In place of a worker: works until it is opened, cancelled, or ends as a process that was killed."""

    def __init__(self) -> None:
        self.opened, self.killed, self.tasks = threading.Event(), threading.Event(), []

    def __call__(self, task, progress) -> None:
        self.tasks.append(task)
        progress.start("Running the model", 10)
        while not self.opened.wait(0.01):
            progress.advance(0)
            if self.killed.is_set():
                raise BertvizError("The worker process died (signal 9).")


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate()
    monkeypatch.setattr(services, "Worker", lambda: gate)
    yield gate
    gate.opened.set()


def reader(limit: int):
    """A session of its own, on a page whose result is not stored."""
    return open_app("surface_patterns", limit=str(limit))


def click(app, label: str):
    buttons = [button for button in app.main.button if button.label.startswith(label)]
    assert len(buttons) == 1, [button.label for button in app.main.button]
    return buttons[0].click().run()


def progress(app) -> list[str]:
    """What the bars say: the sidebar's, then the page's."""
    return [unescaped(bar.proto.text) for bar in app.get("progress")]


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is open to strangers."""
    monkeypatch.setattr(services, "access", lambda: Access(public=True))


@pytest.mark.usefixtures("public")
def test_a_reader_sees_the_own_jobs_and_the_place_in_the_queue(gate: Gate) -> None:
    first, second, other = reader(3), reader(4), reader(3)
    click(first, "Analyze")
    until(lambda: gate.tasks)
    assert any("Running the model: 0 of 10" in text for text in progress(first.run()))
    click(second, "Analyze")
    assert "Queued, 1 job ahead" in progress(second.run())
    assert progress(other.run()) == []  # the same page and settings, but nothing was asked for here
    click(other, "Analyze")
    until(lambda: any("Running the model" in text for text in progress(other.run())))
    assert len(gate.tasks) == 1  # joined
    gate.opened.set()
    for app in (first, second, other):
        wait_for_job(app)
        assert not app.error and not app.exception


@pytest.mark.usefixtures("public")
def test_an_own_cancel_is_quiet_and_touches_nobody_else(gate: Gate) -> None:
    first, second = reader(3), reader(3)
    for app in (first, second):
        click(app, "Analyze")
    until(lambda: gate.tasks)
    click(first, "Cancel")
    first.run()
    assert not first.error and "Cancelled. Finished parts are kept" in words(first)
    assert progress(first) == [] and any(b.label.startswith("Analyze") for b in first.main.button)
    assert first.sidebar.caption[-1].value.endswith(": cancelled.") and not second.run().sidebar.caption
    assert any("Running the model" in text for text in progress(second))
    switch(second, "entropy")
    (cancel,) = (button for button in second.sidebar.button if button.label.startswith("Cancel"))
    cancel.click().run()
    until(lambda: not services.jobs()._jobs)
    assert progress(second.run()) == []
    assert "Cancelled. Finished parts are kept" in words(switch(second, "surface_patterns"))
    click(first, "Analyze")
    until(lambda: len(gate.tasks) == 2)
    assert "Cancelled" not in words(first.run())


def test_a_worker_that_was_killed_leaves_a_message_and_a_way_on(gate: Gate) -> None:
    app = reader(3)
    click(app, "Analyze")
    gate.killed.set()
    app = wait_for_job(app)
    assert "died (signal 9)" in unescaped(app.error[0].value) and not app.exception
    gate.killed.clear()
    click(app, "Analyze")
    until(lambda: len(gate.tasks) == 2)
    assert not app.run().error


@pytest.mark.parametrize("is_public", [False, True])
def test_another_tab_of_the_reader_shows_the_job_and_can_cancel_it(
    gate: Gate, monkeypatch: pytest.MonkeyPatch, is_public: bool
) -> None:
    monkeypatch.setattr(services, "access", lambda: Access(public=is_public))
    monkeypatch.setattr("pages.shared.streamlit_internals.browser_secret", lambda: "one browser" if is_public else "")
    first = reader(3)
    click(first, "Analyze")
    until(lambda: gate.tasks)
    second, elsewhere = reader(3), open_app("overview")
    for app in (second, elsewhere):
        assert any("0%" in text for text in progress(app))
    assert any("Running the model: 0 of 10" in text for text in progress(second))
    click(second, "Cancel")
    until(lambda: not services.jobs().unfinished())
    for app in (first, second):
        assert progress(app.run()) == [] and "Cancelled. Finished parts are kept" in words(app)
    assert len(gate.tasks) == 1


@pytest.mark.usefixtures("public")
def test_a_full_queue_is_refused_with_what_to_do(gate: Gate) -> None:
    app = reader(3)
    click(app, "Analyze")
    app.number_input(key="limit").set_value(4).run()
    click(app, "Analyze")
    assert "You cannot queue more jobs" in unescaped(app.error[0].value) and "cancel it" in app.error[0].value
    assert not app.exception and len(progress(app)) == 1
    second = reader(4)
    click(second, "Analyze")
    assert not second.error
