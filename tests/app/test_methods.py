"""The sections of docs/methods.md behind the pages."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared.endnotes import methods_section
from tests.app.driving import open_app

pytestmark = pytest.mark.usefixtures("own_store")


def shown(app: AppTest) -> list[str]:
    """Markdown on the page and in its dialog."""
    return [element.value for element in app._tree.get("markdown")]


def test_an_about_box_opens_its_section() -> None:
    app, title = open_app("clustering"), "9. Clustering"
    (button,) = [button for button in app.button if button.label.startswith("Methods")]
    assert title in button.label
    text = methods_section(int(title.split(".", maxsplit=1)[0]))[1]
    assert text not in shown(app)
    button.click().run()
    assert not app.exception
    assert text in shown(app)
