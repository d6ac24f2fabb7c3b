"""Many readers on one real server: nobody gets an error box, and nobody sees anything of anybody else's."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bertviz_core.analyses.request import Request
from bertviz_core.corpora.files import sample
from bertviz_core.engine.store import Store
from bertviz_core.models.checkpoint import DEMO, find
from pages.shared import services
from pages.shared.frame.catalogue import ENTRIES
from tests.browser import chromium as browser
from tests.visitors import Run, Visitor, crowd, visitor

TEXT = "The otter slept .\nThe otter swam , and the heron watched .\n"
TOKEN_LEVEL = ("surface_patterns", "entropy")


def heads_named(run: Run) -> set[str]:
    """Every head that the page calls the chosen one; a finding, which begins with an icon, names any head."""
    texts = [element.body for kind in ("markdown", "heading") for element in run.of(kind)]
    others = [text for text in texts if not re.match(r":\w+\[:material/", text)]
    return set(re.findall(r"Head (\d+-\d+)", "\n".join(others).replace("\\", "")))


def test_what_sessions_share_of_a_result_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "store", lambda: Store(tmp_path))
    result = services.find(Request("entropy", find(DEMO), sample("encyclopedia")))
    with pytest.raises(ValueError, match="read-only"):
        result.mean[0] = 0


def test_a_class_that_opens_every_page_at_once_meets_no_error(address: str) -> None:
    pages = [entry.name for entry in ENTRIES]
    visits = crowd(address, 8, pages, pause=0.05)
    assert [len(visit.seconds) for visit in visits] == [len(pages)] * 8
    assert [visit.boxes + visit.errors for visit in visits] == [[]] * 8


def test_two_readers_at_once_keep_their_own_model_mode_and_head(address: str, tiny_folder: Path) -> None:
    choices = (
        {"model": str(tiny_folder), "mode": "paper", "heads": ("1-1", "1-2", "2-1", "2-2")},
        {"model": "demo", "mode": "corrected", "heads": ("3-5", "4-6", "5-7", "6-8")},
    )

    def read(choice: dict) -> None:
        with visitor(address) as reader:
            for number in range(16):
                head = choice["heads"][number % 4]
                query = {"model": choice["model"], "mode": choice["mode"], "head": head}
                run = reader.open(TOKEN_LEVEL[number // 4 % 2], **query)
                assert run.exceptions == []
                assert heads_named(run) == ({head} if choice["model"] == "demo" else set())  # nothing is stored
                named, mode = Path(choice["model"]).name, choice["mode"]
                assert [chosen(run)[name] for name in ("Model", "Corpus", "Mode")] == [named, "encyclopedia", mode]

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(read, choices))


def test_an_upload_its_job_and_its_result_are_seen_by_their_reader_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTVIZ_PUBLIC", "1")
    with browser.served(tmp_path / "store") as address, visitor(address) as mine, visitor(address) as other:
        mine.open("surface_patterns", head="2-3")
        other.open("surface_patterns", head="5-6")
        mine.set("paste", string_value=TEXT)
        run = mine.press("Use the pasted text")
        assert chosen(run)["Corpus"] == "pasted text"
        mine.press(next(label for label in mine.widgets if label.startswith("Analyze")))
        while_it_runs = [other.open(page, head="5-6") for page in ("surface_patterns", "overview", "clustering")]
        done = _until_analyzed(mine)
        assert heads_named(done) == {"2-3"}
        assert re.search(r"\botter\b", done.text)
        for run in (*while_it_runs, *(other.open(entry.name, head="5-6") for entry in ENTRIES)):
            assert run.exceptions == []
            assert not run.of("progress")
            assert run.text.count("pasted text") == run.text.count("Use the pasted text")
            assert not any("pasted" in option or "upload" in option for option in _corpora(run))
            assert not re.search(r"\botter\b", run.text)
            assert "2-3" not in heads_named(run)


def chosen(run: Run) -> dict[str, str]:
    """Label of each choice -> what is chosen."""
    return {box.label: box.raw_value for box in run.of("selectbox")}


def _corpora(run: Run) -> list[str]:
    return [option for one in run.of("selectbox") if one.label == "Corpus" for option in one.options]


def _until_analyzed(reader: Visitor) -> Run:
    """A process starts, imports torch and loads the model first: a busy machine takes minutes."""
    ends = time.monotonic() + 300
    while not (run := reader.look()).of("metric"):
        assert time.monotonic() < ends and not run.of("alert"), run.text
        time.sleep(0.25)
    return run
