"""Blocks as files read them: the order of columns and tabs, what is a table, and lists that build a page when asked."""

from dataclasses import dataclass, replace

import pandas as pd

from bertviz_core.analyses.base.block_contents import flat, tables
from bertviz_core.analyses.base.blocks import Columns, Map, Numbers, Say, Tabs
from bertviz_core.analyses.base.result import Result, cached_on_result
from bertviz_core.analyses.base.shown_inputs import Example
from bertviz_core.analyses.base.table_blocks import Heads, InputList, ListPage, Table
from bertviz_core.heads import counting_from, first_number
from tests.support import shipped

FRAME = pd.DataFrame({"head": ["1-1"], "value": [0.5]})


def say(text: str) -> Say:
    return Say(text)


def test_columns_and_tabs_are_read_one_after_the_other() -> None:
    columns = Columns(left=(say("a"),), middle=(say("b"),), right=(say("c"),), lower=(say("d"),))
    tabs = Tabs((("First", (say("e"),)), ("Second", (Columns((say("f"),), (say("g"),)),))))
    assert "".join(block.text for block in flat([columns, tabs]) if isinstance(block, Say)) == "abcdefg"


def test_files_have_every_table_but_that_of_the_result() -> None:
    numbers = Numbers((("UAS", "43%", "of 10"),), "Step 4", name="step")
    heads = Heads(("value",), {}, lambda: FRAME, (), "Accuracy")
    of_result = Table("steps", "All steps", FRAME, in_files=False)
    shown = [numbers, heads, replace(heads, name="accuracy"), of_result, Table("changed", "Changed", FRAME)]
    assert [(each.name, each.title) for each in tables(shown)] == [
        ("step", "Step 4"),
        ("accuracy", "Accuracy"),
        ("changed", "Changed"),
    ]


def test_a_list_builds_the_page_of_its_view_when_it_is_asked() -> None:
    asked = []

    def page(words: list[str], number: int) -> ListPage:
        asked.append(number)
        return ListPage(
            "Words", f": {len(words)}", len(words), (Example("first", words[number - 1]),), note="In order."
        )

    block = InputList(
        name="words",
        result=["a", "b"],
        view=2,
        page=page,
        rows=lambda words, _: pd.DataFrame({"word": words}),
        size=1,
    )
    assert not asked
    (table,) = tables([block])
    assert asked == [2] and table.title == "Words: 2" and table.note == "In order."
    assert [each.text for each in table.examples] == ["b"] and list(table.table["word"]) == ["a", "b"]


def test_the_heading_of_a_map_in_files_has_what_the_screen_says_elsewhere() -> None:
    squares = Map("step", "what heads do", lambda: None, (), "", detail=", step 4")
    assert squares.heading == "Head map: what heads do, step 4"
    assert replace(squares, subject="B − A", title="", detail="").heading == "B − A"


def test_a_value_is_kept_beside_its_result_by_how_heads_are_counted() -> None:
    calls = []

    @cached_on_result
    def label(result: Result, name: str) -> str:
        calls.append(name)
        return f"{name} {first_number()}"

    @dataclass(frozen=True)
    class Other(Result):
        analysis = "other"

    result = shipped.result("entropy")
    assert [label(result, "a"), label(result, "a"), label(result, "b")] == ["a 1", "a 1", "b 1"]
    with counting_from(0):
        assert label(result, "a") == "a 0"
    assert label(Other(result.provenance), "a") == "a 1"
    assert calls == ["a", "b", "a", "a"]
