"""Heads that papers have named, among the numbers of a model."""

from dataclasses import replace

import numpy as np
import pytest

from bertviz_core import published
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head, highest
from bertviz_core.one_head.description import one_head
from bertviz_core.one_head.files import to_html, to_json, to_text
from bertviz_core.overview.named_heads import top_sentence
from bertviz_core.overview.vocabulary import find
from tests.support.shipped import result

PREVIOUS = highest(result("induction")["previous"])
OTHER = Head(0, 0)


@pytest.fixture
def named(monkeypatch):
    """A model in which a paper has named two heads: one that does what it says, and one that does not."""
    rows = [
        {"head": PREVIOUS.key(), "role": "previous token", "quantity": "induction.previous", "value": 0.9}
        | {"measure": "attention"},
        {"head": OTHER.key(), "role": "previous token", "quantity": "induction.previous"},
        {"head": OTHER.key(), "role": "name mover"},
    ]
    induction = result("induction")
    model = induction.provenance["model"]
    about = {"name": "Ada et al. 2020", "title": "Heads", "page": "https://example.org/heads", "revision": "main"}
    paper = about | {"models": ["a-model"], "shape": [model["layers"], model["heads"]], "heads": rows}
    monkeypatch.setattr(published, "_papers", lambda: (paper,))
    provenance = induction.provenance | {"model": model | {"name": "a-model", "of_hub": True}}
    return {"induction": replace(induction, provenance=provenance), "surface_patterns": result("surface_patterns")}


def test_the_finder_finds_them_by_their_role(named):
    assert find(named, 'published = "previous token"')["label"].tolist() == sorted((OTHER.key(), PREVIOUS.key()))
    assert find(named, 'published = "Name mover" and layer = 1')["label"].tolist() == [OTHER.key()]
    others = find(named, 'published != "previous token"')
    assert len(others) == result("induction").mean[0].size - 2
    for text, what in (
        ("published > 1", "one of = !="),
        ("published = 3", "a role in quotation marks"),
        ("1 < published", "holds words, not numbers"),
    ):
        with pytest.raises(SettingsError, match=what):
            find(named, text)


def test_the_overview_counts_those_that_do_what_they_are_named_for(named):
    assert top_sentence(named).startswith("1 of 2 heads that papers have named in this model are in its own top 5%")


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_of_heads_with_the_same_value_all_or_none_are_in_the_top(named, value):
    induction = named["induction"]
    alike = replace(induction, mean=np.full_like(induction.mean, value))
    assert top_sentence({"induction": alike}).startswith("0 of 2 heads")


def test_a_head_says_who_has_named_it(named):
    shown = one_head(named, PREVIOUS)
    sentence = "Papers name it: previous token (attention 0.900) by Ada et al. 2020."
    assert shown.named == sentence
    for text in (to_text(shown), to_html(shown, None)):
        assert sentence in text
    assert b'"page": "https://example.org/heads"' in to_json(shown)


def test_of_a_model_that_no_paper_is_about_nothing_is_said():
    results = {"induction": result("induction")}
    assert top_sentence(results) == "" and one_head(results, PREVIOUS).named == ""
    with pytest.raises(SettingsError, match="There is no column 'published'"):
        find(results, 'published = "induction"')
