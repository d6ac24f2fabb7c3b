"""Probes: how much syntax the maps of all heads together encode (section 5; Table 3)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.blocks import Block, Chart, Claim, Columns, Numbers, Say
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.base.view import Find
from bertviz_core.analyses.probes.figure import (
    distance_chart,
    latex,
    paper_figure,
    table_chart,
    weight_maps,
)
from bertviz_core.analyses.probes.options import ProbeOptions
from bertviz_core.analyses.probes.page_blocks import (
    cards,
    relations_table,
    scores_notes,
    scores_table,
    tree_list,
    weights_of_head,
    weights_table,
)
from bertviz_core.analyses.probes.result import Probes, ProbesView
from bertviz_core.analyses.probes.statements import STATEMENTS, score_finding
from bertviz_core.heads import Head
from bertviz_core.inputs.annotated_words import Sentences
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.probes.features import WordMaps
    from bertviz_core.analyses.probes.measure import ProbeRun


class ProbesAnalysis(Analysis[Probes, ProbesView]):
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
    latex = staticmethod(latex)
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

    def corpus_run(self, model: AttentionModel, request: Request, find: Find) -> "ProbeRun":
        from bertviz_core.analyses.probes.measure import ProbeRun

        return ProbeRun(model, request)

    def model_of(self, model: AttentionModel, request: Request) -> AttentionModel:
        from bertviz_core.analyses.probes import measure

        return measure.model_of(model, request)

    def finish(self, accumulator: "ProbeRun", examples: Sentences, provenance: Provenance) -> Probes:
        from bertviz_core.analyses.probes import measure

        return measure.finish(accumulator, examples, provenance)

    def claim(self, result: Probes, view: ProbesView) -> Finding:
        return score_finding(result)

    def blocks(self, result: Probes, view: ProbesView) -> Iterator[Block]:
        yield Claim(self.claim(result, view), first=True)
        yield Columns(left=(table_chart(result),), right=(distance_chart(result),))
        yield Numbers(tuple(cards(result)))
        if head := view.head_of():
            yield Say(weights_of_head(result, head), chosen=True, on_screen=False)
            first, second = weight_maps(result)
            weights = weights_table(result, head)
            yield Columns((first,), (second,), lower=(weights,), title="Weights of the attention-only probe")
        yield scores_table(result)
        yield from scores_notes(result)
        yield relations_table(result)
        yield tree_list(result, view)

    def tour_chart(self, result: Probes, head: Head, named: Mapping[str, str], is_answered: bool) -> Chart:
        """A line for each probe."""
        return replace(self.main_chart(paper_figure, result), has_heads=False)
