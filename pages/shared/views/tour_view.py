"""The guided tour: where the reader is, the head that a slide opens on, and the live figure of each step."""

from dataclasses import replace

import streamlit as st

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
from bertviz_core.analyses.probes import paper_figure as probes_figure
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Results, result_of
from bertviz_core.analyses.sep_gradients import no_op_figure
from bertviz_core.analyses.surface_patterns.figure import paper_figure as surface_figure
from bertviz_core.heads import DirectedHead, Head
from bertviz_core.models.single_input import from_text
from bertviz_core.numbers import small_int
from bertviz_core.plotting.drawing import FigureSpec
from bertviz_core.settings import WEIGHTS
from bertviz_core.tour import STEPS, Step, answers, head_roles
from bertviz_core.viewer import InputView
from bertviz_core.viewer.files import MIN_WEIGHT
from pages.shared import head_panel, page, services, stored
from pages.shared.frame import Selection, choices
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.page import Drawing
from pages.shared.views import viewer_panes
from pages.shared.views.viewer_input import SENTENCES

STEP, ANSWER = "step", "answer"  # parameters of the address
END = len(STEPS) + 1
OWN = END + 1
HEIGHT = 440  # pixels of a figure: a slide fits 1280 x 720
WIDE = "Determiners and nouns"  # the viewer's sentence, which fits
MAX_RELATIONS = 14
FIT, SENTENCES_SHOWN = 9, 2  # words of a sentence; sentences
ALTS = {  # of figures by page
    "surface_patterns": "Average attention to special tokens by layer",
    "sep_gradients": "Attention to the sink by layer, and under it the gradient to it and others",
    "entropy": "Entropy of attention by layer in nats, a dot for each head",
    "dependency_heads": "Accuracy of the best head and of the best fixed offset for each relation",
    "coreference_heads": "Accuracy of the chosen head and of the baselines against the distance to the antecedent",
    "probes": "For each probe its score with its interval, and the paper's score",
    "clustering": "Scatter plot of heads by layer: similar heads lie close together",
}


def slide_number(text: str) -> int:
    """The number of a slide from the address; the first one's where there is no such slide."""
    number = small_int(text) or 0
    return number if 0 <= number <= OWN else 0


def of_weights(selection: Selection) -> Selection:
    """The tour is about attention weights, whichever weights are chosen."""
    return replace(selection, settings=replace(selection.settings, weights=WEIGHTS[0]))


def head_of(findings: list[Finding]) -> Head | None:
    """The first head that the findings of a step name."""
    return next((finding.head for finding in findings if finding.head), None)


def default_head(selection: Selection) -> Head | None:
    """The head that the slide is about, until the reader chooses another; where it is the answer, once that is
    shown."""
    number, results = slide_number(choices.ahead(STEP, "")), stored.results(of_weights(selection))
    if number == OWN:
        return next(iter(memoize(head_roles, results, selection.base)), None)
    if not 1 <= number <= len(STEPS):
        return None
    step = STEPS[number - 1]
    findings = memoize(Step.select, step, results, selection.base)
    return Head(0, 0) if step.asks_for_head and not choices.ahead(ANSWER, "") else head_of(findings)


def draw(step: Step, findings: list[Finding], key: str, results: Results, selection: Selection, answered: bool) -> None:
    """The figure of a step whose results are there, which gives its answer away only where that is shown; a click on a
    head chooses it.

    Args:
        findings: The step's.
        key: Begins the keys of the figure's components.
    """
    if step.as_map:
        _maps(answers(findings), key, results, selection)
    elif step.page == "attention_viewer":
        lines(SENTENCES[WIDE], selection)
    elif step.page == "overview":
        squares = memoize(head_panel.map_of, results, Thresholds(), selection.base)
        if not answered:
            groups = tuple(replace(group, name=group.name.rpartition(" (")[0]) for group in squares.groups)
            squares = replace(squares, groups=groups)
        alt = "Map of all heads, with a marker for what each head does"
        page.head_map(squares, f"{key}-map", alt, selection, height=HEIGHT)
    elif step.page == "dependency_heads" and answered:
        _sentences(key, results, selection)
    else:
        by_head = step.page not in ("dependency_heads", "coreference_heads", "probes")
        head = selection.head if by_head else None
        drawing = _chart(step.page, results, selection)
        page.chart(drawing, f"{key}-figure", ALTS[step.page], head=head, height=HEIGHT)


def _maps(findings: list[Finding], key: str, results: Results, selection: Selection) -> None:
    """The maps of the first two quantities that the answers are about."""
    named = dict.fromkeys((finding.analysis, finding.quantity) for finding in findings if finding.quantity)
    quantities = list(named)[:2]
    columns = st.columns(len(quantities), vertical_alignment="bottom")
    for panel, (analysis, quantity) in zip(columns, quantities, strict=True):
        column, result = ANALYSES[analysis].column(quantity), results[analysis]
        with panel:
            st.markdown(f"**{plain(column.label)}**")
            alt = f"Map of all heads, layer by head, colored by {column.label}"
            squares = memoize(HeadColumn.map, column, result, selection.base)
            page.head_map(squares, f"{key}-{quantity}", alt, selection, height=HEIGHT - 60)


def _chart(name: str, results: Results, selection: Selection) -> FigureSpec:
    """The figure of a page, as its page draws it."""
    result, base = results[name], selection.base
    if name == "dependency_heads":
        shown = memoize(DependencyHeads.default_view, result)
        return page.drawn(relations_figure, shown, max_relations=MAX_RELATIONS)
    if name == "coreference_heads":
        counts = result_of(results, AntecedentCounts)
        return page.drawn(by_distance, counts, (DirectedHead(0, selection.head), *compared(counts)), base)
    if name == "probes":
        return page.drawn(probes_figure, result)
    if name == "clustering":
        labeled = memoize(Clustering.labeled, result, Thresholds(), memoize(linguistic, results))
        return page.drawn(by_layer, labeled, base)
    if name == "surface_patterns":
        return page.drawn(surface_figure, result, base, panels=1)
    return page.drawn(entropy_figure if name == "entropy" else no_op_figure, result, base)


def _sentences(key: str, results: Results, selection: Selection) -> None:
    """The sentences of which the chosen head is surest, those first that fit a slide."""
    result = memoize(DependencyHeads.default_view, results["dependency_heads"])
    relation = result.clearest_relation()
    choice = DirectedHead(result.best_choice(relation).direction, selection.head)
    sentences = sorted(
        examples(result, choice, relation), key=lambda example: (len(example.sentence["words"]) > FIT, -example.weight)
    )
    label = selection.label
    st.markdown(f"**{plain(relation)}**: sentences of which head {label} is surest, its guesses below the words")
    items = [Drawing(each.where, example_svg(each, choice)) for each in sentences[:SENTENCES_SHOWN]]
    page.drawings(items, f"{key}-sentences")


def lines(texts: tuple[str, str], selection: Selection) -> viewer_panes.Pane:
    """The chosen head's lines on a text, which the model reads now."""
    model = services.model(selection.checkpoint, selection.settings.dtype)
    single = from_text(*texts, model.tokens, selection.settings)
    view = InputView(first_piece=selection.settings.paper)
    pane = viewer_panes.pane(selection, model, view, f"Head {selection.label}, {selection.checkpoint.label}", single)
    viewer_panes.lines(pane, "attention-lines", can_mask=False, min_weight=MIN_WEIGHT)
    return pane
