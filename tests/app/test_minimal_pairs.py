"""The page of minimal pairs: sets of heads that are removed together, and the relations that stored results offer."""

import pytest

import bertviz_core as bv
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.minimal_pairs.options import MinimalPairsOptions
from bertviz_core.corpora.files import sample
from bertviz_core.engine.store import Store
from bertviz_core.models.checkpoint import DEMO, find_checkpoint
from bertviz_core.overview.stored_results import completed
from tests.support.driving import open_app, words

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]
LIMIT = 12  # pairs


def test_a_link_with_a_set_opens_what_the_library_computes() -> None:
    """What is stored for the library's request, here that of a few pairs, is what the page shows: it asks for the
    same."""
    options = MinimalPairsOptions(heads="nsubj")
    request = Request("minimal_pairs", find_checkpoint(DEMO), sample("pairs"), options=options.to_json())
    few = bv.analyze("minimal_pairs", heads="nsubj", limit=LIMIT)
    Store().put(completed(options, request, Store()).key(), few.result.to_bytes())
    finding = next(each for each in few.findings() if each.id == "minimal_pairs.set")
    app = open_app("minimal_pairs", heads="nsubj")
    assert not any(button.label.startswith("Analyze") for button in app.button)
    assert finding.sentence in words(app) and "one half of treebank" in finding.sentence
    box = app.selectbox(key="heads")
    assert box.value == "nsubj" and {"dobj", "relations"} <= {*box.options}
    assert any("points, controls" in table.value for table in app.dataframe)


@pytest.mark.parametrize(("heads", "shown"), [("relations", "Relations by phenomena"), ("dobj", "points, controls")])
def test_sets_that_ship_are_there_at_once(heads: str, shown: str) -> None:
    app = open_app("minimal_pairs", heads=heads)
    assert not any(button.label.startswith("Analyze") for button in app.button)
    assert shown in words(app) or any(shown in table.value for table in app.dataframe)


def test_another_set_is_offered_to_be_computed() -> None:
    app = open_app("minimal_pairs")
    app.selectbox(key="heads").set_value("det").run()
    assert any(button.label.startswith("Analyze") for button in app.button)


def test_what_no_result_names_has_no_effect_and_that_is_said() -> None:
    app = open_app("minimal_pairs", heads="verbs")
    assert "name no heads for 'verbs'" in words(app) and "Head map" in words(app)
    app = open_app("minimal_pairs", heads="nsubj", mode="paper", seed="3")
    assert "No stored result of this model names heads for 'nsubj'" in words(app)
