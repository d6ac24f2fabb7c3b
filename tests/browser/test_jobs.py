"""A training in a real browser, cancelled from another page."""

from pathlib import Path
from typing import Any

from tests.browser import chromium as browser

BANK = "\n\n".join(
    f"The 2-det\n{noun} 3-nsubj\n{verb} 0-root\nthe 5-det\n{other} 3-dobj\n{when} 3-advmod\n. 3-punct"
    for noun in ("cat", "dog", "man", "boy", "girl", "king", "cook", "nurse")
    for verb in ("saw", "ate", "held", "took", "made", "sold")
    for other in ("fish", "bread", "book", "key", "lamp", "car", "hat")
    for when in ("now", "then", "here", "soon", "there")
)


def files(store: Path) -> set[str]:
    return {str(path) for path in store.rglob("*") if path.is_file()}


def test_a_training_cancelled_from_another_page_stores_nothing(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "bank.txt").write_text(BANK)
    with browser.served(tmp_path / "store") as address:
        page = browser.open_page(chromium, f"{address}/probes")
        sidebar, main = (page.locator(f"[data-testid={name}]") for name in ("stSidebar", "stMain"))
        page.locator(".st-key-add-a-corpus button").first.click()
        page.set_input_files("[class*=st-key-uploader] input[type=file]", tmp_path / "bank.txt")
        page.wait_for_function("document.querySelector('.st-key-treebank input').value === 'bank.txt'", timeout=30_000)
        browser.settle_but_skeletons(page)
        before = files(tmp_path / "store")
        page.keyboard.press("Escape")
        main.get_by_role("button", name="Analyze").click()
        main.get_by_role("button", name="Cancel").wait_for()
        sidebar.get_by_text("Surface patterns", exact=True).click()
        page.wait_for_function("document.querySelector('h1')?.innerText === 'Surface patterns'", timeout=30_000)
        sidebar.get_by_text("Probes: ").wait_for(timeout=30_000)
        sidebar.get_by_role("button", name="Cancel").click()
        page.get_by_text("Probes: cancelled.").wait_for(timeout=30_000)
        assert sidebar.get_by_role("button", name="Cancel").count() == 0
        sidebar.get_by_text("Probes", exact=True).click()
        main.get_by_text("No result was stored").wait_for(timeout=30_000)
        assert main.get_by_role("button", name="Analyze").count() == 1
        assert files(tmp_path / "store") == before
        assert page.problems == []
