"""A head that is named for something is the same one wherever it is named, on the results that ship."""

import json
from dataclasses import replace

import numpy as np
import pytest

from bertviz_core import exports
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results
from bertviz_core.analyses.behaviors import linguistic
from bertviz_core.models.checkpoint import DEMO_DECODER
from bertviz_core.overview.clearest_heads import clearest
from bertviz_core.overview.summary import every_finding
from bertviz_core.paper_report.report import Report
from bertviz_core.tour import STEPS, answers, head_roles
from tests.support import shipped

LOWEST = ("reach.near", "reach.inactive")  # findings about the head with the lowest value


@pytest.fixture(scope="module")
def results(report: Report) -> Results:
    return report.results


def naming(results: Results) -> list[Finding]:
    """The findings whose sentence names the head with the highest value of a quantity."""
    found = [each for each in every_finding(results) if each.id not in LOWEST]
    return [each for each in found if each.head and each.quantity and f"ead {each.head.label()} " in each.sentence]


def test_findings_pages_maps_and_files_name_one_head(results: Results) -> None:
    found = naming(results)
    assert len(found) >= 7
    for finding in found:
        analysis, result = ANALYSES[finding.analysis], results[finding.analysis]
        column = analysis.column(finding.quantity)
        if issubclass(analysis.view, ColumnView):
            view = analysis.view(quantity=column.quantity)
            assert analysis.claim(result, view).head == view.opening_head(result) == finding.head, finding.id
        values = column.read(result)
        assert values is not None and values[finding.head] == np.nanmax(values), finding.id
        at = finding.head.layer * values.shape[1] + finding.head.head
        assert f"rank 1 of {np.isfinite(values).sum()}" in column.map(result).hover[at], finding.id
        written = {each["id"]: each["head"] for each in json.loads(exports.to_json(result))["findings"]}
        assert written[finding.id] == finding.head.label()


def test_cards_of_the_overview_name_the_heads_of_the_findings(results: Results) -> None:
    cards = {(each.analysis, each.quantity): each.head for each in clearest(results)}
    shared = [each for each in naming(results) if (each.analysis, each.quantity) in cards]
    assert len(shared) >= 3
    for finding in shared:
        assert cards[finding.analysis, finding.quantity] == finding.head, finding.id


def test_the_tour_answers_with_the_heads_of_the_findings(results: Results) -> None:
    named = linguistic(results)
    for step in STEPS:
        told = {"induction": shipped.result("induction", DEMO_DECODER)} if step.of_decoder else results
        findings = answers(step.select(told))
        short = step.short_answer(findings)
        assert short and "{" not in short and short.endswith("."), step.title
        for finding in step.asked(findings):
            if step.asks_for_head and finding.head:
                assert finding.head.label() in short, step.title
    for head, role in head_roles(results).items():
        assert named.get(head.label(), role) in role


def test_the_tour_asks_a_causal_model_for_nothing_that_it_lacks(results: Results) -> None:
    assert all(step.of_model(results) == step for step in STEPS)
    result = replace(results["surface_patterns"], provenance={"model": {"causal": True}})
    (neighbors,) = (step.of_model({"surface_patterns": result}) for step in STEPS if step.title == "Neighbors")
    findings = [each for each in answers(neighbors.select(results)) if each.quantity != "next"]
    assert neighbors.question.startswith("No token of this model sees the next one.")
    assert neighbors.short_answer(findings) == "1-3."


def test_findings_on_coreference_have_one_sentence(results: Results) -> None:
    found = ANALYSES["coreference_heads"].findings(results["coreference_heads"])
    assert len({each.sentence for each in found}) == 1
