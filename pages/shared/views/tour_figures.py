"""The live figure of each step of the tour: what the step's page draws, for this model's stored results."""

from collections.abc import Callable
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from bertviz_core.analyses.ablation.figure import change_map
from bertviz_core.analyses.ablation.figure import paper_figure as ablation_figure
from bertviz_core.analyses.behaviors import Thresholds, linguistic
from bertviz_core.analyses.clustering.figure import by_behavior, by_layer
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.figure import by_distance, compared
from bertviz_core.analyses.dependency_heads.figure import example_svg, examples
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS
from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.analyses.entropy.figure import paper_figure as entropy_figure
from bertviz_core.analyses.findings import Finding
from bertviz_core.analyses.probes.figure import distance_figure
from bertviz_core.analyses.probes.figure import paper_figure as probes_figure
from bertviz_core.analyses.probes.result import Probes
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Results, result_of
from bertviz_core.analyses.sep_gradients.figure import no_op_figure
from bertviz_core.analyses.surface_patterns.figure import paper_figure as surface_figure
from bertviz_core.heads import DirectedHead, arrow
from bertviz_core.models.single_input import from_text
from bertviz_core.plotting.head_map import value_map
from bertviz_core.tour import Step, answers
from bertviz_core.viewer.files import MIN_WEIGHT
from bertviz_core.viewer.view import InputView
from pages.shared import head_panel, page, services
from pages.shared.components import drawings
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import attention_panel, cluster_view, head_view, side_by_side
from pages.shared.views.input_choice import SENTENCES

BY_LAYER: dict[str, tuple[Callable[..., go.Figure], str]] = {  # page -> its figure by layer, and what that shows
    "surface_patterns": (surface_figure, "Average attention to special tokens, punctuation and neighbors by layer"),
    "sep_gradients": (no_op_figure, "Attention to [SEP] by layer, and under it the gradient to [SEP] and to others"),
    "entropy": (entropy_figure, "Entropy of attention by layer in nats, a dot for each head"),
    "ablation": (ablation_figure, "Change of the loss by layer without each head, and without [SEP] alone"),
}


def draw(step: Step, found: list[Finding], key: str, results: Results, selection: Selection) -> None:
    """The figure of a step whose results are there; a click on a head chooses it.

    Args:
        step: Whose page has the figure.
        found: The step's findings.
        key: Key of the figure's components.
        results: By analysis.
        selection: The chosen head is ringed.
    """
    FIGURES.get(step.page, _by_layer)(found, key, results, selection)


def _by_layer(found: list[Finding], key: str, results: Results, selection: Selection) -> None:
    """The analysis's figure by layer, and the map of the quantity that the step is about."""
    first = answers(found)[0]
    result, (build, alt) = results[first.analysis], BY_LAYER[first.analysis]
    column = ANALYSES[first.analysis].column(first.quantity)
    base, is_change = selection.base, first.analysis == "ablation"
    squares = memoize(change_map, result, column, base) if is_change else column.map(result, base)
    head_view.figure_and_map(page.drawn(build, result, base), alt, squares, column.label, key, selection)


def _specialists(found: list[Finding], key: str, results: Results, selection: Selection) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        squares = memoize(head_panel.map_of, results, Thresholds(), selection.base)
        page.head_map(squares, f"{key}-map", "Map of all heads, with a marker for what each head does", selection)
    with right:
        does = head_panel.behavior({**results}, selection, Thresholds())
        st.markdown(f"**Head {selection.label}**: {plain(does)}. Click another head, or a name in the legend.")


def _one_sentence(found: list[Finding], key: str, results: Results, selection: Selection) -> None:
    """The viewer's first sentence, which the model reads now."""
    model = services.model(selection.checkpoint, selection.settings.dtype)
    single = from_text(*next(iter(SENTENCES.values())), model.tokens, selection.settings)
    view, title = (
        InputView(first_piece=selection.settings.paper),
        f"Head {selection.label}, {selection.checkpoint.label}",
    )
    side = side_by_side.side(selection, model, view, selection.head, title, single)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        attention_panel.lines(side, "attention-lines", can_mask=False, min_weight=MIN_WEIGHT)
    with right:
        st.markdown("**All heads** on this sentence; click one to choose it")
        attention_panel.pictures(side.attention, selection)


def _relation(found: list[Finding], key: str, results: Results, selection: Selection) -> None:
    """The map of the clearest relation, and the sentence of which the chosen head is surest."""
    result = memoize(DependencyHeads.show_default, results["dependency_heads"])
    relation = result.clearest_relation()
    row, direction = result.relations.index(relation), result.best_choice(relation).direction
    choice = DirectedHead(direction, selection.head)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.markdown(f"**Head map**: {plain(relation)}, {arrow(DIRECTIONS[direction])}")
        squares = value_map(result.accuracy[direction, row], f"of {relation}", base=selection.base, unit="accuracy")
        page.head_map(squares, f"{key}-map", f"Map of all heads, colored by accuracy on {relation}", selection)
    with right:
        sentences = sorted(examples(result, choice, relation), key=lambda each: -each.weight)[:2]
        st.markdown(f"**Head {selection.label}**, its most confident sentences: gold arcs above, its guesses below")
        pictures = [(each.where, example_svg(each, choice)) for each in sentences]
        drawings(pictures, f"{key}-sentences")


def _coreference(found: list[Finding], key: str, results: Results, selection: Selection) -> None:
    result = result_of(results, AntecedentCounts)
    shown = (DirectedHead(0, selection.head), *compared(result))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.markdown("**Accuracy by distance**")
        alt = "Accuracy of the chosen head and of the baselines against the distance to the antecedent"
        page.chart(page.drawn(by_distance, result, shown, selection.base), f"{key}-figure", alt, clickable=False)
    with right:
        st.markdown("**Head map**: all mentions, mention → antecedent")
        squares = value_map(result.accuracy[0, 0], "of all mentions", base=selection.base)
        page.head_map(squares, f"{key}-map", "Map of all heads, colored by accuracy on all mentions", selection)


def _probes(found: list[Finding], key: str, results: Results, selection: Selection) -> None:
    result = result_of(results, Probes)
    pictures = {
        "For each probe its score with its interval, and the paper's score": probes_figure,
        "Accuracy of every probe by distance to the governor": distance_figure,
    }
    for column, (alt, build) in zip(st.columns(2, gap="medium"), pictures.items(), strict=True):
        with column:
            page.chart(page.drawn(build, result), f"{key}-{build.__name__}", alt, clickable=False)


def _clusters(found: list[Finding], key: str, results: Results, selection: Selection) -> None:
    stored, named = result_of(results, Clustering), memoize(linguistic, results)
    result = memoize(Clustering.labeled, cluster_view.pictured(stored), Thresholds(), named)
    for column, build in zip(st.columns(2, gap="medium"), (by_behavior, by_layer), strict=True):
        with column:
            what = build.__name__.replace("_", " ")
            st.markdown(f"**{what.capitalize()}**")
            alt = f"Scatter plot of heads {what}: similar heads lie close together"
            page.chart(page.drawn(build, result, selection.base), f"{key}-{build.__name__}", alt, head=selection.head)


FIGURES: dict[str, Callable[[list[Finding], str, Any, Selection], None]] = {
    "overview": _specialists,
    "attention_viewer": _one_sentence,
    "dependency_heads": _relation,
    "coreference_heads": _coreference,
    "probes": _probes,
    "clustering": _clusters,
}
