import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import huggingface_hub
import pytest

from bertviz_core import tasks
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.probes.options import ProbeOptions
from bertviz_core.analyses.run import compute
from bertviz_core.analyses.run.run_pass import last_model_loader
from bertviz_core.corpora import upload_check
from bertviz_core.corpora.files import sample
from bertviz_core.corpora.source import Source, from_path
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import Uploads
from bertviz_core.errors import DownloadNeeded, InputError, ModelError
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.checkpoint import paper_model
from bertviz_core.settings import Access, Settings, access_from_environment
from bertviz_core.tasks import perform

TEXT = "the cat sat on the mat .\nthe dog slept , and slept\n\na river runs\nlamps are lit\n\nthe cat slept\n"
SETTINGS = Settings(max_length=32)
CHAINS = {"doc_key": "a", "sentences": [["She", "saw", "herself"]], "clusters": [[[0, 0], [2, 2]]]}


def crossed(task):
    return json.loads(json.dumps(task))


@pytest.fixture
def uploaded(store):
    uploads = Uploads(store)
    return uploads.source(uploads.keep(TEXT.encode(), "my text.txt", "text").token)


@pytest.fixture
def loads(monkeypatch):
    """Names of the models that were loaded."""
    names, real = [], loading.load

    def counted(model, *options, **more):
        names.append(model.name)
        return real(model, *options, **more)

    monkeypatch.setattr(loading, "load", counted)
    return names


def test_a_request_is_the_same_on_the_other_side(store, tiny_folder, uploaded, tmp_path):
    (tmp_path / "vectors.txt").write_text("the 1 2\n")
    request = Request(
        "probes",
        replace(checkpoint.find_checkpoint(str(tiny_folder)), name="mine", revision="main"),
        replace(uploaded, max_unpacked=12_345),
        Settings(max_length=64, limit=3, seed=5, mode="paper", dtype="bfloat16"),
        ProbeOptions(("attention-only",), 3, 7, "adam").to_json(),
        {"vectors": from_path(tmp_path / "vectors.txt"), "dev": sample("treebank")},
    )
    task = crossed(tasks.analyses([request], store))
    again = tasks._open_request(task["requests"][0], store)
    assert again.key() == request.key()
    assert (again.checkpoint, again.settings) == (request.checkpoint, request.settings)
    assert again.checkpoint.config == request.checkpoint.config
    assert (again.source, again.source.max_unpacked) == (request.source, 12_345)
    assert list(again.source.lines()) == list(request.source.lines())
    assert again.others == request.others
    assert len(json.dumps(task)) < 5_000


BLOCKS = {  # kind -> an analysis, and a part of a file
    "text": ("surface_patterns", "the cat sat on the mat .\n\n"),
    "treebank": ("dependency_heads", "the 2-det\ncat 3-nsubj\nsat 0-root\n. 3-punct\n\n"),
    "coreference": ("coreference_heads", f"{json.dumps(CHAINS)}\n"),
}


