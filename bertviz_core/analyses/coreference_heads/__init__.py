"""Coreference heads: does a head's attention point from a mention to an antecedent? (section 4.3; Table 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.coreference_heads.baselines import score
from bertviz_core.analyses.coreference_heads.figure import latex, more_figures, paper_figure
from bertviz_core.analyses.coreference_heads.findings import STATEMENTS
from bertviz_core.analyses.coreference_heads.guesses import check_candidates
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads
from bertviz_core.analyses.head_averages import HeadColumn
from bertviz_core.analyses.request import Request, View
from bertviz_core.analyses.results import Result
from bertviz_core.corpora.source import from_path
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.coreference_heads.measure import Selections


@dataclass(frozen=True)
class CoreferenceView(View):
    """Which of the counts are shown, and another system's beside them."""

    candidates: Annotated[str, Doc("mentions (the preceding ones), or words: any other.")] = "mentions"
    predictions: Annotated[Path | None, Doc("Another system's chains for the same documents.")] = None

    def check(self) -> None:
        check_candidates(self.candidates)
        if self.predictions:
            from_path(self.predictions)

    def show(self, result: Result, request: Request, find: Callable[[Request], Result | None]) -> Result:
        assert isinstance(result, CoreferenceHeads)
        shown = result.show(self.candidates)
        if not self.predictions:
            return shown
        predictions = from_path(self.predictions)
        return shown.with_predictions(predictions, *score(request, predictions))


def _antecedents(result: CoreferenceHeads) -> np.ndarray:
    """(layer, head) of all mentions, by the paper's measure: from a mention to its antecedent."""
    accuracy: np.ndarray = result.default_view().accuracy[0, 0]
    return accuracy


def _head_match(result: CoreferenceHeads) -> tuple[float, str]:
    """The baseline that the paper compares its head with, and that needs no rules."""
    shown = result.default_view()
    return float(shown.systems_accuracy[shown.systems.index("head match"), 0]), "head match"


class CoreferenceAnalysis(Analysis):
    """Right guesses of antecedents by every head."""

    name = "coreference_heads"
    title = "Coreference heads"
    summary = "Which head's attention points from a mention to its antecedent (section 4.3; Table 2)."
    section = "Section 4.3, Table 2"
    icon = ":material/link:"
    corpus = "coreference"
    result_class = CoreferenceHeads
    view = CoreferenceView
    columns = (HeadColumn("all", "antecedents found", _antecedents, _head_match, percent=True),)
    statements = STATEMENTS
    own_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    latex = staticmethod(latex)
    prefix = "coreference_"

    def accumulator(self, model: AttentionModel, request: Request) -> Selections:
        from bertviz_core.analyses.coreference_heads import measure

        return measure.accumulator(model, request)

    def finish(self, accumulator: Selections, examples: Any, provenance: dict[str, Any]) -> CoreferenceHeads:
        from bertviz_core.analyses.coreference_heads import measure

        return measure.finish(accumulator, examples, provenance)
