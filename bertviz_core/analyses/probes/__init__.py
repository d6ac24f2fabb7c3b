"""Probes: how much syntax the maps of all heads together encode (section 5; Table 3).

In reading order: features (word-level maps), probes (scores), training, scoring, structural, fitting (splits,
one probe), probe_run (all of it), measure (the analysis's interface); result (with the options), figure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.head_averages import HeadColumn
from bertviz_core.analyses.probes import measure
from bertviz_core.analyses.probes.figure import latex, more_figures, paper_figure
from bertviz_core.analyses.probes.findings import STATEMENTS
from bertviz_core.analyses.probes.result import ProbeOptions, Probes
from bertviz_core.analyses.request import Request
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.probes.probe_run import ProbeRun


def _weight(result: Probes) -> np.ndarray | None:
    """(layer, head) weight of attention only, of the better direction."""
    return result.attention.max(0) if "attention-only" in result.probes else None


class ProbesAnalysis(Analysis):
    """Probes, baselines and controls, trained on the maps of all heads."""

    name = "probes"
    title = "Probes"
    summary = "How much syntax all heads together encode: probes, baselines and controls (section 5; Table 3)."
    section = "Section 5, Table 3"
    icon = ":material/science:"
    result_class = Probes
    corpus = "treebank"
    options = ProbeOptions
    columns = (HeadColumn("weight", "weight in the attention-only probe", _weight),)
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    latex = staticmethod(latex)
    prefix = "probe_"
    forward_passes = 18  # measured: maps of four networks, one trained and three random; hidden states once; trainings
    overhead = 8.0
    chunked = False
    staged = True

    def model_of(self, model: AttentionModel, request: Request) -> AttentionModel:
        return measure.model_of(model, request)

    def take_details(self, accumulator: ProbeRun) -> Iterable[dict[str, Any]]:
        return measure.take_details(accumulator)
