"""What opens a model first may end; who asked for it gets one sentence."""

import resource
import signal
import threading
from pathlib import Path

import pytest

from bertviz_core.engine import first_opening
from bertviz_core.engine.first_opening import FirstOpenings, limited_loading, open_in_process
from bertviz_core.engine.store import Store
from bertviz_core.errors import ModelError
from bertviz_core.models.checkpoint import Checkpoint, find_checkpoint


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the models that a process has opened; those named "bad" cannot be."""
    names: list[str] = []

    def open_it(checkpoint: Checkpoint, _dtype: str) -> None:
        names.append(checkpoint.folder.name)
        if len(names) == 1 and checkpoint.folder.name == "bad":
            raise ModelError("It cannot be opened.")

    monkeypatch.setattr(first_opening, "open_in_process", open_it)
    return names


def test_a_model_that_can_be_used_is_opened(tiny_folder: Path) -> None:
    open_in_process(find_checkpoint(str(tiny_folder)))


def test_a_tokenizer_that_takes_too_long_is_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes too much memory is opened by a server, in tests/app/test_hostile_models.py."""
    monkeypatch.setattr(first_opening, "TOKENIZER_SECONDS", 0)
    monkeypatch.setattr(first_opening, "_seconds", lambda _: 0)  # the clock ends it
    with pytest.raises(ModelError, match="would take too much time or memory to read") as caught:
        open_in_process(find_checkpoint(str(folder)))
    assert caught.value.hint


def test_what_the_process_refuses_is_said_as_it_says_it(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("[" * 1000)
    with pytest.raises(ModelError, match=r"The tokenizer of .* cannot be used"):
        open_in_process(find_checkpoint(str(folder)))


def test_a_model_is_opened_once_and_remembered(store: Store, tiny_folder: Path, opened: list[str]) -> None:
    model = find_checkpoint(str(tiny_folder))
    openings = FirstOpenings(store)
    assert openings.open(model) is openings.open(model)
    openings.open(model).result()
    assert opened == [tiny_folder.name] and first_opening.was_opened(store, model)
    FirstOpenings(store).open(model).result()  # of a server that was started again
    assert len(opened) == 1 and not [*store.entries()]


def test_the_model_that_ships_is_trusted(store: Store, opened: list[str]) -> None:
    assert FirstOpenings(store).open(find_checkpoint("demo")).done() and not opened


def test_a_model_that_could_not_be_opened_is_tried_again_later(
    store: Store, folder: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = find_checkpoint(str(folder.rename(folder.parent / "bad")))
    openings = FirstOpenings(store)
    for _ in range(2):
        with pytest.raises(ModelError, match="cannot be opened"):
            openings.open(model).result()
    assert opened == ["bad"] and not first_opening.was_opened(store, model)
    monkeypatch.setattr(first_opening, "FAILED_S", 0)
    openings.open(model).result()
    assert opened == ["bad"] * 2


def test_the_limits_of_loading_end_with_it(tiny_folder: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    assert threading.current_thread() is threading.main_thread()
    with limited_loading(find_checkpoint(str(tiny_folder)), "float32"):
        during = resource.getrlimit(resource.RLIMIT_AS)
        assert 0 < during[0] < 64 << 30 and during[1] == before[1]
    assert resource.getrlimit(resource.RLIMIT_AS) == before and signal.alarm(0) == 0
