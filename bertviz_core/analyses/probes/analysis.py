"""Probes: how much syntax the maps of all heads together encode (section 5; Table 3)."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.parts import Card, Part, cards_part
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance, Result
from bertviz_core.analyses.probes.figure import latex, more_figures, paper_figure, paper_table
from bertviz_core.analyses.probes.options import ProbeOptions
from bertviz_core.analyses.probes.page_parts import (
    cards,
    relations_part,
    scores_part,
    sentences_part,
    weights_of_head,
    weights_part,
)
from bertviz_core.analyses.probes.result import Probes, ProbesView
from bertviz_core.analyses.probes.statements import STATEMENTS
from bertviz_core.heads import Head
from bertviz_core.inputs.annotated_words import Sentences
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.probes.features import WordMaps
    from bertviz_core.analyses.probes.measure import ProbeRun


class ProbesAnalysis(Analysis):
    """Probes, baselines and controls, trained on the maps of all heads."""

    name = "probes"
    key_version = 2
    title = "Probes"
    summary = "How much syntax all heads together encode: probes, baselines and controls (section 5; Table 3)."
    section = "Section 5, Table 3"
    icon = ":material/science:"
    result_class = Probes
    corpus = "treebank"
    options = ProbeOptions
    view = ProbesView
    columns = (HeadColumn("weight", "weight in the attention-only probe", Probes.weight),)
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    latex = staticmethod(latex)
    paper_table = staticmethod(paper_table)
    head_in_tour = "absent"
    prefix = "probe_"
    forward_passes = 18  # measured: maps of four networks, one trained and three random; hidden states once; trainings
    chunked = False

    @property
    def source(self) -> str:
        """The networks, read without import."""
        return Path(__file__).with_name("probes.py").read_text(encoding="utf-8")

    def accumulator(self, model: AttentionModel, request: Request) -> "WordMaps":
        """The maps of a part, by the network whose seed is the option `maps`."""
        from bertviz_core.analyses.probes.features import WordMaps

        return WordMaps(model, request.settings.paper)

    def corpus_run(self, model: AttentionModel, request: Request) -> "ProbeRun":
        from bertviz_core.analyses.probes.measure import ProbeRun

        return ProbeRun(model, request)

    def model_of(self, model: AttentionModel, request: Request) -> AttentionModel:
        from bertviz_core.analyses.probes import measure

        return measure.model_of(model, request)

    def finish(self, accumulator: "ProbeRun", examples: Sentences, provenance: Provenance) -> Probes:
        from bertviz_core.analyses.probes import measure

        return measure.finish(accumulator, examples, provenance)

    def cards(self, result: Result) -> list[Card]:
        """The scores of the probes on attention, and of what controls them."""
        assert isinstance(result, Probes)
        return cards(result)

    def parts(self, result: Result) -> list[Part]:
        """Table 3, the weights of the chosen head, the accuracy by relation, and trees of the chosen probe."""
        assert isinstance(result, Probes)
        if not (chosen := result.choices):
            return []
        weights = [weights_part(result, Head.parse(chosen["head"]))] if len(result.attention) else []
        trees = sentences_part(result, chosen["probe"], chosen.get("search", ""), chosen.get("page", 1))
        return [cards_part(self.cards(result)), scores_part(result), *weights, relations_part(result), trees]

    def chosen_finding(self, result: Result) -> Finding | None:
        """What the page says first, whatever is chosen."""
        return self.findings(result)[0] if result.choices else None

    def chosen_notes(self, result: Result) -> list[str]:
        """The weights of the chosen head."""
        assert isinstance(result, Probes)
        head = result.choices.get("head")
        note = weights_of_head(result, Head.parse(head)) if head else ""
        return [note] if note else []

    def tour_figure(
        self, result: Result, head: Head | None, named: Mapping[str, str], is_answered: bool = True
    ) -> go.Figure:
        """A line for each probe."""
        assert isinstance(result, Probes)
        return paper_figure(result)
