"""What the overview and the tour show of an analysis that is not built in, which overrides the methods for it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import pytest

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadAverages, averaged_column
from bertviz_core.analyses.base.head_facts import HeadFacts
from bertviz_core.analyses.base.head_figures import HeadFigure, Rows, share_row
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result
from bertviz_core.heads import Head
from bertviz_core.one_head import description
from bertviz_core.overview import clearest_heads, head_columns, summary, vocabulary
from bertviz_core.overview.clearest_heads import clearest
from bertviz_core.overview.head_columns import frame
from tests.support import shipped


@dataclass(frozen=True)
class InstalledAverages(HeadAverages):
    analysis: ClassVar[str] = "installed"


class Installed(Analysis):
    """Attention to the token itself, which surface patterns have, too."""

    name = "installed"
    title = "Installed"
    summary = "Attention to the token itself."
    result_class = InstalledAverages
    columns = (averaged_column("current", "attention to the token itself", role="the token itself"),)

    def of_head(self, result: Result, head: Head) -> Iterator[Rows]:
        label = head.label()
        yield Rows(named, (result, head), column="name", text=f"head {label}", line=f"Line on {label}")


def named(result: Result, head: Head) -> HeadFigure:
    """A number of the head, a line under its numbers, and a name by which heads are found."""
    layers = np.arange(result["current"].size).reshape(result["current"].shape)
    row = share_row("depth", layers / layers.size, head)
    return HeadFigure("Depth", (row,), facts=(HeadFacts("Place", f": {head.label()}"),), searched={"place": layers})


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The shipped surface patterns, and their numbers again as those of the installed analysis."""
    patterns = shipped.result("surface_patterns")
    values = {field.name: getattr(patterns, field.name) for field in fields(patterns) if field.init}
    for module in (clearest_heads, description, head_columns, summary, vocabulary):
        monkeypatch.setattr(module, "ANALYSES", {**ANALYSES, "installed": Installed()})
    return {"surface_patterns": patterns, "installed": InstalledAverages(**values)}


def test_the_overview_shows_what_an_installed_analysis_says_of_heads(results: dict[str, Any]) -> None:
    table = frame(results)
    assert table["name"].tolist() == [f"head {label}" for label in table["label"]]
    assert table["installed_current"].tolist() == table["current"].tolist()
    cards = json.loads(summary.encoded_cards(results))["cards"]
    assert [card["lines"] for card in cards] == [[f"Line on {label}"] for label in table["label"]]
    assert [*vocabulary.find(results, "place < 2")["head"]] == [1, 2]
    (figure,) = [each for name, each in description.one_head(results, Head(1, 0)).figures if name == "installed"]
    assert (figure.title, figure.rows[0].rank) == ("Depth", figure.rows[0].others.size - figure.rows[0].others.shape[1])
    strongest = clearest(results)[-1]
    assert (strongest.analysis, strongest.name) == ("installed", "the token itself")
    values = results["installed"]["current"]
    assert strongest.head == Head(*np.unravel_index(values.argmax(), values.shape))


def test_an_installed_analysis_inherits_a_figure_in_the_tour(results: dict[str, Any]) -> None:
    result = results["installed"]
    figure = Installed().tour_chart(result, Head(0, 0), {}, is_answered=True).figure
    np.testing.assert_array_equal(figure.data[0].z, result["current"].T)
