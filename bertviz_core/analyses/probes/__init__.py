"""Probes: how much syntax the maps of all heads together encode (section 5; Table 3).

In reading order: options, splits, features (word-level maps), probes (scores), training, scoring, fitting (one probe),
structural, probe_run (all of it), measure (the analysis's interface); result, figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.head_column import HeadColumn
from bertviz_core.analyses.probes.options import ProbeOptions

if TYPE_CHECKING:
    import numpy as np


def _weight(result: Any) -> np.ndarray | None:
    """(layer, head) weight of attention only, of the better direction."""
    return result.attention.max(0) if "attention-only" in result.probes else None


ANALYSIS = Analysis(
    name="probes",
    package=__name__,
    title="Probes",
    summary="How much syntax all heads together encode: probes, baselines and controls (section 5; Table 3).",
    section="Section 5, Table 3",
    icon=":material/science:",
    result="Probes",
    corpus="treebank",
    options=ProbeOptions,
    columns=(HeadColumn("weight", "weight in the attention-only probe", _weight),),
    prefix="probe_",
    forwards=18,  # measured: maps of four networks, one trained and three random; hidden states once; trainings
    overhead=8.0,
    chunked=False,
)
