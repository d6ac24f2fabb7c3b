"""What pages show until the reader chooses, from the shipped results, and without an app."""

import numpy as np

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS
from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.heads import Head
from pages.shared.state.analysis_choices import (
    AnalysisChoices,
    ClusteringChoices,
    CoreferenceHeadsChoices,
    DependencyHeadsChoices,
    EntropyChoices,
)
from pages.shared.state.choices import CompareChoices
from pages.shared.state.kinds import kind_of
from pages.shared.state.runs import Run
from tests.support.shipped import result

QUANTITIES = ("entropy", "max_weight")  # of entropy, whose highest heads differ


def test_the_relation_and_the_direction_follow_the_result_until_they_are_chosen() -> None:
    computed = result("dependency_heads")
    assert isinstance(computed, DependencyHeads)
    counts = computed.show(DependencyHeadsChoices().filter(computed, paper=False))
    relation, direction = DependencyHeadsChoices().resolve(counts)
    assert relation == counts.clearest_relation() and direction == counts.best_choice(relation).direction
    assert DependencyHeadsChoices().best_head(counts) == counts.best_choice(relation).head
    assert DependencyHeadsChoices(relation="nonsense").resolve(counts) == (relation, direction)
    chosen = DependencyHeadsChoices(relation="det", direction=DIRECTIONS[1])
    assert chosen.resolve(counts) == ("det", 1)
    row = counts.relations.index("det")
    assert chosen.best_head(counts) == Head(*divmod(int(counts.right[1, row].argmax()), counts.right.shape[-1]))


def test_mode_paper_has_its_own_offsets_and_rule() -> None:
    computed = result("dependency_heads")
    assert isinstance(computed, DependencyHeads)
    chosen = DependencyHeadsChoices(offsets=9, possessives=True, least=7, merge=True)
    assert chosen.filter(computed, paper=True).offsets == 5 and chosen.options(paper=True) == {}
    own = chosen.filter(computed, paper=False)
    assert (own.offsets, own.min_count, own.merge_subtypes) == (9, 7, True)
    assert chosen.options(paper=False) == {"possessives": True}


def test_the_best_head_is_that_of_the_chosen_mentions_and_direction() -> None:
    computed = result("coreference_heads")
    assert isinstance(computed, CoreferenceHeads)
    counts = computed.show("mentions")
    assert CoreferenceHeadsChoices().best_head(counts) == counts.best().head
    turned = CoreferenceHeadsChoices(kind="proper", direction="antecedent->mention")
    assert turned.best_head(counts) == counts.best("proper", 1).head


def test_the_map_shows_the_chosen_column_or_the_first_that_the_result_has() -> None:
    analysis, computed = ANALYSES["entropy"], result("entropy")
    first = analysis.default_column(computed)
    for chosen in (EntropyChoices(), EntropyChoices(quantity="nonsense")):
        assert chosen.resolve(analysis, computed) == first
    column = EntropyChoices(quantity="max_weight").resolve(analysis, computed)
    assert column is not None and column.quantity == "max_weight"


def test_a_reader_sees_two_runs_and_those_asked_for_where_they_are() -> None:
    runs = {"entropy": {name: Run(name) for name in "xyz"}, "probes": {name: Run(name) for name in "pq"}}
    assert CompareChoices().resolve(runs) == ("entropy", "x", "y")
    assert CompareChoices(analysis="probes", a="p", b="p").resolve(runs) == ("probes", "p", "p")
    assert CompareChoices(analysis="probes", a="nonsense", b="p").resolve(runs) == ("probes", "p", "p")


def test_b_is_of_the_corpus_of_a_or_of_a_sample_before_an_upload() -> None:
    upload, other = Run("upload", "demo", corpus="u", is_sample=False), Run("other", "demo", corpus="s2")
    same = Run("same", "mine", corpus="s")
    runs = {"entropy": {"a": Run("a", "demo", corpus="s"), "u": upload, "o": other, "s": same}}
    assert CompareChoices().resolve(runs) == ("entropy", "a", "s")
    del runs["entropy"]["s"]
    assert CompareChoices().resolve(runs) == ("entropy", "a", "o")


def test_another_analysis_keeps_the_models_and_the_settings_and_falls_back_to_the_sample() -> None:
    norms = frozenset({("weights", "norms")})
    runs = {
        "entropy": {"a": Run("a", "demo", corpus="text"), "b": Run("b", "mini", norms, corpus="text")},
        "probes": {
            "upload": Run("1", "demo", corpus="mine", is_sample=False),
            "sample": Run("2", "demo", corpus="trees"),
            "plain": Run("3", "mini", corpus="trees"),
            "norms": Run("4", "mini", norms, corpus="trees"),
        },
        "ablation": {"one": Run("5", "demo", corpus="text"), "two": Run("6", "demo", norms, corpus="text")},
    }
    assert CompareChoices(analysis="probes", a="a", b="b").resolve(runs) == ("probes", "sample", "norms")
    # The model of B has no such result.
    assert CompareChoices(analysis="ablation", a="a", b="b").resolve(runs) == ("ablation", "one", "two")


def test_thresholds_are_those_of_what_a_result_has() -> None:
    chosen = ClusteringChoices(over_next=0.2, over_entropy=2.0)
    assert chosen.thresholds(["next", "to_sep"]).next == 0.2
    assert chosen.thresholds(["next", "to_sep"]).entropy == ClusteringChoices.over_entropy  # which the result lacks


def test_every_page_has_choices_and_an_installed_analysis_those_of_all() -> None:
    kind = kind_of("repeated_token")
    assert issubclass(kind, AnalysisChoices) and kind.page == "repeated_token" and kind is kind_of("repeated_token")
    assert kind_of("entropy").on("from_cls") == EntropyChoices(quantity="from_cls")
    assert kind_of("clustering").on("x") == ClusteringChoices()
    assert kind_of("dependency_heads").on("det") == DependencyHeadsChoices(relation="det")


def test_a_page_opens_on_the_head_that_is_best_at_what_it_shows() -> None:
    computed = result("entropy")
    heads = {quantity: Head(*np.argwhere(computed[quantity] == computed[quantity].max())[0]) for quantity in QUANTITIES}
    assert len(set(heads.values())) == 2
    for quantity, head in heads.items():
        assert EntropyChoices(quantity=quantity).opening_head(ANALYSES["entropy"], computed, paper=False) == head
    relations = result("dependency_heads")
    best = relations.show(DependencyHeadsChoices().filter(relations, paper=False)).best_choice("det").head
    chosen = DependencyHeadsChoices(relation="det")
    assert chosen.opening_head(ANALYSES["dependency_heads"], relations, paper=False) == best


def test_an_analysis_knows_its_best_head_at_the_first_target_that_it_has() -> None:
    counts = result("dependency_heads").default_view()
    best_head = ANALYSES["dependency_heads"].best_head
    assert best_head(result("dependency_heads"), ("nonsense", "det")) == counts.best_choice("det").head
    assert best_head(result("dependency_heads"), ("coreference",)) is None
    antecedents = result("coreference_heads")
    best = antecedents.default_view().best().head
    assert ANALYSES["coreference_heads"].best_head(antecedents, ("coreference",)) == best
    assert ANALYSES["coreference_heads"].best_head(antecedents, ("det",)) is None
