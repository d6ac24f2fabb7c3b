"""The page of the clustering: the stored result, and thresholds without a new analysis."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pages.shared.endnotes import methods_section
from pages.shared.frame import links
from tests.support.driving import analyze, metrics, open_app, words
from tests.support.families import FAMILIES, save

METHODS = {
    "surface_patterns": "2.",
    "sep_gradients": "3.",
    "dependency_heads": "6.",
    "attention_viewer": "10.",
    "ablation": "12.",
    "compare": "13.",
    "induction": "15.",
    "emergence": "16.",
    "reach": "17.",
}
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]


def test_page_opens_on_the_stored_result_and_thresholds_only_relabel() -> None:
    app = open_app("clustering", head="4-3")
    assert "Head 4-3 and the most similar heads" in words(app)
    assert {"entropy, nats", "attention to [CLS]"} <= set(app.dataframe[0].value)
    app.slider(key="over-entropy").set_value(7.0).run()
    before = metrics(app)
    app.slider(key="over-entropy").set_value(app.slider(key="over-entropy").min).run()
    after = metrics(app)
    assert not app.exception
    assert not app.error
    [counted] = (metric for metric in app.metric if metric.label == "Heads with a behavior")
    assert counted.delta.endswith(", 0 other")  # no attention has less entropy
    assert after.pop("Heads with a behavior") != before.pop("Heads with a behavior")
    assert before == after


def test_as_in_the_paper_divergences_are_sums() -> None:
    app = open_app("clustering", mode="paper")
    assert re.search(r"Two heads of one layer differ by \S+ nats in all on average", words(app))
    assert "divergence, nats, summed over tokens" in app.dataframe[0].value


def test_a_model_of_one_head_has_a_clustering(tmp_path: Path) -> None:
    sizes = FAMILIES["bert"].sizes | {"num_hidden_layers": 1, "num_attention_heads": 1}
    folder = save(replace(FAMILIES["bert"], sizes=sizes), tmp_path / "one")
    app = open_app("clustering", model=str(folder), max_length="32", limit="2")
    analyze(app)
    assert not app.error and not app.exception
    assert "lacks what the statement is about" in words(app)
    assert "nan" not in words(app)


def test_heads_counted_from_0_are_named_so_in_every_table() -> None:
    tables = [open_app("clustering", head="4-3", zero=zero).dataframe for zero in ("false", "true")]
    of_one, of_zero = (table[1].value["nearest"].iloc[0].split() for table in tables)
    assert [f"{int(a) - 1}-{int(b) - 1}" for a, b in (head.split("-") for head in of_one)] == of_zero


def test_an_about_box_has_its_section_of_the_methods() -> None:
    text = words(open_app("clustering"))
    assert "9. Clustering (6; Figure 6)" in text and "JS(P, Q)" in text


@pytest.mark.parametrize(("page", "heading"), METHODS.items())
def test_pages_know_their_sections_of_the_methods(page: str, heading: str) -> None:
    assert methods_section(links.entry(page)).startswith(f"#### {heading} ")
