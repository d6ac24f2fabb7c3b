"""A link to what is no longer here: each page says what is missing, and one click chooses what ships."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.driving import open_app, parameter, unescaped, words
from tests.support.shipped import COUNT

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]

GONE = "upload-" + "A" * 43


def click(app: AppTest, label: str) -> AppTest:
    (button,) = (button for button in app.button if button.label == label)
    return button.click().run()


@pytest.mark.parametrize("kind", ["corpus", "treebank", "coreference", "pairs"])
@pytest.mark.parametrize("page", ["overview", "head"])
def test_a_page_of_all_analyses_shows_the_rest_without_a_corpus(page: str, kind: str) -> None:
    sample = {"corpus": "encyclopedia"}.get(kind, kind)
    app = open_app(page, **{kind: GONE})
    assert not app.exception and len(app.error) == 1
    assert "is not on this server" in unescaped(app.error[0].value)
    assert kind == "corpus" or f"{COUNT}" in words(app)
    assert parameter(app, kind) == GONE  # until the reader chooses
    click(app, f"Use the sample “{sample}”")
    assert not app.exception and not app.error and parameter(app, kind) is None


def test_a_page_that_needs_the_corpus_offers_the_sample() -> None:
    for page in ("dependency_heads", "clustering", "tour"):
        app = open_app(page, treebank=GONE)
        assert not app.exception and len(app.error) == 1 and "Source:" not in words(app), page
        click(app, "Use the sample “treebank”")
        assert not app.exception and not app.error and "Source:" in words(app), page


def test_a_model_that_is_gone_is_named_and_the_one_that_ships_is_offered() -> None:
    for page in ("overview", "entropy", "tour", "attention_viewer"):
        app = open_app(page, model="/nowhere/at/all")
        assert not app.exception and "/nowhere/at/all" in unescaped(app.error[0].value), page
        click(app, "Use the model “demo”")
        assert not app.exception and not app.error and parameter(app, "model") is None, page
