"""Findings on coreference heads name the baselines that they are measured by, and are decided by one rule."""

import pytest

from bertviz_core.analyses.base.findings import SHOWN
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.behaviors import linguistic
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.baselines import SIMPLE
from bertviz_core.analyses.coreference_heads.statements import type_finding
from tests.support import shipped


@pytest.fixture(scope="module")
def result() -> AntecedentCounts:
    return shipped.result("coreference_heads").default_view()


def test_every_finding_says_what_every_baseline_finds(result):
    shares = {name: float(result.systems_accuracy[result.systems.index(name), 0]) for name in (*SIMPLE, "rule-based")}
    accuracy = float(result.accuracy[0, 0].max())
    for finding in (*ANALYSES["coreference_heads"].findings(result), type_finding(result, "all", 0)):
        assert f"antecedent of {accuracy:.1%} of" in finding.sentence
        for system, share in shares.items():
            assert f"{system} {share:.1%}" in finding.sentence


def test_pages_and_overview_call_a_head_linguistic_by_one_rule(result):
    """The finding of the page is shown where the overview names the head."""
    is_named = bool(linguistic({"coreference_heads": result}))
    assert (type_finding(result, "all", 0).state == SHOWN) == is_named == result.finds_antecedents()
    states = [result.above(system) for system in SIMPLE]
    assert result.finds_antecedents() == all(state == SHOWN for state in states)
