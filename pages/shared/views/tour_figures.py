"""The live figure of each step of the tour: what the step's page draws, for this model's stored results."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.analyses.ablation.figure import change_map
from bertviz_core.analyses.behaviors import Thresholds, linguistic
from bertviz_core.analyses.clustering.figure import by_layer
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.coreference_heads.figure import by_distance, compared
from bertviz_core.analyses.coreference_heads.result import AntecedentCounts
from bertviz_core.analyses.dependency_heads.figure import example_svg, examples
from bertviz_core.analyses.dependency_heads.figure import paper_figure as relations_figure
from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.analyses.entropy import paper_figure as entropy_figure
from bertviz_core.analyses.findings import Finding
from bertviz_core.analyses.head_averages import HeadColumn
from bertviz_core.analyses.probes.figure import paper_figure as probes_figure
from bertviz_core.analyses.probes.result import Probes
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Results, result_of
from bertviz_core.analyses.sep_gradients import no_op_figure
from bertviz_core.analyses.surface_patterns.figure import PANELS
from bertviz_core.analyses.surface_patterns.figure import paper_figure as surface_figure
from bertviz_core.heads import DirectedHead
from bertviz_core.models.single_input import from_text
from bertviz_core.tour import Step, answers
from bertviz_core.viewer.files import MIN_WEIGHT
from bertviz_core.viewer.view import InputView
from pages.shared import head_panel, page, services
from pages.shared.components import drawings
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import attention_panel, cluster_view, side_by_side
from pages.shared.views.input_choice import SENTENCES

HEIGHT = 440  # pixels of a figure: a slide fits 1280 x 720
WIDE = "Determiners and nouns"  # the viewer's sentence, which fits
MAX_RELATIONS = 14  # relations
FIT, SENTENCES_SHOWN = 9, 2  # words of a sentence; sentences
BY_LAYER: dict[str, tuple[Callable[..., go.Figure], dict[str, Any], str]] = {  # page -> figure, alt
    "surface_patterns": (surface_figure, {"panels": PANELS[:1]}, "Average attention to special tokens by layer"),
    "sep_gradients": (
        no_op_figure,
        {},
        "Attention to the sink by layer, and under it the gradient to it and others",
    ),
    "entropy": (entropy_figure, {}, "Entropy of attention by layer in nats, a dot for each head"),
}


def draw(step: Step, findings: list[Finding], key: str, results: Results, selection: Selection, answered: bool) -> None:
    """The figure of a step whose results are there; a click on a head chooses it.

    Args:
        step: Whose page has the figure.
        found: The step's findings.
        key: Key of the figure's components.
        results: By analysis.
        selection: The chosen head is ringed.
        answered: Whether the answer is shown, which the figure must not give away before.
    """
    if step.page == "dependency_heads":
        (_relation if answered else _relations)(key, results, selection)
    elif step.as_map:
        _maps(answers(findings), key, results, selection)
    elif step.page in BY_LAYER:
        build, options, alt = BY_LAYER[step.page]
        drawing = page.drawn(build, results[step.page], selection.base, **options)
        page.chart(drawing, f"{key}-figure", alt, head=selection.head, height=HEIGHT)
    else:
        FIGURES[step.page](key, results, selection, answered)


def _maps(findings: list[Finding], key: str, results: Results, selection: Selection) -> None:
    """The maps of the first two quantities that the answers are about."""
    named = dict.fromkeys((finding.analysis, finding.quantity) for finding in findings if finding.quantity)
    quantities = list(named)[:2]
    for panel, (analysis, quantity) in zip(
        st.columns(len(quantities), vertical_alignment="bottom"), quantities, strict=True
    ):
        column = ANALYSES[analysis].column(quantity)
        build = change_map if analysis == "ablation" else HeadColumn.map
        arguments = (results[analysis], column) if analysis == "ablation" else (column, results[analysis])
        with panel:
            st.markdown(f"**{plain(column.label)}**")
            alt = f"Map of all heads, layer by head, colored by {column.label}"
            squares = memoize(build, *arguments, selection.base)
            page.head_map(squares, f"{key}-{quantity}", alt, selection, height=HEIGHT - 60)


def _specialists(key: str, results: Results, selection: Selection, answered: bool) -> None:
    squares = memoize(head_panel.map_of, results, Thresholds(), selection.base)
    if not answered:
        groups = tuple(replace(group, name=group.name.rpartition(" (")[0]) for group in squares.groups)
        squares = replace(squares, groups=groups)
    alt = "Map of all heads, with a marker for what each head does"
    page.head_map(squares, f"{key}-map", alt, selection, height=HEIGHT)


def _one_sentence(key: str, results: Results, selection: Selection, answered: bool) -> None:
    """The viewer's sentence, which the model reads now."""
    _lines(SENTENCES[WIDE], selection)


