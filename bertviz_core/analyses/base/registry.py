"""All analyses by name: the built-in ones, then those of installed packages. They are loaded on first use."""

from collections.abc import Mapping
from typing import Any, cast

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.entry_points import REGISTERED, REGISTERED_BUILT_IN
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.result import Results

ANALYSES = cast(Mapping[str, Analysis[Any, Any]], REGISTERED)
BUILT_IN = cast(Mapping[str, Analysis[Any, Any]], REGISTERED_BUILT_IN)


def display_label(quantity: str) -> str:
    """Name on the screen of a quantity that several analyses show: of those that are always computed together."""
    for analysis in ANALYSES.values():
        if analysis.shared:
            quantity = analysis.label(quantity)
    return quantity


def findings(results: Results) -> list[Finding]:
    """Every finding on one model's results, including missing ones, by section of the paper, others last."""
    listed: list[Finding] = []
    for name, analysis in ANALYSES.items():
        listed += analysis.findings(results.get(name))
    return sorted(listed, key=lambda finding: finding.section or "beyond")
