"""Coreference heads: does a head's attention point from a mention to an antecedent? (section 4.3; Table 2)"""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.blocks import Block, Chart, Claim, Columns, Numbers, Say, Tabs
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.found_heads import ChosenHeads, FoundHead, HeadRole
from bertviz_core.analyses.base.head_figures import HeadFigure, HeadRow, Rows, share_row
from bertviz_core.analyses.base.presentation import NamedHead
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.behaviors import COREFERENCE
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.baselines import COMPARED
from bertviz_core.analyses.coreference_heads.figure import (
    better_head,
    by_group,
    group_charts,
    maps_by_type,
    mention_map,
    paper_figure,
)
from bertviz_core.analyses.coreference_heads.found_heads import chosen_heads, found_heads
from bertviz_core.analyses.coreference_heads.groups import TYPE_NAMES, TYPE_ROWS
from bertviz_core.analyses.coreference_heads.guesses import answers
from bertviz_core.analyses.coreference_heads.head_roles import head_roles
from bertviz_core.analyses.coreference_heads.passage_list import passage_list
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads, CoreferenceView
from bertviz_core.analyses.coreference_heads.statements import (
    ONE_CANDIDATE,
    STATEMENTS,
    head_sentence,
    method,
    type_finding,
)
from bertviz_core.analyses.coreference_heads.systems_table import all_heads, cards, latex, systems_table
from bertviz_core.heads import DirectedHead, Head
from bertviz_core.inputs.annotated_words import Windows
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.coreference_heads.measure import AntecedentSums


def _antecedents(result: CoreferenceHeads) -> np.ndarray:
    """(layer, head) of all mentions, by the paper's measure: from a mention to its antecedent."""
    return np.asarray(result.default_view().accuracy[0, 0])


def _head_match(result: CoreferenceHeads) -> tuple[float, str]:
    """The baseline that the paper compares its head with, and that needs no rules."""
    return float(result.default_view().of_system("head match")[0]), "head match"


class CoreferenceAnalysis(Analysis[CoreferenceHeads, CoreferenceView]):
    """Right guesses of antecedents by every head."""

    name = "coreference_heads"
    key_version = 2
    title = "Coreference heads"
    summary = "Which head's attention points from a mention to its antecedent (section 4.3; Table 2)."
    section = "Section 4.3, Table 2"
    icon = ":material/link:"
    corpus = "coreference"
    result_class = CoreferenceHeads
    view = CoreferenceView
    columns = (HeadColumn("all", "antecedents found", _antecedents, _head_match, percent=True),)
    statements = STATEMENTS
    one_causal = "its accuracies are of arcs to earlier words"
    both_causal = "their accuracies are of arcs to earlier words"
    main_figure = staticmethod(paper_figure)
    latex = staticmethod(latex)
    prefix = "coreference_"

    def claim(self, result: AntecedentCounts, view: CoreferenceView) -> Finding:
        """The best head on the chosen mentions in the chosen direction."""
        return type_finding(result, view.kind, view.choice().direction)

    def blocks(self, result: AntecedentCounts, view: CoreferenceView) -> Iterator[Block]:
        choice = view.choice()
        yield Claim(self.claim(result, view), first=True)
        if not result.n[TYPE_ROWS.index(view.kind)]:
            return
        yield Say(head_sentence(result, view.kind, choice), chosen=True, on_screen=False)
        if result.has_one_candidate_each:
            yield Say(ONE_CANDIDATE, stands_out=True)
        map_column: tuple[Block, ...] = (
            mention_map(result, view.kind, choice.direction),
            *better_head(result, view.kind, choice),
        )
        yield Columns(left=map_column, right=(passage_list(result, view),), widths=(2, 3))
        by_type, by_distance, *by_gender = group_charts(result, view.kind, choice)
        tabs: dict[str, tuple[Block, ...]] = {
            "Table 2": (systems_table(result, choice),),
            "By type": (by_type, *by_gender, maps_by_type(result)),
            "By distance": (by_distance,),
            "All heads": (Numbers(tuple(cards(result, view.kind, choice))), all_heads(result, choice.direction)),
            "Method": (Say(method(result, view.kind, choice.direction)),),
        }
        yield Tabs(tuple(tabs.items()))

    @property
    def source(self) -> str:
        """The guesses."""
        return inspect.getsource(answers)

    def found_heads(self, result: CoreferenceHeads) -> Iterable[FoundHead]:
        """The best head on all mentions."""
        return found_heads(result.default_view())

    def named_heads(self, result: CoreferenceHeads) -> list[NamedHead]:
        """The best head on all mentions."""
        counts = result.default_view()
        return [NamedHead(counts.best().head.key(), COREFERENCE, "antecedents")] if counts.finds_antecedents() else []

    def head_roles(self, result: CoreferenceHeads, head: Head) -> Iterable[HeadRole]:
        counts = result.default_view()
        return head_roles(counts, _type_rows(counts, head)[0]) if counts.n[0] else ()

    def chosen_heads(self, result: CoreferenceHeads) -> list[ChosenHeads]:
        """Those of all mentions."""
        return chosen_heads(result)

    def accumulator(self, model: AttentionModel, request: Request) -> "AntecedentSums":
        from bertviz_core.analyses.coreference_heads import measure

        return measure.accumulator(model, request)

    def finish(self, accumulator: "AntecedentSums", examples: Windows, provenance: Provenance) -> CoreferenceHeads:
        from bertviz_core.analyses.coreference_heads import measure

        return measure.finish(accumulator, examples, provenance)

    def tour_chart(self, result: CoreferenceHeads, head: Head, named: Mapping[str, str], is_answered: bool) -> Chart:
        """The head and the baselines by distance of the antecedent."""
        return replace(self.main_chart(_by_distance, result, head), has_heads=False)

    def of_head(self, result: CoreferenceHeads, head: Head) -> Iterator[Rows]:
        """What it finds of the antecedents of each type of mention, beside the nearest one with the same head word."""
        yield Rows(_antecedents_found, (result, head))


def _by_distance(result: CoreferenceHeads, head: Head) -> go.Figure:
    return by_group(result.default_view(), (DirectedHead(0, head), *COMPARED))


def _antecedents_found(result: CoreferenceHeads, head: Head) -> HeadFigure:
    """A row for each type of mention; that of all mentions may set the head apart, and heads are found by the others,
    from the mention to its antecedent."""
    counts = result.default_view()
    rows = tuple(_type_rows(counts, head))
    types = [(row, kind) for row, kind in enumerate(TYPE_ROWS) if row and counts.n[row]]
    return HeadFigure(
        title="Antecedents that it finds",
        rows=rows,
        sentence=counts.restriction,
        distinctive=rows[:1],
        searched={f"antecedents of {TYPE_NAMES[kind]}": counts.accuracy[0, row] for row, kind in types},
    )


def _type_rows(counts: AntecedentCounts, head: Head) -> list[HeadRow]:
    """A row for each type of mention that there is, all mentions first."""
    scores = counts.scores(DirectedHead(0, head)).of("type")
    baseline = counts.of_system("head match")
    return [
        share_row(
            f"antecedents of {TYPE_NAMES[kind]} found",
            counts.accuracy[0, row],
            head,
            interval=(float(scores.low[row]), float(scores.high[row])),
            baseline=float(baseline[row]),
            baseline_name="head match",
        )
        for row, kind in enumerate(TYPE_ROWS)
        if counts.n[row]
    ]
