"""Links between all pages: what is chosen under the title arrives wherever they lead."""

import re
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import services
from pages.shared.frame import catalogue
from pages.shared.frame.corpora import KEYS
from tests.app.driving import open_app

pytestmark = pytest.mark.usefixtures("own_store")
TEXT = b"The cat sat on the mat.\nIt was warm, and the cat slept.\n"
BANK = b"The 2-det\ncat 3-nsubj\nsat 0-root\n. 3-punct\n"


def links(app: AppTest) -> list[tuple[str, dict[str, str]]]:
    """(page, parameters) of every link on a page, the menu's too."""
    hrefs = [f"{proto.page}?{proto.query_string}" for proto in (cast(Any, link.proto) for link in app.get("page_link"))]
    for component in app.get("bidi_component"):
        hrefs += re.findall(r'"href": ?"(.*?)"', cast(Any, component.proto).json)
    parts = [urlsplit(href) for href in hrefs]
    return [
        (part.path.removeprefix("./") or catalogue.DEFAULT.name, {k: v[0] for k, v in parse_qs(part.query).items()})
        for part in parts
    ]


@pytest.fixture
def chosen(tiny_folder: Path) -> dict[str, str]:
    """Another model, two uploads, and every other choice of the line under the title."""
    text = services.uploads().keep(TEXT, "mine.txt", "text")
    bank = services.uploads().keep(BANK, "mine.conllu", "treebank")
    corpora = {KEYS["text"]: f"upload-{text.token}", KEYS["treebank"]: f"upload-{bank.token}"}
    return {"model": str(tiny_folder), "mode": "paper", "weights": "norms", "head": "2-2", "seed": "3"} | corpora


@pytest.mark.parametrize("page", [entry.name for entry in catalogue.ENTRIES])
def test_every_link_carries_the_choices_of_the_line(page: str, chosen: dict[str, str]) -> None:
    app = open_app(page, **chosen)
    arrived = {name: app.query_params[name] for name in chosen}
    assert {name: value if isinstance(value, str) else value[0] for name, value in arrived.items()} == chosen
    assert {name for name, _ in links(app)} >= {entry.name for entry in catalogue.ENTRIES}
    for target, query in links(app):
        carried = {name: query.get(name) for name in chosen}
        own_head = {"head": carried["head"]}  # a link may lead to a head of its own
        assert carried == chosen | own_head and carried["head"], target


def test_a_relation_of_the_demo_arrives_where_its_link_leads() -> None:
    app = open_app("overview")
    target, query = next((page, query) for page, query in links(app) if "relation" in query)
    there = open_app(target, **query)
    assert there.selectbox(key="relation").value == query["relation"]
    assert there.selectbox(key="head").value == query["head"]
