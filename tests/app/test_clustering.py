"""The page of the clustering: the stored result, and thresholds without a new analysis."""

import re

import pytest

from tests.app.driving import metrics, open_app, words

pytestmark = pytest.mark.usefixtures("own_store")


def test_page_opens_on_the_stored_result_and_thresholds_only_relabel() -> None:
    app = open_app("clustering", head="4-3")
    assert [element.value for element in app.title] == ["Clustering"]
    assert "Head 4-3 and the most similar heads" in words(app)
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
    [most_similar] = (metric for metric in app.metric if metric.label == "Most similar heads")
    assert most_similar.delta.endswith(" nats, summed over tokens")
