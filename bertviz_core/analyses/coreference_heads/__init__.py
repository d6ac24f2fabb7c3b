"""Coreference heads: does a head's attention point from a mention to an antecedent? (section 4.3; Table 2)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.coreference_heads.figure import latex, more_figures, paper_figure
from bertviz_core.analyses.coreference_heads.findings import STATEMENTS
from bertviz_core.analyses.coreference_heads.guesses import check_candidates
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads
from bertviz_core.analyses.head_averages import HeadColumn
from bertviz_core.analyses.request import Request, View
from bertviz_core.analyses.results import Result


@dataclass(frozen=True)
class CoreferenceView(View):
    """Which of the counts are shown."""

    candidates: Annotated[str, Doc("mentions (the preceding ones), or words: any other.")] = "mentions"

    def check(self) -> None:
        check_candidates(self.candidates)

    def show(self, result: Result, request: Request, find: Callable[[Request], Result | None]) -> Result:
        assert isinstance(result, CoreferenceHeads)
        return result.show(self.candidates)


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
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    latex = staticmethod(latex)
    prefix = "coreference_"