def sentence(text: str, claim: DeltaGenerator, selection: Selection) -> None:
    """The chosen head's lines on the reader's own sentence, and in words what it does there."""
    side = _lines((text, ""), selection)
    with claim:
        attention_panel.claim(side.attention, selection, InputView(first_piece=selection.settings.paper), MIN_WEIGHT)


def _lines(texts: tuple[str, str], selection: Selection) -> side_by_side.ViewerPane:
    model = services.model(selection.checkpoint, selection.settings.dtype)
    single = from_text(*texts, model.tokens, selection.settings)
    view = InputView(first_piece=selection.settings.paper)
    title = f"Head {selection.label}, {selection.checkpoint.label}"
    side = side_by_side.side(selection, model, view, selection.head, title, single)
    attention_panel.lines(side, "attention-lines", can_mask=False, min_weight=MIN_WEIGHT)
    return side


def _relations(key: str, results: Results, selection: Selection) -> None:
    """The best head of each frequent relation."""
    result = memoize(DependencyHeads.show_default, results["dependency_heads"])
    alt = "Accuracy of the best head and of the best fixed offset for each relation"
    page.chart(
        page.drawn(relations_figure, result, max_relations=MAX_RELATIONS),
        f"{key}-figure",
        alt,
        clickable=False,
        height=HEIGHT,
    )


def _relation(key: str, results: Results, selection: Selection) -> None:
    """The sentences of which the chosen head is surest, those first that fit a slide."""
    result = memoize(DependencyHeads.show_default, results["dependency_heads"])
    relation = result.clearest_relation()
    choice = DirectedHead(result.best_choice(relation).direction, selection.head)
    sentences = sorted(
        examples(result, choice, relation), key=lambda example: (len(example.sentence["words"]) > FIT, -example.weight)
    )
    st.markdown(
        f"**{plain(relation)}**: sentences of which head {selection.label} is surest, its guesses below the words"
    )
    drawings([(each.where, example_svg(each, choice)) for each in sentences[:SENTENCES_SHOWN]], f"{key}-sentences")


def _coreference(key: str, results: Results, selection: Selection, answered: bool) -> None:
    result = result_of(results, AntecedentCounts)
    shown = (DirectedHead(0, selection.head), *compared(result))
    alt = "Accuracy of the chosen head and of the baselines against the distance to the antecedent"
    drawing = page.drawn(by_distance, result, shown, selection.base)
    page.chart(drawing, f"{key}-figure", alt, clickable=False, height=HEIGHT)


def _probes(key: str, results: Results, selection: Selection, answered: bool) -> None:
    alt = "For each probe its score with its interval, and the paper's score"
    drawing = page.drawn(probes_figure, result_of(results, Probes))
    page.chart(drawing, f"{key}-figure", alt, clickable=False, height=HEIGHT)


def _clusters(key: str, results: Results, selection: Selection, answered: bool) -> None:
    stored, named = result_of(results, Clustering), memoize(linguistic, results)
    result = memoize(Clustering.labeled, cluster_view.pictured(stored), Thresholds(), named)
    alt = "Scatter plot of heads by layer: similar heads lie close together"
    drawing = page.drawn(by_layer, result, selection.base)
    page.chart(drawing, f"{key}-figure", alt, head=selection.head, height=HEIGHT)


FIGURES: dict[str, Callable[[str, Any, Selection, bool], None]] = {
    "overview": _specialists,
    "attention_viewer": _one_sentence,
    "coreference_heads": _coreference,
    "probes": _probes,
    "clustering": _clusters,
}
