"""Behaviors of heads: the last rule that applies wins; linguistic heads come from stored results."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertviz_core.analyses import behaviors as behaviors_module
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.presentation import NamedHead
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.behaviors import QUANTITIES, Thresholds, behaviors, linguistic, linguistic_heads
from bertviz_core.corpora.files import SAMPLES
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import find_checkpoint as find_model
from bertviz_core.settings import Settings
from tests.oracles import clustering as reference


@given(st.lists(st.sampled_from([0.0, 0.5, 0.55, 0.6, 0.7, 3.8, 4.0]), min_size=7, max_size=7), st.booleans())
def test_equals_the_literal_rules(values: list[float], decoder: bool) -> None:
    averages = dict(zip(QUANTITIES, values, strict=True))
    for name in ("next", "to_cls", "to_sep") if decoder else ():
        del averages[name]
    found = behaviors({name: np.array([[value]]) for name, value in averages.items()}, Thresholds())
    assert found[0, 0] == reference.behavior(averages, asdict(Thresholds()))


def test_linguistic_heads_win() -> None:
    averages = {name: np.full((2, 3), 9.0) for name in QUANTITIES}
    found = behaviors(averages, Thresholds(), [Head(1, 2)])
    assert found[1, 2] == "linguistic"
    assert (found.reshape(-1)[:-1] == "to_punct").all()


def test_what_a_model_has_not_applies_to_no_head() -> None:
    averages = {"next": np.array([[0.9, 0.1]]), "to_sep": np.full((1, 2), np.nan)}
    assert behaviors(averages, Thresholds()).tolist() == [["next", "other"]]


ROWS = [  # relation, head, held-out accuracy, above the baseline, baseline
    ("all", "1-1", 0.6, True, 0.1),
    ("UAS", "1-1", 0.6, True, 0.1),
    ("punct", "4-4", 0.6, True, 0.1),
    ("obj", "2-3", 0.7, True, 0.3),
    ("det", "2-1", 0.8, False, 0.75),  # not clear of the baseline
    ("nsubj", "2-3", 0.6, True, 0.4),
]


@dataclass
class Dependency:
    def default_view(self) -> Dependency:
        return self

    def to_frame(self) -> pd.DataFrame:
        return pd.DataFrame(
            ROWS, columns=["relation", "head", "heldout_accuracy", "above_baseline", "baseline_accuracy"]
        )


def coreference(accuracy: float) -> SimpleNamespace:
    """The best head by the paper's measure is 3-4; the best simple baseline is right for 30%."""
    best = SimpleNamespace(direction=0, head=Head(2, 3))
    view = SimpleNamespace(best=lambda: best, finds_antecedents=lambda: accuracy > 0.3)
    return SimpleNamespace(default_view=lambda: view)


@pytest.fixture
def request_(source) -> Request:
    return Request("clustering", find_model("demo"), source("a\n"), Settings(seed=3))


@pytest.mark.parametrize(
    ("stored", "marked"),
    [
        ({}, {}),
        (
            {"dependency_heads": Dependency(), "coreference_heads": coreference(0.4)},
            {"2-3": "obj, nsubj", "3-4": "coreference"},
        ),
        ({"coreference_heads": coreference(0.2)}, {}),  # a baseline beats the head
    ],
)
def test_what_is_clear_of_its_baseline_is_marked(request_: Request, stored: dict, marked: dict) -> None:
    assert linguistic_heads(request_, lambda other: stored.get(other.analysis)) == marked


def test_the_samples_are_asked_for_with_the_same_model_and_settings(request_: Request) -> None:
    asked: list[Request] = []
    linguistic_heads(request_, asked.append)
    assert [other.source.name for other in asked] == [*SAMPLES["treebank"], *SAMPLES["coreference"]]
    assert {(other.settings, other.checkpoint) for other in asked} == {(request_.settings, request_.checkpoint)}


def test_a_plugin_names_heads_as_a_built_in_analysis_does(monkeypatch: pytest.MonkeyPatch, request_: Request) -> None:
    class Plugin(Analysis):
        name = "plugin"
        corpus = "treebank"

        def named_heads(self, result: Any) -> list[NamedHead]:
            return [NamedHead("2-3", "negation"), NamedHead("5-1", "negation")]

    monkeypatch.setattr(behaviors_module, "ANALYSES", {**ANALYSES, "plugin": Plugin()})
    results: Any = {"plugin": object(), "dependency_heads": Dependency()}
    assert linguistic(results) == {"2-3": "obj, nsubj, negation", "5-1": "negation"}
    asked: list[Request] = []
    linguistic_heads(request_, asked.append)
    assert [other.analysis for other in asked if other.analysis == "plugin"] == ["plugin"] * len(SAMPLES["treebank"])
