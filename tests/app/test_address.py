"""Every choice is in the address: random choices, their address in a fresh session, and the same claim and tables."""

import random
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared.frame import PANEL, links
from tests.support.driving import open_app, parameter, switch, unescaped, words

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]
PAGES = [entry.name for entry in links.ENTRIES]
UNTOUCHED = (  # they ask for new results
    *("model", "corpus", "treebank", "coreference", "mode", "weights", "max_length", "limit", "seed"),
    *("dtype", "training", "possessives", "replace", "epochs", "rank"),
)
NOT_IN_ADDRESS = {"guess", "paste", "everything"}  # which guess the link is for is not


def choices(app: AppTest) -> list[tuple[str, str]]:
    """(kind of widget, key) of every choice on a page."""
    kinds = ("selectbox", "slider", "select_slider", "toggle", "number_input", "button_group", "text_input")
    return [(kind, one.key) for kind in kinds for one in app.get(kind) if one.key and one.key not in UNTOUCHED]


def pick(app: AppTest, kind: str, key: str, chance: random.Random) -> bool:
    """Set a choice to a random other value, or leave it where it has none."""
    one: Any = next((one for one in app.get(kind) if one.key == key), None)
    if one is None or key in NOT_IN_ADDRESS or one.disabled:
        return False
    if kind == "toggle":
        one.set_value(not one.value)
    elif kind == "slider":
        steps = int((one.max - one.min) / one.step + 1e-6)  # the last one may be shorter
        one.set_value(round(one.min + chance.randrange(steps + 1) * one.step, 6))
    elif kind == "number_input":
        one.set_value(chance.randint(int(one.min), int(min(one.max, one.min + 7))))
    elif kind == "select_slider":  # of steps, with separators of thousands
        one.set_value(int(chance.choice(one.options).replace(",", "")))
    elif kind == "text_input":
        return False
    else:
        one.select_index(chance.randrange(len(one.options))) if kind == "selectbox" else _set_any(one, chance)
    return True


def _set_any(one: Any, chance: random.Random) -> None:
    option = chance.choice(one.options)
    one.set_value(option if isinstance(option, str) else option.content)


def shown(app: AppTest) -> dict[str, Any]:
    """What a reader sees: text, numbers and tables."""
    text = [one.value for kind in ("title", "header", "markdown", "caption", "warning") for one in app.get(kind)]
    return {
        "text": list(map(unescaped, text)),
        "metrics": [(one.label, one.value, one.delta) for one in app.metric],
        "tables": [one.value.to_csv() for one in app.dataframe],
        "choices": {key: one.value for kind, key in choices(app) for one in app.get(kind) if one.key == key},
    }


@pytest.mark.parametrize("page", PAGES)
def test_random_choices_are_restored_by_their_address(page: str) -> None:
    chance = random.Random(page)
    app = open_app(page)
    found = choices(app)
    for kind, key in chance.sample(found, min(4, len(found))):
        if pick(app, kind, key, chance):
            app.run()
            assert not app.exception, (kind, key, app.exception)
    address = {name: value[-1] if isinstance(value, list) else value for name, value in app.query_params.items()}
    again = open_app(page, **address)
    left, right = shown(app), shown(again)
    assert left["choices"] == right["choices"]
    assert left == right
    assert not again.warning


def test_what_a_link_asks_for_and_the_page_lacks_is_named() -> None:
    app = open_app("dependency_heads", relation="nonsense", least="x", sentence_page="x")
    warning = unescaped(app.warning[0].value)
    assert "Relation: “nonsense” is not available here" in warning and "Minimum words: “x”" in warning
    assert not app.exception
    app.selectbox(key="relation").select("det").run()
    assert "nonsense" not in unescaped(app.warning[0].value)


def test_a_choice_of_one_page_is_no_choice_of_another() -> None:
    app = open_app("surface_patterns", head="2-3", quantity="next")
    switch(app, "dependency_heads")
    assert "Head 2-3" in words(app)
    assert "quantity" not in app.query_params


def test_a_choice_that_arrives_after_the_page_was_left_is_no_choice_of_the_next_page() -> None:
    app = open_app("dependency_heads")
    app.session_state["session"].page = "ablation"  # as while the next page begins to run
    app.selectbox(key="relation").select("det").run()
    assert not app.exception and "relation" not in app.query_params


def test_choices_in_a_closed_popover_count_without_being_drawn() -> None:
    app = open_app("entropy", head="2-3")
    app.toggle(key="zero").set_value(True).run()
    app.session_state[PANEL] = False
    for _ in range(2):
        app.run()
        assert not app.toggle and "Head 1-2" in words(app) and parameter(app, "zero") == "true"
    app.session_state[PANEL] = True
    assert app.run().toggle(key="zero").value is True


@pytest.mark.parametrize(("page", "parameter"), [("tour", "step"), ("emergence", "step"), ("entropy", "no_such")])
def test_a_parameter_or_a_number_that_a_page_does_not_have_is_named(page: str, parameter: str) -> None:
    app = open_app(page, **{parameter: "123"})
    assert not app.exception and f"{parameter}: “123” is not available here" in unescaped(app.warning[0].value)
    assert parameter not in app.query_params
