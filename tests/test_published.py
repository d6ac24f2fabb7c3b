"""Heads that papers have named."""

from collections import Counter
from pathlib import Path

import pytest

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.paper import TABLE_1, TABLE_2
from bertviz_core.published import _papers, named_text, published_heads

GPT2 = {"name": "gpt2", "of_hub": True, "revision": None, "layers": 12, "heads": 12}


def test_the_heads_of_the_circuit_of_indirect_objects_are_26_of_seven_roles():
    """Of Wang et al., Figure 2; they write 9.9 for the head that is 10-10 here."""
    heads = [each for each in published_heads(GPT2) if each.paper.name == "Wang et al. 2023"]
    assert Counter(each.role for each in heads) == {
        "name mover": 3,
        "backup name mover": 8,
        "negative name mover": 2,
        "S-inhibition": 4,
        "induction": 4,
        "duplicate token": 3,
        "previous token": 2,
    }
    movers = {each.head for each in heads if each.role == "name mover"}
    assert movers == {Head.parse("9.9"), Head.parse("10.0"), Head.parse("9.6")} and Head.parse("9.9").key() == "10-10"


def test_what_is_published_of_bert_is_what_the_paper_has():
    bert = {"name": "bert-base-uncased", "of_hub": True, "revision": "main", "layers": 12, "heads": 12}
    rows = {each.role: (each.head.key(), round(100 * (each.value or 0), 1)) for each in published_heads(bert)}
    of_relations = {relation: row[:2] for relation, row in TABLE_1.items() if relation != "all"}
    of_relations["auxpass"] = ("4-10", 0.0)  # The authors' notebook has another number.
    assert rows == of_relations | {"coreference": ("5-4", TABLE_2["head 5-4"][0])}


def test_the_heads_of_greater_than_are_the_seven_of_the_circuit():
    """Of Hanna et al., section 3.2; 6.1 is of another task there."""
    heads = {each.head for each in published_heads(GPT2) if each.role == "greater-than"}
    assert heads == {Head.parse(name) for name in ("5.1", "5.5", "6.9", "7.10", "8.8", "8.11", "9.1")}


@pytest.mark.parametrize(
    "change",
    [
        {"name": "someone/gpt2"},
        {"name": "gpt2@step-10", "revision": "step-10"},
        {"layers": 6},
        {"name": "./gpt2-medium"},
        {"of_hub": False},
    ],
)
def test_of_any_other_model_nothing_is_known(change):
    assert published_heads(GPT2) and not published_heads(GPT2 | change)


def test_the_main_revision_may_be_named():
    assert published_heads(GPT2 | {"name": "gpt2@main", "revision": "main"}) == published_heads(GPT2)


@pytest.mark.parametrize(
    ("folder", "is_of_hub"),
    [("gpt2", False), ("models--gpt2/snapshots/0f", True), ("models--someone--gpt2/snapshots/0f", False)],
)
def test_a_folder_of_the_name_is_not_the_model_of_the_hub(folder, is_of_hub):
    names = Checkpoint("gpt2@main", Path("/models") / folder, "main").names
    assert bool(published_heads(GPT2 | {"of_hub": False} | names)) == is_of_hub


def test_rows_have_two_places_a_head_of_the_model_and_a_quantity_that_exists():
    for paper in _papers():
        places = {paper["page"], *paper["also"]}
        assert len(places) > 1 and all(each.startswith("https://") for each in places) and paper["title"]
        seen = [(row["head"], row["role"]) for row in paper["heads"]]
        assert len({*seen}) == len(seen)
        model = {
            "name": paper["models"][0],
            "of_hub": True,
            **dict(zip(("layers", "heads"), paper["shape"], strict=True)),
        }
        for row in published_heads(model):
            row.head.check(*paper["shape"])
            analysis, _, column = row.quantity.partition(".")
            assert not analysis or ANALYSES[analysis].column(column)


def test_a_head_is_named_with_the_number_of_the_paper():
    heads = tuple(each for each in published_heads(GPT2) if each.head == Head.parse("10.7"))
    assert named_text(heads) == (
        "Papers name it: negative name mover by Wang et al. 2023; copy suppression (share of its effect that copy "
        "suppression explains 76.9%) by McDougall et al. 2023."
    )
    assert not named_text(())
