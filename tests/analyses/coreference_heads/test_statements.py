"""Findings on coreference heads name the baselines that they are measured by, and are decided by one rule."""

import pytest

from bertviz_core.analyses.base.findings import SHOWN, decide
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.behaviors import linguistic
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.baselines import SIMPLE
from bertviz_core.analyses.coreference_heads.statements import type_finding
from tests.support import shipped


@pytest.fixture(scope="module")
def result() -> AntecedentCounts:
    return shipped.result("coreference_heads").default_view()


def test_a_finding_beside_a_weaker_baseline_names_the_best_one_too(result):
    shares = {name: float(result.systems_accuracy[result.systems.index(name), 0]) for name in (*SIMPLE, "rule-based")}
    best = max(SIMPLE, key=shares.__getitem__)
    found = {each.id.partition(".")[2]: each.sentence for each in ANALYSES["coreference_heads"].findings(result)}
    for name, system in (("nearest", "nearest"), ("head_match", "head match"), ("rule_based", "rule-based")):
        assert f"{system} ({shares[system]:.1%})" in found[name]
        assert (f"; the best simple baseline is {best} ({shares[best]:.1%})" in found[name]) == (system != best)
    assert f"the best simple baseline, {best} ({shares[best]:.1%})" in found["simple_baselines"]
    assert f"; rules find {shares['rule-based']:.1%}." in found["simple_baselines"]


def test_pages_and_overview_call_a_head_linguistic_by_one_rule(result):
    """The finding of the page is shown where the overview names the head."""
    is_named = bool(linguistic({"coreference_heads": result}))
    assert (type_finding(result, "all", 0).state == SHOWN) == is_named == result.finds_antecedents()
    gains = [result.gain(system) for system in SIMPLE]
    assert result.finds_antecedents() == all(decide(gain) == SHOWN for gain in gains)