@pytest.mark.parametrize("kind", BLOCKS)
def test_a_file_is_parsed_once_by_its_check_and_once_by_its_job(
    kind: str, store: Store, tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analysis, block = BLOCKS[kind]
    (tmp_path / "0").write_text(block * (110_000 // len(block)))
    lines = Source.lines
    ends: list[str] = []

    def counted(self: Source, *, cut: bool = False) -> Iterator[tuple[int, str]]:
        yield from lines(self, cut=cut)
        if not cut:  # a survey, by which the format is recognized, cuts long lines and parses none
            ends.append(self.name)

    monkeypatch.setattr(Source, "lines", counted)
    task = {"names": ["mine"], "kind": kind, "fixed": False, "max_size": 10**6, "max_unpacked": 10**6}
    assert [*upload_check._check(tmp_path, task)["contents"]] == [kind]
    assert ends == ["mine"]
    uploads = Uploads(store)
    source = uploads.source(uploads.keep((tmp_path / "out").read_bytes(), "mine", kind).token)
    request = Request(analysis, checkpoint.find_checkpoint(str(tiny_folder)), source, SETTINGS)
    perform(crossed(tasks.analyses([request], store)), Progress(), last_model_loader())
    assert compute.find(store, request) is not None
    assert ends == ["mine"] * 2


def test_a_second_task_of_the_same_model_does_not_load_it(store, tiny_folder, masked_folder, uploaded, loads):
    load = last_model_loader()

    def run(folder, analysis="entropy", **settings):
        request = Request(analysis, checkpoint.find_checkpoint(str(folder)), uploaded, replace(SETTINGS, **settings))
        perform(crossed(tasks.analyses([request], store)), Progress(), load)
        assert compute.find(store, request) is not None

    run(masked_folder)
    run(masked_folder, limit=2)
    assert loads == [str(masked_folder)]
    run(masked_folder, "sep_gradients")  # with its head: another loading
    run(masked_folder, "surface_patterns")  # which serves what needs no head
    assert loads == [str(masked_folder)] * 2
    run(tiny_folder)
    run(tiny_folder, dtype="bfloat16")
    run(tiny_folder, "clustering", dtype="bfloat16")
    assert loads == [str(masked_folder)] * 2 + [str(tiny_folder)] * 2


def test_a_download_is_performed_and_what_arrives_is_reported(store, tiny_folder, tmp_path, monkeypatch):
    fetched, downloaded, progress = [], checkpoint.find_checkpoint(str(tiny_folder)), Progress()
    folder = tmp_path / "models--a"
    folder.mkdir()
    (folder / "before").write_bytes(bytes(10**6))
    (folder / "link").symlink_to(folder / "before")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(tasks, "PROGRESS_INTERVAL_S", 0.01)

    def absent(name, **_):
        raise DownloadNeeded(name, 12_400_000)

    def download(*asked):
        fetched.append(asked)
        (folder / "model.incomplete").write_bytes(bytes(5 * 10**6))
        while progress.done != 5:
            time.sleep(0.01)
        return downloaded

    monkeypatch.setattr(checkpoint, "find_checkpoint", absent)
    monkeypatch.setattr(checkpoint, "download", download)
    perform(crossed(tasks.download(["someone/model@v1"], [], store)), progress, last_model_loader())
    assert fetched == [("someone/model@v1", access_from_environment())]
    assert (progress.stage, progress.total, progress.unit) == ("Downloading someone/model@v1", 12, "MB")


def test_a_model_is_fetched_and_analyzed_as_far_as_it_can_be(store, tiny_folder, uploaded, monkeypatch):
    downloaded = checkpoint.find_checkpoint(str(tiny_folder))
    monkeypatch.setattr(checkpoint, "find_checkpoint", lambda *_, **__: replace(downloaded, name="someone/model"))
    names = ("entropy", "sep_gradients")  # the second needs an MLM head, which this model lacks
    wanted = [Request(name, paper_model(), uploaded, SETTINGS) for name in names]
    perform(crossed(tasks.download(["someone/model"], wanted, store)), Progress(), last_model_loader())
    named = replace(downloaded, name="someone/model")
    entropy, gradients = (compute.find(store, replace(request, checkpoint=named)) for request in wanted)
    assert entropy.provenance["model"]["name"] == "someone/model" and gradients is None


def test_corpora_not_stored_changed_or_gone_are_refused(store, tiny_folder, uploaded, tmp_path, source):
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT)
    found = checkpoint.find_checkpoint(str(tiny_folder))
    from_file, from_upload = (
        crossed(tasks.analyses([Request("entropy", found, corpus, SETTINGS)], store))
        for corpus in (from_path(path), uploaded)
    )
    path.write_text(TEXT + "another line\n")
    Uploads(store).delete(uploaded.locator.removeprefix("upload:"))
    with pytest.raises(InputError, match="has changed"):
        perform(from_file, Progress(), last_model_loader())
    with pytest.raises(InputError, match="not on this server"):
        perform(from_upload, Progress(), last_model_loader())
    from_file["requests"][0]["checkpoint"]["folder"] = str(tmp_path / "nowhere")
    with pytest.raises(ModelError):
        perform(from_file, Progress(), last_model_loader())
    with pytest.raises(InputError, match="not in the store"):
        tasks.analyses([Request("entropy", found, source(TEXT))], store)


def test_a_job_that_another_reader_joined_says_that_readers_names(store, tiny_folder):
    """Two readers upload equal files; the first one's upload is what the job reads, and it is damaged."""
    uploads = Uploads(store, Access(public=True))
    data = b"the cat sat .\nthe dog slept .\n\xff\n"
    own = {}
    for name in ("patient-Smith-2026.txt", "b.txt"):
        source = uploads.source(uploads.keep(data, name, "text").token)
        request = Request("entropy", checkpoint.find_checkpoint(str(tiny_folder)), source, SETTINGS)
        own[name] = crossed(tasks.analyses([request], store))
    first, second = own.values()
    with pytest.raises(InputError) as caught:
        perform(first, Progress(), last_model_loader())
    assert caught.value.where == "patient-Smith-2026.txt, line 3"
    seen = tasks.under_own_names(caught.value, first, second)
    assert seen.where == "b.txt, line 3" and "Smith" not in str(seen)
    assert (seen.what, seen.hint) == (caught.value.what, caught.value.hint)


def test_names_in_an_error_are_replaced_as_names_alone():
    def task(name):
        return {"requests": [{"source": {"name": name, "digest": "d", "locator": "upload:x"}, "others": {}}]}

    long = "x" * 250
    error = InputError("A word of a.txt is no word.", where="a.txt, line 1", hint="Split a.txt-like files.")
    assert tasks.under_own_names(error, task("a.txt"), task("own")).where == "own, line 1"
    error = InputError("a text", where="a, line 1")
    assert tasks.under_own_names(error, task("a"), task("own")).what == "a text"
    error = InputError("what", where=f"{long}, {'line' * 20}")
    assert "x" not in tasks.under_own_names(error, task(long), task("own")).where
