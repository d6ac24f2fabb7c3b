"""The page and the command of the clustering: same numbers, thresholds and roots without a new analysis."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bertviz_core.cli import commands as cli
from bertviz_core.errors import SettingsError
from tests.app.driving import metrics, open_app, words
from tests.shipped import COUNT

pytestmark = pytest.mark.usefixtures("own_store")


def command(*arguments: str) -> dict:
    """What the command writes, without a model being run: the sample's result ships with the project."""
    out = next(Path(a) for a in arguments if a.endswith(".json"))
    done = CliRunner().invoke(cli.app, ["clustering", "encyclopedia", "--quiet", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return json.loads(out.read_bytes())


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


def test_the_command_gives_the_numbers_of_the_page(tmp_path: Path) -> None:
    whole = command("--out", str(tmp_path / "a.json"))
    with_behavior = sum(row["behavior"] not in ("broad", "other") for row in whole["table"])
    assert metrics(open_app("clustering"))["Heads with a behavior"] == f"{with_behavior} of {COUNT}"
    assert len(whole["arrays"]["divergence"]) == len(whole["arrays"]["embedding"]) == COUNT


def test_the_command_takes_thresholds_and_roots(tmp_path: Path) -> None:
    whole = command("--out", str(tmp_path / "a.json"))
    other = command("--root", "--threshold", "entropy=7", "--threshold", "next=1", "--out", str(tmp_path / "b.json"))
    assert other["arrays"]["divergence"] == whole["arrays"]["divergence"]
    assert other["arrays"]["embedding"] != whole["arrays"]["embedding"]
    before, after = ({row["label"]: row["behavior"] for row in found["table"]} for found in (whole, other))
    assert not {"broad", "next"} & set(after.values())  # no head can reach these thresholds
    assert all(after[label] == name for label, name in before.items() if name not in ("broad", "next"))


@pytest.mark.parametrize("given", ["entropi=3", "entropy", "entropy=high", "entropy=nan"])
def test_what_is_no_threshold_is_refused(given: str) -> None:
    with pytest.raises(SettingsError, match="not a threshold") as caught:
        CliRunner().invoke(cli.app, ["clustering", "encyclopedia", "--threshold", given], catch_exceptions=False)
    assert "entropy" in caught.value.hint
