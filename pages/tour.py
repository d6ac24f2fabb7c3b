"""Guided tour: the paper as slides, each with a live figure, a question (for a class), and its answer on request."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

import streamlit as st

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn
from bertviz_core.analyses.base.findings import STATES, Finding
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.behaviors import linguistic
from bertviz_core.models.single_input import from_text
from bertviz_core.overview.summary import count_states, every_finding
from bertviz_core.tour import END, OWN, PICTURE, STEPS, TERMS, Step, answers, first_head, head_roles
from bertviz_core.viewer import InputView, files
from pages.shared import head_panel, page, services, stored, widgets
from pages.shared.frame import links
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewer, Tour, kind_of
from pages.shared.state.selection import Basis
from pages.shared.views import viewer_input, viewer_panes

Kind = Literal["primary", "secondary", "tertiary"]  # of a button
SHOW = {"answer": "shown"}  # a choice
HEIGHT = 440  # pixels: a slide fits 1280 x 720


def go_to(number: int) -> None:
    """Open another slide, at its own head and without its answer, in a callback. The address changes at once: a reader
    who leaves before the figure is drawn comes back to this slide."""
    session.choose(head=None, answer="", step=number)
    session.leave()


def draw_navigation(here: int) -> None:
    """Back, a button for each slide, and Next; the arrow keys press Back and Next."""
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key="tour-navigation"
    ):
        st.button("Back", shortcut="Left", on_click=go_to, args=(here - 1,), disabled=here == 0)
        with st.container(horizontal=True, gap="xxsmall", width="content", key="tour-steps"):
            for number in range(OWN + 1):
                kind: Kind = "primary" if number == here else "tertiary"
                st.button(str(number), key=f"to-{number}", type=kind, on_click=go_to, args=(number,))
        st.button("Next", shortcut="Right", on_click=go_to, args=(here + 1,), disabled=here == OWN)


def draw_terms() -> None:
    st.header("Words to begin with", anchor=False)
    page.drawings(
        [page.Drawing("A sentence as a model reads it", PICTURE.read_text("utf-8"))], "tour-terms", selection.basis
    )
    with st.grid(len(TERMS), min_column_width=160):
        for term, text in TERMS.items():
            st.markdown(f"**{plain(term)}**  \n{text}")
    st.caption("The model and the corpora above decide every figure and every answer. Change slides with ← and →.")


def draw_slide(step: Step) -> None:
    """The question on the left, its figure on the right; the answer once the reader asks for it."""
    findings = memoize(Step.select, step, results, selection.base)
    decided = answers(findings)
    is_answered = bool(decided) and chosen.answer == "shown"
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.header(plain(step.title), anchor=False)
        st.caption(plain(f"Step {number} of {len(STEPS)} · {step.section}"))
        if not is_answered:
            st.markdown(plain(f"{step.background} {step.look}".strip()))
        st.markdown(f"**{plain(step.question)}**")
        if is_answered:
            draw_answer(step, decided)
        elif decided:
            st.button("Show answer", shortcut="A", on_click=session.choose, kwargs=SHOW, key="show-answer")
        head = first_head(findings) if is_answered or not step.asks_for_head else None
        at = f" at head {head.label(selection.base)}" if head else ""
        opened = kind_of(step.page)()
        if decided and decided[0].quantity:
            opened = kind_of(step.page).on(decided[0].quantity)
        label = plain(f"Open {links.entry(step.page).title}{at}")
        links.to(replace(opened, tour=number), label, head=head)
        if is_answered and isinstance(result := results.get(step.page), HeadAverages) and result.absence:
            st.caption(plain(result.absence))
    with right:
        if decided:
            draw_figure(step, decided, is_answered)
        elif missing := [name for name in step.needs or (step.page,) if name not in results]:
            request = with_weights.request(missing[0])
            st.markdown(f"This step needs **{plain(ANALYSES[missing[0]].title)}** on {plain(request.source.name)}.")
            if not stored.offer(request):
                st.caption("The other steps do without it.")
        else:
            st.markdown("The corpus or this model's tokens lack what this step is about, so it has no figure.")


def draw_answer(step: Step, findings: list[Finding]) -> None:
    """What this model's results and the paper say, and how a causal mask restricts the numbers."""
    first, *more = findings
    page.finding(first, with_statement=True)
    restriction = results[step.page].default_view().restriction if step.page in results else ""
    if more or restriction:
        with st.expander("More of this section" + (f" ({len(more)})" if more else "")):
            for finding in more:
                page.finding(finding, with_statement=True)
            if restriction:
                st.caption(restriction)


def draw_figure(step: Step, findings: list[Finding], is_answered: bool) -> None:
    """The figure of a step, which does not give the answer away before the reader asks for it."""
    if step.as_map:
        draw_maps(step, findings)
    elif step.page == "attention_viewer":
        draw_lines(viewer_input.SENTENCES["Determiners and nouns"][0])  # short enough
    elif step.page == "overview":
        squares = memoize(head_panel.map_of, results, selection.base)
        if not is_answered:
            # Names without the number of heads.
            groups = tuple(replace(group, name=group.name.rpartition(" (")[0]) for group in squares.groups)
            squares = replace(squares, groups=groups)
        alt = "Map of all heads, with a marker for what each head does"
        page.head_map(squares, f"tour-{number}-map", alt, with_weights, height=HEIGHT)
    else:
        draw_analysis(step, ANALYSES[step.page])


