"""Sets of heads: how they are named, what stored results name, and the random sets beside them."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.minimal_pairs.head_sets import listed_heads, random_sets, sets_of
from bertviz_core.analyses.minimal_pairs.options import MinimalPairsOptions
from bertviz_core.analyses.minimal_pairs.result import against_others
from bertviz_core.corpora.files import sample
from bertviz_core.corpora.source import Source
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import DEMO, find_checkpoint
from tests.support import shipped
from tests.support.running import run

KINDS = {"dependency_heads": "treebank", "coreference_heads": "coreference"}


def stored(analysis: str) -> tuple[Result, Source]:
    return shipped.result(analysis), sample(KINDS[analysis])


def completed(heads: str | None, find: Any = stored, **others: Any) -> Request:
    options = MinimalPairsOptions(heads=heads, **others)
    request = Request("minimal_pairs", find_checkpoint(DEMO), sample("pairs"), options=options.to_json())
    return options.completed(request, find)


def chosen_by_loops(relation: str) -> set[Head]:
    """Of each half the first head with the most right guesses, of both directions."""
    counts = shipped.result("dependency_heads").default_view()
    at, chosen = counts.relations.index(relation), set()
    for fold in (0, 1):
        best = -1
        for direction in (0, 1):
            for layer, right in enumerate(counts.correct[fold, direction, at]):
                for head, number in enumerate(right):
                    if number > best:
                        best, found = number, Head(layer, head)
        chosen.add(found)
    return chosen


def test_a_list_is_a_set_whatever_its_order() -> None:
    assert listed_heads("4-2, 3-1,L2H0") == (Head(2, 0), Head(3, 1)) and listed_heads("nmod:poss") == ()
    assert completed("4-2,3-1,3-1").options == {"heads": "3-1,4-2"}
    assert completed("4-2,3-1").key() == completed("3-1,4-2").key() != completed(None).key()
    assert completed(" ", replace="mean").options == {"replace": "mean"}
    with pytest.raises(SettingsError, match="'zz' is not a head"):
        completed("3-1,zz")
    with pytest.raises(SettingsError, match="no head 9-1"):
        completed("9-1")


def test_a_relation_is_the_heads_that_are_chosen_on_each_half() -> None:
    for relation in ("nsubj", "dobj", "det"):
        request = completed(relation)
        (found,) = sets_of(request.options)
        assert (found.name, found.heads) == (relation, tuple(sorted(chosen_by_loops(relation))))
        assert request.others == {"treebank": sample("treebank")}
    assert completed("dobj").options["above_baseline"] == ["dobj"]
    assert completed("coreference").others == {"coreference": sample("coreference")}


def test_relations_are_all_that_stored_results_name() -> None:
    request = completed("relations")
    names = [each.name for each in sets_of(request.options)]
    assert {"nsubj", "dobj", "det", "coreference"} <= set(names) and not {"all", "UAS", "punct", "root"} & set(names)
    assert set(request.others) == {"treebank", "coreference"}
    assert [*MinimalPairsOptions().offered(stored)["heads"]] == [*names, "relations"]


def test_what_no_stored_result_names_is_refused_with_the_way_to_it() -> None:
    with pytest.raises(SettingsError, match="No stored result of this model names heads for 'nsubj'") as refused:
        completed("nsubj", lambda analysis: None)
    for way in ("“Dependency heads”", "`bertviz-core dependency-heads FILE`", "3-1,4-2"):
        assert way in refused.value.hint
    with pytest.raises(SettingsError, match="on coreference, treebank, name no heads for 'verbs'") as refused:
        completed("verbs")
    assert "Choose one of det, nsubj" in refused.value.hint
    assert MinimalPairsOptions().offered(lambda analysis: None) == {"heads": []}
    assert MinimalPairsOptions(heads="verbs", replace="mean").alone() == MinimalPairsOptions(replace="mean")


def test_the_command_refuses_before_it_runs(tmp_path: Path) -> None:
    refused = run("minimal-pairs", "pairs", "--heads", "nsubj", "--no-store")
    assert refused.returncode == 2 and "names heads for 'nsubj'" in refused.stderr


@pytest.mark.parametrize("heads", ["3-1,4-2", "1-1,1-2,1-3,6-4", "2-2"])
def test_random_sets_have_as_many_heads_of_each_layer_and_none_of_the_set(heads: str) -> None:
    removed = listed_heads(heads)
    drawn = random_sets(removed, 12, 5)
    assert len(drawn) == len(set(drawn)) == (11 if len(removed) == 1 else 20)
    for control in drawn:
        assert Counter(head.layer for head in control) == Counter(head.layer for head in removed)
        assert len(set(control) | set(removed)) == 2 * len(removed)
    assert drawn == random_sets(removed, 12, 5)
    assert len(removed) == 1 or drawn != random_sets(removed, 12, 6)


def test_random_sets_are_drawn_as_the_methods_say() -> None:
    random, expected = np.random.default_rng(7), list[set[str]]()
    while len(expected) < 20:
        heads = set()
        for layer, own in ((1, ["1-1", "1-2"]), (4, ["4-3"])):
            others = [f"{layer}-{head}" for head in range(1, 9) if f"{layer}-{head}" not in own]
            heads |= {str(key) for key in random.permutation(others)[: len(own)]}
        if heads not in expected:
            expected.append(heads)
    drawn = random_sets(listed_heads("1-1,1-2,4-3"), 8, 7)
    assert [{head.key() for head in control} for control in drawn] == expected


def test_of_one_head_at_most_twenty_others_are_removed() -> None:
    assert len(random_sets([Head(0, 0)], 32, 0)) == 20 and len(random_sets([Head(0, 0)], 21, 0)) == 20
    assert random_sets([Head(1, 1)], 3, 0) == [(Head(1, 0),), (Head(1, 2),)]


def test_a_layer_without_enough_other_heads_has_no_random_sets() -> None:
    assert random_sets([Head(0, 0), Head(0, 1)], 3, 0) == []
    assert random_sets([Head(0, 0), Head(0, 1)], 4, 0) == [(Head(0, 2), Head(0, 3))]


def test_a_change_against_the_others() -> None:
    """Of -0.3, 0 and 0.1: -0.3 - (0 + 0.1) / 2 = -0.35, and so on; of one phenomenon nothing."""
    assert against_others(np.array([-0.3, 0, 0.1])) == pytest.approx([-0.35, 0.1, 0.25])
    assert np.isnan(against_others(np.array([-0.3]))).all()
