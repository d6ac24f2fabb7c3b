"""Many readers on one real server: nobody gets an error box, and nobody sees anything of anybody else's."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bertviz_core.analyses.base.request import Request
from bertviz_core.corpora.files import sample
from bertviz_core.engine.store import Store
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import DEMO, find_checkpoint
from pages.shared import services
from pages.shared.frame.links import ENTRIES
from pages.shared.messages import plain
from tests.support.driving import unescaped
from tests.support.shipped import clearest
from tests.support.visitors import Run, crowd, visitor

pytestmark = pytest.mark.browser

TOKEN_LEVEL = ("surface_patterns", "entropy")


def heads_named(run: Run) -> set[str]:
    """Every head that the page calls the chosen one; a finding, which begins with an icon, names any head."""
    texts = [element.body for kind in ("markdown", "heading") for element in run.of(kind)]
    others = [text for text in texts if not re.match(r":[\w-]+\[:material/", text)]
    return set(re.findall(r"Head (\d+-\d+)", "\n".join(others).replace("\\", "")))


def test_what_sessions_share_of_a_result_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "store", lambda: Store(tmp_path))
    result = services.find(Request("entropy", find_checkpoint(DEMO), sample("encyclopedia")))
    with pytest.raises(ValueError, match="read-only"):
        result.mean[0] = 0


def test_a_class_that_opens_every_page_at_once_meets_no_error(address: str) -> None:
    pages = [entry.name for entry in ENTRIES]
    visits = crowd(address, 5, pages, pause=0.05)
    assert [len(visit.seconds) for visit in visits] == [len(pages)] * 5
    assert [visit.boxes + visit.errors for visit in visits] == [[]] * 5


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
                shown = f"**{plain(Path(choice['model']).name)}** on **encyclopedia**"
                line = shown + " · as published" * (choice["mode"] == "paper") + " ·"
                assert line in [element.body for element in run.of("markdown")]

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(read, choices))


def test_readers_at_once_count_heads_each_in_their_own_way(address: str) -> None:
    best = Head.parse(clearest("previous"))
    labels = {zero: f"{best.layer + 1 - by}-{best.head + 1 - by}" for zero, by in (("false", 0), ("true", 1))}

    def read(zero: str) -> None:
        (other,) = {*labels.values()} - {labels[zero]}
        with visitor(address) as reader:
            for page in ("surface_patterns", "head", "surface_patterns"):
                text = unescaped(reader.open(page, zero=zero, head=best.key()).text)
                assert f"ead {labels[zero]} puts" in text and f"ead {other} puts" not in text

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(read, [*labels] * 2))