def draw_analysis(step: Step, analysis: Analysis) -> None:
    """The figure of an analysis, drawn again for another head only where it is about one."""
    subject = selection.head if analysis.head_in_tour == "subject" else None
    named = memoize(linguistic, results)
    figure = page.drawn(analysis.tour_figure, results[analysis.name], subject, selection.base, named)
    alt = f"{analysis.title}. {step.look}"
    ringed = selection.head if analysis.head_in_tour == "point" else None
    page.chart(figure, f"tour-{number}-figure", alt, basis_of(step), head=ringed, height=HEIGHT)


def basis_of(step: Step) -> Basis:
    """The model and the corpus of an analysis's slide; other slides' figures have several sources."""
    if step.page not in ANALYSES:
        return selection.basis
    model = selection.checkpoint
    source = selection.request(step.page).source
    described = f"{model.label} ({model.fingerprint()[:8]}), {source.name} ({source.digest[:8]})"
    caption = f"{described}, {selection.settings.mode}; after Clark et al. 2019"
    return replace(selection.basis, caption=caption)


def draw_maps(step: Step, findings: list[Finding]) -> None:
    """The maps of the first two quantities that the answers are about."""
    named = dict.fromkeys((finding.analysis, finding.quantity) for finding in findings if finding.quantity)
    quantities = list(named)[:2]
    columns = st.columns(len(quantities), vertical_alignment="bottom")
    of_step = replace(with_weights, basis=basis_of(step))
    for panel, (analysis, quantity) in zip(columns, quantities, strict=True):
        column = ANALYSES[analysis].column(quantity)
        with panel:
            st.markdown(f"**{plain(column.label)}**")
            alt = f"Map of all heads, layer by head, colored by {column.label}"
            squares = memoize(HeadColumn.map, column, results[analysis], selection.base)
            page.head_map(squares, f"tour-{number}-{quantity}", alt, of_step, height=HEIGHT - 60)


def draw_lines(text: str) -> viewer_panes.Pane:
    model = services.model(selection.checkpoint, selection.settings.dtype)
    single = from_text(text, "", model.tokens, selection.settings)
    view = InputView(first_piece=selection.settings.paper)
    pane = viewer_panes.Pane(with_weights, model, view, single, single)
    viewer_panes.draw_lines(pane, "attention-lines", can_mask=False, min_weight=files.MIN_WEIGHT)
    return pane


def draw_end() -> None:
    """Which statements of the paper this model shows, and a button to compute what is missing."""
    st.header("What this model shows", anchor=False)
    findings = memoize(every_finding, results, selection.base)
    st.markdown(
        f"**{plain(count_states(findings))}.** :gray[A rule with a threshold decides each: point at its question mark.]"
    )
    for state in STATES:
        group = [finding for finding in findings if finding.state == state]
        if group:
            beyond = sum(not finding.statement for finding in group)
            more = f", {beyond} of them beyond the paper" if beyond else ""
            st.markdown(f"**{state.capitalize()}** ({len(group)}{more})")
        for finding in group:
            entry = links.entry(finding.analysis)
            left, right = st.columns([4, 1], vertical_alignment="center")
            with left:
                page.finding(finding, with_statement=True)
            with right:
                links.to(kind_of(entry.name)(tour=END), plain(entry.title))
    stored.offer_missing(with_weights)


def draw_own_sentence() -> None:
    """The reader's sentence, and the lines of the heads that the tour has named."""
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.header("Now your sentence", anchor=False)
        st.markdown("Write one, and see what the heads that this tour has found do with it.")
        sentence = widgets.text("Sentence", "sentence", chosen.sentence, max_chars=300)
        with st.container(horizontal=True, gap="xsmall"):
            for head, role in memoize(head_roles, results, selection.base).items():
                label = f"{head.label(selection.base)}: {role}"
                kind: Kind = "primary" if head == selection.head else "secondary"
                st.button(label, type=kind, key=f"role-{label}", on_click=session.choose, kwargs={"head": head})
        summary = st.container()
        links.to(AttentionViewer(input="own text", text=sentence, tour=OWN), links.LABEL, head=selection.head)
    if sentence.strip():
        with right:
            pane = draw_lines(sentence)
        with summary:
            viewer_panes.draw_summary(pane, files.MIN_WEIGHT)


selection = session.selection()
chosen = session.page(Tour)
# Of weights, also where norms are chosen.
with_weights = selection.of_weights("attention")
number = chosen.step
draw_navigation(number)
results = stored.results(with_weights)
steps = [partial(draw_slide, step) for step in STEPS]
slides: list[Callable[[], None]] = [draw_terms, *steps, draw_end, draw_own_sentence]
slides[number]()
