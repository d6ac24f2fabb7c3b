"""Links between all pages: what is chosen under the title arrives wherever they lead."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run.compute import compute_all
from bertviz_core.corpora.files import FOLDER, SAMPLES
from bertviz_core.models.checkpoint import DEMO, find_checkpoint
from bertviz_core.settings import Settings
from pages.shared import services
from pages.shared.frame.corpora import KEYS
from pages.shared.frame.links import DEFAULT, ENTRIES
from tests.support.bracketed import conll
from tests.support.driving import open_app

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]
TREEBANK = (FOLDER / SAMPLES["treebank"]["treebank"]).read_bytes().split(b"\n\n")
UPLOADS = {
    "text": b"The cat sat on the mat.\nIt was warm, and the cat slept.\n",
    "treebank": b"\n\n".join(TREEBANK[:120]),  # enough that heads find relations better than fixed offsets do
    "coreference": conll(
        "[1 Ann ] sang . / [1 She ] smiled .", "[1 The cat ] saw [2 the dog ] . / [1 It ] slept ."
    ).encode(),
}
ANALYZED = ("surface_patterns", "entropy", "dependency_heads", "coreference_heads", "clustering")


def links(app: AppTest) -> list[tuple[str, dict[str, str]]]:
    """(page, parameters) of every link on a page, the menu's too."""
    hrefs = [f"{proto.page}?{proto.query_string}" for proto in (cast(Any, link.proto) for link in app.get("page_link"))]
    for component in app.get("bidi_component"):
        hrefs += re.findall(r'"href": ?"(.*?)"', cast(Any, component.proto).json)
    parts = [urlsplit(href) for href in hrefs]
    return [
        (part.path.removeprefix("./") or DEFAULT.name, {k: v[0] for k, v in parse_qs(part.query).items()})
        for part in parts
    ]


def uploads() -> dict[str, str]:
    """The address of an upload of each kind, which are stored."""
    kept = {kind: services.uploads().keep(data, f"mine {kind}", kind) for kind, data in UPLOADS.items()}
    return {KEYS[kind]: f"upload-{upload.token}" for kind, upload in kept.items()}


def values(app: AppTest, names: Iterable[str]) -> dict[str, str]:
    """Choices of a page as an address has them, whether they are defaults or not."""
    of_address = {name: app.query_params[name] for name in app.query_params}
    state = {name: app.session_state[name] for name in names if name in app.session_state}
    texts = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in state.items()}
    return texts | {name: value if isinstance(value, str) else value[0] for name, value in of_address.items()}


@pytest.mark.parametrize("page", [entry.name for entry in ENTRIES])
def test_every_link_carries_the_choices_of_the_line(page: str, tiny_folder: Path) -> None:
    """Another model, an upload of each kind, and every other choice of the line under the title."""
    chosen = {"model": str(tiny_folder), "mode": "paper", "weights": "norms", "head": "2-2", "seed": "3"} | uploads()
    app = open_app(page, **chosen)
    assert {name: values(app, chosen)[name] for name in chosen} == chosen
    assert {name for name, _ in links(app)} >= {entry.name for entry in ENTRIES}
    for target, query in links(app):
        carried = {name: query.get(name) for name in chosen}
        own_head = {"head": carried["head"]}  # a link may lead to a head of its own
        assert carried == chosen | own_head and carried["head"], target


def test_what_the_links_of_results_say_arrives_where_they_lead() -> None:
    """Model, corpora, head and weights, and the link's own: relation, quantity, segment."""
    folder = str(find_checkpoint(DEMO).folder)
    chosen = {"model": folder, "weights": "norms"} | uploads()
    corpora = {kind: services.uploads().source_of(services.uploads().latest(kind)[0]) for kind in UPLOADS}
    settings, model = Settings(weights="norms"), find_checkpoint(folder)
    requests = [Request(name, model, corpora[ANALYSES[name].corpus], settings) for name in ANALYZED]
    compute_all(requests, services.store())
    own: dict[tuple[str, ...], tuple[str, dict[str, str]]] = {}
    for page in ("overview", "tour", *ANALYZED):
        app = open_app(page, **chosen, **({"step": "8", "answer": "shown"} if page == "tour" else {}))
        for target, query in links(app):
            assert {name: query.get(name) for name in chosen} == chosen, (page, target)
            if more := sorted(query.keys() - chosen.keys()):
                own.setdefault((target, *more), (target, query))
    assert {name for _, query in own.values() for name in query} >= {"relation", "quantity", "segment", "head"}
    for target, query in own.values():
        there = values(open_app(target, **query), query)
        assert {name: there.get(name) for name in query} == query, target
