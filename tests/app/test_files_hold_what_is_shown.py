"""A page draws the blocks that its files have, with the same words and tables, whatever is chosen; test_exports.py has
what a file makes of each block."""

from collections.abc import Iterable
from typing import Any

import pytest

from bertviz_core import exports
from bertviz_core.analyses.base.block_contents import flat, tables_of
from bertviz_core.analyses.base.blocks import Block, Columns, Control, Offer, Tabs
from bertviz_core.analyses.base.result import Result
from pages.shared import blocks, page
from tests.app.test_files_follow_choices import CHOSEN
from tests.support.driving import open_app
from tests.support.running import run

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]
WITHOUT_COMMAND = [
    ("emergence", {"training": "small-bert", "at_step": "1000", "relations_of": "det,UAS", "head": "3-1"}),
    ("emergence", {}),
    ("compare", {"analysis": "surface_patterns", "compared": "next", "head": "2-1"}),
    ("compare", {"analysis": "dependency_heads"}),
]
PAGES = [(name, address) for name, address, _ in CHOSEN] + WITHOUT_COMMAND
ON_SCREEN_ALONE = (Columns, Control, Offer, Tabs)


def contents(shown: Iterable[Block]) -> set[tuple[Any, ...]]:
    """Of each block what it is called and says, and its tables; figures follow from what is chosen by their title."""
    words = ("name", "title", "text", "note", "alt")
    return {
        (
            type(block).__name__,
            *(getattr(block, name, "") for name in words),
            str(getattr(block, "finding", "")),
            *(each.table.to_csv() for each in tables_of(block)),
        )
        for block in shown
        if not isinstance(block, ON_SCREEN_ALONE)
    }


@pytest.mark.parametrize(("name", "address"), PAGES)
def test_a_page_draws_the_blocks_of_its_files(name, address, monkeypatch) -> None:
    if "both" in address:
        assert not run("surface-patterns", "encyclopedia", "--weights", "norms", "--quiet").returncode
    drawn: list[Block] = []
    results: list[Result] = []
    draw = blocks.draw

    def drawing(shown: Iterable[Block], **options: Any) -> None:
        shown = list(shown)
        drawn.extend(shown)
        draw(shown, **options)

    monkeypatch.setattr(blocks, "draw", drawing)
    monkeypatch.setattr(page, "downloads", lambda result, shown=None: results.append(shown() if shown else result))
    app = open_app(name, **address)
    assert not app.error
    in_files = contents(flat(exports.blocks_of(results[0])))
    assert in_files == contents(flat(drawn))
