"""Coreference heads: does a head's attention point from a mention to an antecedent? (section 4.3; Table 2)"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
import plotly.graph_objects as go

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.drawn_inputs import DrawnInput
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.head_figures import HeadFigure, HeadRow, share_row
from bertviz_core.analyses.base.parts import Card, Part, cards_part
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance, Result
from bertviz_core.analyses.behaviors import COREFERENCE
from bertviz_core.analyses.coreference_heads import report
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts, chosen_of
from bertviz_core.analyses.coreference_heads.baselines import COMPARED
from bertviz_core.analyses.coreference_heads.figure import by_group, latex, more_figures, paper_figure, paper_table
from bertviz_core.analyses.coreference_heads.groups import TYPE_NAMES, TYPE_ROWS
from bertviz_core.analyses.coreference_heads.passage_list import passage_part
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads, CoreferenceView
from bertviz_core.analyses.coreference_heads.statements import STATEMENTS, head_sentence, type_finding
from bertviz_core.analyses.coreference_heads.systems_table import cards, heads_part, systems_part
from bertviz_core.heads import DirectedHead, Head
from bertviz_core.inputs.annotated_words import Windows
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.coreference_heads.measure import AntecedentSums


def _antecedents(result: CoreferenceHeads) -> np.ndarray:
    """(layer, head) of all mentions, by the paper's measure: from a mention to its antecedent."""
    return np.asarray(result.default_view().accuracy[0, 0])


def _head_match(result: CoreferenceHeads) -> tuple[float, str]:
    """The baseline that the paper compares its head with, and that needs no rules."""
    return float(result.default_view().of_system("head match")[0]), "head match"


class CoreferenceAnalysis(Analysis):
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
    more_figures = staticmethod(more_figures)
    latex = staticmethod(latex)
    paper_table = staticmethod(paper_table)
    head_in_tour = "subject"
    prefix = "coreference_"
    names_heads = True
    has_attention_lines = True

    def chosen_finding(self, result: Result) -> Finding | None:
        """The best head on the chosen mentions in the chosen direction."""
        if (chosen := chosen_of(result)) is None:
            return None
        kind, choice = chosen
        return type_finding(cast(AntecedentCounts, result), kind, choice.direction)

    def cards(self, result: Result) -> list[Card]:
        """The best head on the chosen mentions, and the baselines."""
        counts = cast(AntecedentCounts, result)
        chosen = chosen_of(counts)
        return cards(counts, *chosen) if chosen else []

    def parts(self, result: Result) -> list[Part]:
        """The chosen head's passages, Table 2 with the chosen head, and the accuracy of all heads."""
        counts = cast(AntecedentCounts, result)
        if (chosen := chosen_of(counts)) is None:
            return []
        passages = passage_part(counts)
        if passages is None:  # there are no such mentions
            return []
        heads = heads_part(counts, chosen[1].direction)
        return [passages, systems_part(counts, chosen[1]), cards_part(self.cards(result)), heads]

    def chosen_notes(self, result: Result) -> list[str]:
        """What the chosen head finds of these mentions, if there are any."""
        counts = cast(AntecedentCounts, result)
        if (chosen := chosen_of(result)) is None or not counts.n[TYPE_ROWS.index(chosen[0])]:
            return []
        return [head_sentence(counts, *chosen)]

    def drawn_inputs(self, result: Result, tokens: Tokens) -> Iterable[DrawnInput]:
        return report.drawn_inputs(cast(AntecedentCounts, result.default_view()), tokens)

    def named_heads(self, result: Result) -> list[tuple[str, str]]:
        """The best head on all mentions."""
        counts = cast(AntecedentCounts, result.default_view())
        return [(counts.best().head.key(), COREFERENCE)] if counts.finds_antecedents() else []

    def found_by(self, name: str) -> str:
        return "antecedents"

    def accumulator(self, model: AttentionModel, request: Request) -> "AntecedentSums":
        from bertviz_core.analyses.coreference_heads import measure

        return measure.accumulator(model, request)

    def finish(self, accumulator: "AntecedentSums", examples: Windows, provenance: Provenance) -> CoreferenceHeads:
        from bertviz_core.analyses.coreference_heads import measure

        return measure.finish(accumulator, examples, provenance)

    def tour_figure(
        self, result: Result, head: Head | None, named: Mapping[str, str], is_answered: bool = True
    ) -> go.Figure:
        """The head and the baselines by distance of the antecedent."""
        assert isinstance(result, CoreferenceHeads) and head is not None
        return by_group(result.default_view(), (DirectedHead(0, head), *COMPARED))

    def best_head(self, result: Result, targets: Sequence[str]) -> Head | None:
        """The best head on all mentions, where "coreference" is a target."""
        assert isinstance(result, CoreferenceHeads)
        return result.default_view().best().head if "coreference" in targets else None

    def searched_numbers(self, result: Result) -> dict[str, np.ndarray]:
        """The (layer, head) accuracy of each type of mention that there is, from the mention to its antecedent."""
        assert isinstance(result, CoreferenceHeads)
        counts = result.default_view()
        types = [(row, kind) for row, kind in enumerate(TYPE_ROWS) if row and counts.n[row]]
        return {f"antecedents of {TYPE_NAMES[kind]}": counts.accuracy[0, row] for row, kind in types}

    def head_rows(self, result: Result, head: Head) -> list[HeadRow]:
        """What it finds of the antecedents of all mentions."""
        assert isinstance(result, CoreferenceHeads)
        return _type_rows(result.default_view(), head)[:1]

    def head_figures(self, result: Result, head: Head) -> list[HeadFigure]:
        """What it finds of the antecedents of each type of mention, beside the nearest one with the same head word."""
        assert isinstance(result, CoreferenceHeads)
        counts = result.default_view()
        rows = tuple(_type_rows(counts, head))
        return [HeadFigure("Antecedents that it finds", rows, sentence=counts.restriction)] if rows else []


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
