"""What pages show until the reader chooses, from the shipped results, and without an app."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, make_dataclass
from threading import Barrier
from time import sleep
from typing import Annotated, Any

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.clustering.analysis import ClusteringView
from bertviz_core.analyses.coreference_heads.result import CoreferenceView
from bertviz_core.analyses.dependency_heads.analysis import DependencyOptions
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS
from bertviz_core.analyses.dependency_heads.result import RelationFilter, RelationView
from bertviz_core.analyses.entropy.analysis import EntropyView
from bertviz_core.choices import Between
from bertviz_core.emergence.series import shipped
from bertviz_core.emergence.view import EmergenceView
from bertviz_core.heads import Head
from pages.shared.state import kinds
from pages.shared.state.address import parse, query
from pages.shared.state.choices import CompareChoices, EmergenceChoices, OverviewChoices
from pages.shared.state.kinds import AnalysisChoices, kind_of, view_of
from pages.shared.state.runs import Run
from pages.shared.views.default_heads import best_at
from tests.support.shipped import result

QUANTITIES = ("entropy", "max_weight")  # of entropy, whose highest heads differ


def test_the_relation_and_the_direction_follow_the_result_until_they_are_chosen() -> None:
    counts = result("dependency_heads").default_view()
    relation = counts.clearest_relation()
    best = counts.best_choice(relation)
    resolved = RelationView().resolve(counts)
    direction = DIRECTIONS[best.direction]
    assert (resolved.relation, resolved.direction, resolved.head) == (relation, direction, best.head.key())
    assert RelationView(relation="nonsense").resolve(counts) == resolved
    chosen = RelationView(relation="det", direction=DIRECTIONS[1]).resolve(counts)
    row = counts.relations.index("det")
    highest = Head(*divmod(int(counts.right[1, row].argmax()), counts.right.shape[-1]))
    assert (chosen.relation, chosen.direction, chosen.head) == ("det", DIRECTIONS[1], highest.key())


def test_mode_paper_has_its_own_offsets_and_rule() -> None:
    paper = result("dependency_heads", mode="paper").show(RelationFilter(offsets=9))
    assert paper.provenance["options"]["offsets"] == 5
    options = DependencyOptions(possessives=True)
    assert options.in_mode(paper=True) == DependencyOptions() and options.in_mode(paper=False) == options
    own = result("dependency_heads").show(RelationFilter(offsets=9, min_count=30, merge_subtypes=True))
    shown = {name: own.provenance["options"][name] for name in ("offsets", "min_count", "merge_subtypes")}
    assert shown == {"offsets": 9, "min_count": 30, "merge_subtypes": True}


def test_the_best_head_is_that_of_the_chosen_mentions_and_direction() -> None:
    counts = result("coreference_heads").default_view()
    assert CoreferenceView().resolve(counts).head == counts.best().head.key()
    turned = CoreferenceView(kind="proper", direction="antecedent->mention").resolve(counts)
    assert turned.head == counts.best("proper", 1).head.key()


def test_the_map_shows_the_chosen_column_or_the_first_that_the_result_has() -> None:
    computed = result("entropy")
    first = ANALYSES["entropy"].default_column(computed)
    for chosen in (EntropyView(), EntropyView(quantity="nonsense")):
        assert chosen.column(computed) == first
    column = EntropyView(quantity="max_weight").column(computed)
    assert column is not None and column.quantity == "max_weight"


def test_a_reader_sees_two_runs_and_those_asked_for_where_they_are() -> None:
    runs = {"entropy": {name: Run(name) for name in "xyz"}, "probes": {name: Run(name) for name in "pq"}}
    assert CompareChoices().chosen_runs(runs) == ("entropy", "x", "y")
    assert CompareChoices(analysis="probes", a="p", b="p").chosen_runs(runs) == ("probes", "p", "p")
    assert CompareChoices(analysis="probes", a="nonsense", b="p").chosen_runs(runs) == ("probes", "p", "p")


def test_b_is_of_the_corpus_of_a_or_of_a_sample_before_an_upload() -> None:
    upload, other = Run("upload", "demo", corpus="u", is_sample=False), Run("other", "demo", corpus="s2")
    same = Run("same", "mine", corpus="s")
    runs = {"entropy": {"a": Run("a", "demo", corpus="s"), "u": upload, "o": other, "s": same}}
    assert CompareChoices().chosen_runs(runs) == ("entropy", "a", "s")
    del runs["entropy"]["s"]
    assert CompareChoices().chosen_runs(runs) == ("entropy", "a", "o")


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
    assert CompareChoices(analysis="probes", a="a", b="b").chosen_runs(runs) == ("probes", "sample", "norms")
    # The model of B has no such result: it stays chosen.
    assert CompareChoices(analysis="ablation", a="a", b="b").chosen_runs(runs) == ("ablation", "one", "b")
    assert CompareChoices(analysis="ablation", a="b").chosen_runs(runs) == ("ablation", "b", "one")


def test_b_may_be_a_but_for_one_part_and_a_may_not() -> None:
    runs = {"entropy": {"x": Run("x"), "y": Run("y")}}
    assert CompareChoices(b="A:mode=paper").chosen_runs(runs) == ("entropy", "x", "A:mode=paper")
    assert CompareChoices(a="A:mode=paper").chosen_runs(runs) == ("entropy", "x", "y")


def test_thresholds_are_those_of_what_a_result_has() -> None:
    chosen = ClusteringView(over_next=0.2, over_entropy=2.0)
    assert chosen.thresholds(["next", "to_sep"]).next == 0.2
    assert chosen.thresholds(["next", "to_sep"]).entropy == ClusteringView.over_entropy  # which the result lacks


@dataclass(frozen=True)
class OwnView(ColumnView[Any]):
    """The view of an installed analysis."""

    least: Annotated[float, Between(0.0, 2.0, step=0.1), Doc("A number.")] = 1.0


def test_an_installed_analysis_has_the_choices_of_its_view_and_its_options(monkeypatch) -> None:
    monkeypatch.setattr(ANALYSES["induction"], "view", OwnView)
    kind = kind_of("induction")
    assert issubclass(kind, AnalysisChoices) and kind.page_name == "induction" and kind is kind_of("induction")
    chosen, problems = parse(kind, {"least": "1.4", "induction_quantity": "prefix", "head": "1-2"})
    assert isinstance(chosen, AnalysisChoices) and not problems
    assert view_of(chosen, Head(0, 1)) == OwnView(quantity="prefix", head="1-2", least=1.4)
    assert query(chosen) == {"induction_quantity": "prefix", "least": "1.4"}


def test_readers_who_come_at_the_same_moment_get_one_class_of_choices(monkeypatch) -> None:
    monkeypatch.setattr(ANALYSES["induction"], "view", type("OwnView", (OwnView,), {}))  # of which no class is made yet
    together = Barrier(8)

    def asks(_: int) -> type:
        together.wait()
        return kind_of("induction")

    def slowly(*args: Any, **keywords: Any) -> type:
        sleep(0.01)  # so that every reader asks before the first class is made
        return make_dataclass(*args, **keywords)

    monkeypatch.setattr(kinds, "make_dataclass", slowly)
    with ThreadPoolExecutor(8) as readers:
        assert len(set(readers.map(asks, range(8)))) == 1


def test_a_link_opens_a_page_on_one_of_its_things() -> None:
    assert query(kind_of("entropy").on("from_cls")) == {"of": "from_cls"}
    assert query(kind_of("clustering").on("x")) == {}
    assert query(kind_of("dependency_heads").on("det")) == {"relation": "det"}


def test_a_page_opens_on_the_head_that_is_best_at_what_it_shows() -> None:
    computed = result("entropy")
    heads = {quantity: Head(*np.argwhere(computed[quantity] == computed[quantity].max())[0]) for quantity in QUANTITIES}
    assert len(set(heads.values())) == 2
    for quantity, head in heads.items():
        assert EntropyView(quantity=quantity).opening_head(computed) == head
    relations = result("dependency_heads")
    best = relations.default_view().best_choice("det").head
    assert RelationView(relation="det", head="1-1").opening_head(relations) == best


def test_an_example_opens_on_the_head_that_is_best_at_it_if_the_result_has_that() -> None:
    relations, antecedents = result("dependency_heads"), result("coreference_heads")
    best = relations.default_view().best_choice("det").head
    assert best_at("dependency_heads", "det", relations) == best
    assert best_at("dependency_heads", "nonsense", relations) is None
    assert best_at("coreference_heads", "", antecedents) == antecedents.default_view().best().head


def test_links_of_earlier_versions_open_what_has_another_name_now() -> None:
    old = {"at_step": "1000", "relations_of": "det,UAS"}
    assert parse(EmergenceChoices, old) == (EmergenceChoices(step=1000, relations=("det", "UAS")), {})
    assert parse(CompareChoices, {"compared": "next"}) == (CompareChoices(quantity="next"), {})
    assert parse(OverviewChoices, {"heads": "previous > 0.5"}) == (OverviewChoices(find="previous > 0.5"), {})


def test_what_is_chosen_of_a_training_that_it_lacks_is_left_out() -> None:
    training = shipped()
    last = int(training.steps[-1])
    assert EmergenceView().resolve(training).step == EmergenceView(step=7).resolve(training).step == last
    assert EmergenceView(relations=("nonsense", "det")).resolve(training).relations == ("det",)
    assert EmergenceView().resolve(training).relations == tuple(training.opening_relations)
