"""Questions to a hub that is silent, slow or wrong: nobody waits longer than the access says."""

import socket
import threading
import time
from dataclasses import replace

import huggingface_hub
import pytest

from bertviz_core.emergence.training import find_training
from bertviz_core.errors import DownloadNeeded, ModelError
from bertviz_core.models import checkpoint, hub_questions, model_sources
from bertviz_core.models.hub_questions import HubPending, Question
from bertviz_core.settings import LOCAL
from tests.support.driving import open_app, words
from tests.support.hub import NAME, ask_here, serving
from tests.support.waiting import until

PAGE = replace(LOCAL, hub_seconds=0.0)


def test_an_answer_is_waited_for_and_given_again():
    asked = []
    question = Question(lambda name: asked.append(name) or len(asked))
    assert [question("a", seconds=5), question("a", seconds=5), question("b", seconds=5)] == [1, 1, 2]
    question.cache_clear()
    assert question("a", seconds=5) == 3


def test_an_error_is_asked_again_by_those_who_wait_and_shown_to_those_who_do_not():
    asked = []

    def fail(_):
        asked.append(1)
        raise ModelError("It fails.")

    question = Question(fail)
    for _ in range(2):
        with pytest.raises(ModelError, match="It fails"):
            question("a", seconds=5)
    assert len(asked) == 2
    with pytest.raises(ModelError, match="It fails"):
        question("a", seconds=0)
    assert len(asked) == 2


def test_who_does_not_wait_is_told_so_and_finds_the_answer_later():
    ready = threading.Event()
    question = Question(lambda: ready.wait(10))
    with pytest.raises(HubPending) as pending:
        question(seconds=0)
    ready.set()
    until(pending.value.answer.done)
    assert question(seconds=0) is True


@pytest.fixture
def silent(monkeypatch, tmp_path):
    """A hub that accepts connections, and says nothing."""
    monkeypatch.setattr(hub_questions, "HUB_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server, serving({}) as hub:
        ask_here(hub, tmp_path / "cache", monkeypatch)
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", address)
        yield


@pytest.mark.parametrize(
    "ask",
    [
        lambda access: checkpoint.find_checkpoint("owner/model", access=access),
        lambda access: find_training("owner/model@step*", access),
    ],
)
def test_a_silent_hub_is_given_up(silent, ask):
    started = time.monotonic()
    with pytest.raises(HubPending):
        ask(PAGE)
    assert time.monotonic() - started < 0.5
    with pytest.raises(ModelError, match="not answered within 1 seconds"):
        ask(LOCAL)
    assert time.monotonic() - started < 10


def test_a_page_says_that_the_hub_is_silent(silent):
    app = open_app("emergence", training="owner/model@step*")
    assert "has not answered" in " ".join(error.value for error in app.error)
    assert words(app)


def test_a_tokenizer_that_another_program_fetched_is_no_model(tiny_folder, tmp_path, monkeypatch):
    with serving({"main": tiny_folder}) as hub:
        ask_here(hub, tmp_path / "cache", monkeypatch)
        huggingface_hub.snapshot_download(
            NAME, allow_patterns=["tokenizer*", "config.json"], cache_dir=tmp_path / "cache"
        )
        with pytest.raises(DownloadNeeded) as needed:
            checkpoint.find_checkpoint(NAME)
        assert needed.value.size > 0
        assert checkpoint.download(NAME).layers == 2
        assert checkpoint.find_checkpoint(NAME).layers == 2


def test_a_revision_that_has_no_safetensors_is_not_one_that_is_missing(tiny_folder, tmp_path, monkeypatch):
    pickled = tmp_path / "pickled"
    pickled.mkdir()
    (pickled / "config.json").write_bytes((tiny_folder / "config.json").read_bytes())
    (pickled / "pytorch_model.bin").write_bytes(b"x")
    with serving({"main": tiny_folder, "step1": pickled}) as hub:
        ask_here(hub, tmp_path / "cache", monkeypatch)
        with pytest.raises(ModelError, match="The revision 'step1' of 'owner/trained' has no safetensors"):
            checkpoint.find_checkpoint(f"{NAME}@step1")
        with pytest.raises(ModelError, match="The model 'owner/trained' has no revision 'step2'"):
            checkpoint.find_checkpoint(f"{NAME}@step2")


def test_results_have_the_name_of_the_revision_that_was_asked_for(masked_folder, tmp_path, monkeypatch):
    import bertviz_core as bv

    with serving({"step1": masked_folder, "step2": masked_folder}) as hub:
        ask_here(hub, tmp_path / "cache", monkeypatch)
        for revision in ("step1", "step2"):
            model = checkpoint.download(f"{NAME}@{revision}").name
            options = {"corpus": ["The cat sat on the mat."], "max_length": 32, "store": tmp_path / "store"}
            about = bv.analyze("entropy", model=model, **options).provenance["model"]
            assert (about["name"], about["revision"]) == (f"{NAME}@{revision}", revision)
    assert model_sources.split_revision(model) == (NAME, "step2")
