"""The paper's claims as rules: each holds where it should, does not where it should not, and says its numbers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from bertviz_core.analyses.clustering.result import Closeness
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.claims import CLAIMS, claims_of
from bertviz_core.claims.claim import compare


class Averages(dict):
    """Document averages by quantity, all with one half-width of their intervals."""

    half = 0.01

    def default_view(self):
        return self

    @property
    def present(self):
        return list(self)

    def interval(self, quantity):
        return np.full_like(self[quantity], self.half)


def result_with(**values):
    """A result that is its own default view."""
    result = SimpleNamespace(**values)
    result.default_view = lambda: result
    return result


def heads(*layers):
    """(layer, head) from lists of values."""
    return np.array(layers, dtype=float)


def decide(words, result, analysis="surface_patterns"):
    """The verdict of the claim whose text contains the words."""
    claim = next(one for one in claims_of(analysis) if words in one.text)
    return claim.verdict({analysis: result})


@pytest.mark.parametrize(
    ("interval", "state"),
    [((0.6, 0.7), "holds"), ((0.4, 0.6), "undecided"), ((0.3, 0.5), "does not hold"), ((np.nan, 1), "undecided")],
)
def test_a_threshold_inside_the_interval_decides_nothing(interval, state):
    assert compare(*interval, 0.5) == state


def test_every_analysis_of_the_paper_has_claims_with_thresholds_and_numbers():
    assert {claim.analysis for claim in CLAIMS} == set(ANALYSES) & {
        "surface_patterns", "entropy", "sep_gradients", "dependency_heads", "coreference_heads", "probes", "clustering",
    }  # fmt: skip
    assert all(claim.rule.endswith(".") and claim.text.endswith(".") and claim.section for claim in CLAIMS)
    assert all(claim.verdict({}).state == "not computed" for claim in CLAIMS)
    assert len({claim.text for claim in CLAIMS}) == len(CLAIMS) == 20


def test_neighbors():
    result = Averages(previous=heads([0.2, 0.9], [0.55, 0.1]), next=heads([0.505, 0.1], [0.1, 0.2]))
    verdict = decide("previous token", result)
    assert verdict.state == "holds"
    assert verdict.evidence == (
        "Head 1-2 puts 0.90 ± 0.01 of its attention on the previous token; 2 of 4 heads put more than 0.5 there."
    )
    assert decide("next token", result).state == "undecided"
    assert decide("current token", result).state == "no answer"  # no segment has it


def test_separators_and_their_order():
    values = {"to_cls": [0.9, 0.1, 0.1], "to_sep": [0.1, 0.6, 0.1], "to_punct": [0.1, 0.1, 0.3]}
    result = Averages({name: heads(*([value, value] for value in layers)) for name, layers in values.items()})
    assert decide("In layers 6 to 10", result).state == "holds"
    assert decide("Early heads", result).state == "holds"
    result["to_sep"] = np.roll(result["to_sep"], -1, axis=0) - 0.2
    assert decide("In layers 6 to 10", result).state == "does not hold"
    assert decide("Early heads", result).state == "does not hold"


def test_a_no_op_has_a_small_gradient_where_attention_is_high():
    result = Averages(
        attention_to_sep=heads([0.1, 0.1], [0.7, 0.5]), to_sep=heads([9, 9], [1, 2]), to_other=heads([1, 1], [5, 5])
    )
    verdict = decide("no-op", result, "sep_gradients")
    assert verdict.state == "holds" and "0.30 times" in verdict.evidence and "60%" in verdict.evidence
    result["to_sep"] = heads([0, 0], [5, 5])
    assert decide("no-op", result, "sep_gradients").state == "does not hold"


def test_a_loss_without_gradients_decides_nothing():
    zero = heads([0, 0], [0, 0])
    result = Averages(attention_to_sep=heads([0.1, 0.1], [0.7, 0.5]), to_sep=zero, to_other=zero)
    assert decide("no-op", result, "sep_gradients").state == "undecided"


def test_broad_heads_are_looked_for_in_the_first_third():
    result = Averages(max_weight=heads([0.5, 0.05], [0.5, 0.5], [0.01, 0.5]), from_cls=heads([1, 1], [1, 1], [2, 2]))
    verdict = decide("very broadly: at most", result, "entropy")
    assert verdict.state == "holds" and "head 1-2" in verdict.evidence
    result["max_weight"][0] = 0.5
    assert decide("very broadly: at most", result, "entropy").state == "does not hold"
    assert decide("From [CLS]", result, "entropy").state == "holds"


def test_probes_differ_where_their_intervals_are_apart():
    names = ["right-branching", "attention-only"]
    result = result_with(
        probes=names, score=np.array([0.3, 0.5]), low=np.array([0.28, 0.47]), high=np.array([0.32, 0.53])
    )
    assert decide("attention only has", result, "probes").state == "holds"  # 0.47 - 0.32 > 0.1
    result.low[1] = 0.41
    assert decide("attention only has", result, "probes").state == "undecided"
    assert decide("distances and words", result, "probes").state == "no answer"


def test_clusters():
    divergence = np.array([[0, 1, 5, 5], [1, 0, 5, 5], [5, 5, 0, 2], [5, 5, 2, 0.0]])
    result = result_with(
        divergence=divergence,
        behaviors=np.array([["next", "next"], ["to_sep", "to_sep"]]),
        closeness=Closeness(1.5, 5.0),
        summed=False,
    )
    assert decide("one layer", result, "clustering").state == "holds"
    verdict = decide("same behavior", result, "clustering")
    assert verdict.state == "holds" and "1.5 nats" in verdict.evidence and "by 5." in verdict.evidence
    result.summed = True
    assert "1.5 nats in all" in decide("one layer", result, "clustering").evidence
    assert "1.5 nats in all" in decide("same behavior", result, "clustering").evidence
    result.behaviors = np.array([["next", "to_sep"], ["to_sep", "next"]])
    assert decide("same behavior", result, "clustering").state == "does not hold"
    result.behaviors = np.array([["next", "other"], ["other", "other"]])
    assert decide("same behavior", result, "clustering").state == "no answer"


def test_an_average_over_one_segment_decides_nothing():
    result = Averages(previous=heads([0.2, 0.9]), max_weight=heads([0.5, 0.05]))
    result.half = float("nan")
    verdict = decide("previous token", result)
    assert verdict.state == "undecided" and "0.90 ± – of its" in verdict.evidence
    verdict = decide("very broadly: at most", result, "entropy")
    assert verdict.state == "undecided" and "5.0% ± – on average" in verdict.evidence


def test_documents_without_two_halves_decide_nothing():
    counts = result_with(
        heldout=lambda: np.array([np.nan]), n=np.array([3]), systems=["nearest", "head match", "rule-based"],
        systems_accuracy=np.full((3, 1), 0.5),
    )  # fmt: skip
    for claim in claims_of("coreference_heads"):
        if "candidate" not in claim.text:
            verdict = claim.verdict({"coreference_heads": counts})
            assert verdict.state == "undecided" and "nan" not in verdict.evidence


def test_a_treebank_without_two_halves_decides_nothing():
    shown = result_with(
        relations=["all"], paper=False, heldout=lambda: np.array([np.nan]), offset_accuracy=np.array([[0.5]])
    )
    verdict = decide("No single head", shown, "dependency_heads")
    assert verdict.state == "undecided" and "nan" not in verdict.evidence


@pytest.mark.parametrize(
    ("closeness", "evidence"),
    [
        (Closeness(np.nan, 0.4), "no two heads of one layer, two heads of different layers that differ by 0.4 nats"),
        (
            Closeness(0.4, np.nan),
            "two heads of one layer that differ by 0.4 nats on average, no two heads of different",
        ),
        (Closeness(np.nan, np.nan), "no two heads of one layer, no two heads of different layers."),
        (Closeness(0.0, 0.0), "differ by 0 nats on average"),
    ],
)
def test_a_model_without_pairs_of_heads_to_compare_decides_nothing(closeness, evidence):
    result = result_with(closeness=closeness, summed=False)
    verdict = decide("one layer", result, "clustering")
    assert verdict.state == "undecided" and evidence in verdict.evidence and "nan" not in verdict.evidence
