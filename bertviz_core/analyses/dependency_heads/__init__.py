"""Dependency heads: which head finds which relation of a treebank (section 4.2; Table 1)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.dependency_heads.figure import latex, more_figures, paper_figure
from bertviz_core.analyses.dependency_heads.findings import STATEMENTS
from bertviz_core.analyses.dependency_heads.relations import DEFAULT_VIEW, VIEW_NAMES
from bertviz_core.analyses.dependency_heads.result import (
    DependencyHeads,
    RelationFilter,
    check_choice,
    default_min_count,
)
from bertviz_core.analyses.head_averages import HeadColumn
from bertviz_core.analyses.request import Options, Request, View
from bertviz_core.analyses.results import Result


@dataclass(frozen=True)
class DependencyOptions(Options):
    """Options that change the counts."""

    possessives: Annotated[bool, Doc("The paper's rule for poss before 's.")] = False


@dataclass(frozen=True)
class DependencyView(View):
    """Options that select which counts are shown."""

    view: Annotated[str, Doc("Trees: function-heads (function words govern) or as-is (as annotated).")] = DEFAULT_VIEW
    min_count: Annotated[int | None, Doc("Minimum words per relation (100; sample: 20).")] = None
    offsets: Annotated[int, Doc("Largest distance of the fixed-offset baselines.")] = 5
    merge_subtypes: Annotated[bool, Doc("Count nmod:poss as nmod.")] = False

    def check(self) -> None:
        check_choice(self.view, self.offsets)

    def show(self, result: Result, request: Request, find: Callable[[Request], Result | None]) -> Result:
        assert isinstance(result, DependencyHeads)
        min_count = default_min_count(request.source.name) if self.min_count is None else self.min_count
        return result.show(RelationFilter(self.view, min_count, self.offsets, self.merge_subtypes))


def _uas(result: DependencyHeads) -> np.ndarray:
    """(layer, head) UAS of each head alone, in its better direction."""
    shown = result.default_view()
    accuracy: np.ndarray = shown.better[0][shown.relations.index("UAS")]
    return accuracy


def _best_offset(result: DependencyHeads) -> tuple[float, str]:
    shown = result.default_view()
    return float(shown.baseline[shown.relations.index("UAS")]), "best offset"


class DependencyAnalysis(Analysis):
    """Right guesses of governors by every head."""

    name = "dependency_heads"
    title = "Dependency heads"
    summary = "Which head finds which relation of a treebank, against fixed offsets (section 4.2; Table 1)."
    section = "Section 4.2, Table 1"
    icon = ":material/account_tree:"
    corpus = "treebank"
    forward_passes = 1.4
    result_class = DependencyHeads
    options = DependencyOptions
    view = DependencyView
    columns = (
        HeadColumn("UAS", f"UAS of this head alone ({VIEW_NAMES[DEFAULT_VIEW]})", _uas, _best_offset, percent=True),
    )
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    latex = staticmethod(latex)
    prefix = ""
