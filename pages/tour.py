"""Guided tour: the paper as slides, each with a live figure, a question (for a class), and its answer on request."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import streamlit as st

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadAverages
from bertviz_core.analyses.base.findings import STATES, Finding
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.emergence import page_blocks
from bertviz_core.emergence.figure import order_figure
from bertviz_core.emergence.result import Emergence
from bertviz_core.heads import Head, all_heads
from bertviz_core.models.checkpoint import DEMO_DECODER
from bertviz_core.models.single_input import from_text
from bertviz_core.overview.summary import count_states
from bertviz_core.tour import (
    END,
    NOTES,
    OWN,
    PICTURE,
    STEPS,
    TERMS,
    Step,
    answers,
    first_head,
    on_one_scale,
)
from bertviz_core.viewer import files
from bertviz_core.viewer.input_attention import InputView
from pages.shared import head_panel, page, services, stored, widgets
from pages.shared.components import component
from pages.shared.costly import column_map, every_finding, head_roles, linguistic, select, shipped
from pages.shared.frame import header, links
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewerChoices, TourChoices
from pages.shared.state.kinds import kind_of
from pages.shared.state.selection import Basis
from pages.shared.views import viewer_input, viewer_panes

ButtonType = Literal["primary", "secondary", "tertiary"]  # of a button
SHOW = {"answer": "shown"}  # a choice
HEIGHT = 440  # pixels: a slide fits 1280 x 720, also enlarged, with nothing around it
SLIDES = "tour-slides"  # key of the component with the slides' numbers
PRESENTATION = "presentation"  # key of the component that enlarges the slide


def go_to(number: int) -> None:
    """Open another slide, at its own head and without its answer, in a callback. The address changes at once: a reader
    who leaves before the figure is drawn comes back to this slide."""
    session.choose(head=None, answer="", step=number)
    session.leave()


def open_number() -> None:
    """Open the slide whose number is clicked, in a callback."""
    if (clicked := widgets.received(SLIDES, "slide")) is not None:
        go_to(clicked)


def present(on: bool) -> None:
    """Show the slide alone, or with the app around it, in a callback."""
    session.choose(present=on)


def draw_navigation(here: int) -> None:
    """Back, the number of each slide, and Next; the arrow keys press Back and Next. While the slide stands alone they
    are out of sight until the mouse moves."""
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key="tour-navigation"
    ):
        st.button("Back", shortcut="Left", on_click=go_to, args=(here - 1,), disabled=here == 0)
        component("slides")(data={"here": here, "last": OWN}, key=SLIDES, on_slide_change=open_number, width="content")
        st.button("Next", shortcut="Right", on_click=go_to, args=(here + 1,), disabled=here == OWN)
        if chosen.present:
            draw_lecturers_buttons()
    # The container is always there: a block that came into its place would show the component a moment longer.
    with st.container(key="tour-alone"):
        if chosen.present:
            component("presentation")(key=PRESENTATION, on_left_change=partial(present, False))


def draw_lecturers_buttons() -> None:
    """Draw the buttons of the notes and of the slide alone."""
    other = {"notes": not chosen.notes}
    st.button("Notes", shortcut="N", on_click=session.choose, kwargs=other, key="notes-button")
    label = "Leave" if chosen.present else "Present"
    st.button(label, shortcut="F", on_click=present, args=(not chosen.present,), key="present-button")


def draw_notes(text: str) -> None:
    """What to point at, and what students ask, if the lecturer wants it on the screen."""
    if chosen.notes:
        st.info(f"**Notes.** {plain(text)}", icon=":material/sticky_note_2:")


def draw_place(section: str = "") -> None:
    """The number of the slide, which the buttons and the address have too."""
    if not chosen.present:
        st.caption(plain(" · ".join(filter(None, (f"Slide {number} of {OWN}", section)))))


def draw_terms() -> None:
    """Draw the first slide: a sentence as a model reads it, and the words of the field."""
    st.header("Words to begin with", anchor=False)
    draw_place()
    page.drawings(
        [page.Drawing("A sentence as a model reads it", PICTURE.read_text("utf-8"))], "tour-terms", with_weights.basis
    )
    with st.grid(len(TERMS), min_column_width=160):
        for term, text in TERMS.items():
            st.markdown(f"**{plain(term)}**  \n{text}")
    if not chosen.present:
        st.caption(
            "The model and the corpora above decide every figure and every answer. ← and → change slides, A shows the "
            "answer, N the notes for a lecturer, F the slide alone."
        )
    draw_notes(NOTES["terms"])


def draw_slide(step: Step) -> None:
    """The question on the left, its figure on the right; the answer once the reader asks for it."""
    findings = select(step, results)
    decided = answers(findings)
    is_answered = bool(decided) and chosen.answer == "shown"
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.header(plain(step.title), anchor=False)
        draw_place(step.section)
        if with_weights.checkpoint != selection.checkpoint:
            st.caption(f"{plain(selection.checkpoint.label)} is no decoder: this slide is about `{DEMO_DECODER}`.")
        if not is_answered and not chosen.present:
            st.markdown(plain(f"{step.background} {step.look}".strip()))
        st.markdown(f"**{plain(step.question)}**")
        if is_answered:
            draw_answer(step, decided)
        elif decided:
            st.button("Show answer", shortcut="A", on_click=session.choose, kwargs=SHOW, key="show-answer")
        if not chosen.present:
            draw_link(step, decided, first_head(findings) if is_answered or not step.asks_for_head else None)
            if is_answered and isinstance(result := results.get(step.page), HeadAverages) and result.absence:
                st.caption(plain(result.absence))
        draw_notes(step.notes)
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


def draw_link(step: Step, decided: list[Finding], head: Head | None) -> None:
    """The link to the page where more of a step is shown, at the head of its answer."""
    model = with_weights.checkpoint.name if with_weights.checkpoint != selection.checkpoint else ""
    at = f" at head {head.label()}" if head else ""
    opened = kind_of(step.page)()
    if decided and decided[0].quantity:
        opened = kind_of(step.page).on(decided[0].quantity)
    label = plain(f"Open {links.entry(step.page).title}{at}")
    links.to(replace(opened, tour=number), label, head=head, model=model)


def draw_answer(step: Step, findings: list[Finding]) -> None:
    """The answer in a few words, then what this model's results and the paper say, and how a causal mask restricts the
    numbers."""
    if short := step.short_answer(findings):
        st.subheader(plain(short), anchor=False)
    asked = step.asked(findings)
    for finding in asked:
        page.finding(finding, with_statement=not chosen.present)
    if chosen.present:
        return
    more = [finding for finding in findings if finding not in asked]
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
        draw_maps(step, findings, is_answered)
    elif step.page == "attention_viewer":
        draw_lines(viewer_input.SENTENCES["Determiners and nouns"][0])  # short enough
    elif step.page == "overview":
        squares = head_panel.map_of(results)
        if not is_answered:
            # Names without the number of heads.
            groups = tuple(replace(group, name=group.name.rpartition(" (")[0]) for group in squares.groups)
            squares = replace(squares, groups=groups)
        alt = "Map of all heads, with a marker for what each head does"
        page.head_map(squares, f"tour-{number}-map", alt, with_weights, height=HEIGHT, ringed=False)
    elif step.page == Emergence.analysis:
        figure = page.drawn(order_figure, shipped())
        page.chart(figure, f"tour-{number}-figure", f"{step.title} {step.look}", basis_of(step), height=HEIGHT)
    else:
        draw_analysis(step, ANALYSES[step.page], is_answered)


def draw_analysis(step: Step, analysis: Analysis[Any, Any], is_answered: bool) -> None:
    """The figure of an analysis, drawn again for another head only where it is about one; the head is ringed unless it
    is the answer."""
    ringed = is_answered or not step.asks_for_head
    chart = analysis.tour_chart(results[analysis.name], selection.head, linguistic(results), is_answered)
    figure = page.drawn(chart.build, *chart.arguments)
    alt = f"{analysis.title}. {step.look}"
    points = chart.has_heads
    is_about_a_head = session.current().header.head is not None or first_head(answers(step.select(results))) is not None
    page.chart(
        figure,
        f"tour-{number}-figure",
        alt,
        basis_of(step),
        head=selection.head if points and ringed and is_about_a_head else None,
        choose=page.choose_head if points else None,
        height=HEIGHT,
    )


def basis_of(step: Step) -> Basis:
    """The model and the corpus of an analysis's slide, or the training; other slides' figures have several sources."""
    if step.page == Emergence.analysis and not chosen.present:
        return Basis(*page_blocks.basis(shipped()))
    if step.page not in ANALYSES or chosen.present:
        return with_weights.basis
    model = with_weights.checkpoint
    source = selection.request(step.page).source
    described = f"{model.label} ({model.fingerprint()[:8]}), {source.name} ({source.digest[:8]})"
    caption = f"{described}, {selection.settings.mode}; after Clark et al. 2019"
    return replace(selection.basis, caption=caption)


def draw_maps(step: Step, findings: list[Finding], is_answered: bool) -> None:
    """The maps of the first two quantities that the answers are about, on one scale; with the answer the head of each
    is ringed, or the one that the reader has chosen."""
    about = {(finding.analysis, finding.quantity): finding for finding in reversed(findings) if finding.quantity}
    shown = [*reversed(about.values())][:2]
    columns = [ANALYSES[finding.analysis].column(finding.quantity) for finding in shown]
    maps = [column_map(column, results[finding.analysis]) for column, finding in zip(columns, shown, strict=True)]
    heads = all_heads(with_weights.checkpoint.layers, with_weights.checkpoint.heads)
    chosen_head = head if (head := session.current().header.head) in heads else None
    panels = st.columns(len(shown), vertical_alignment="bottom")
    for panel, column, finding, squares in zip(panels, columns, shown, on_one_scale(maps), strict=True):
        head = chosen_head or finding.head or selection.head
        of_step = replace(with_weights, basis=basis_of(step), head=head)
        with panel:
            st.markdown(f"**{plain(column.label)}**")
            alt = f"Map of all heads, layer by head, colored by {column.label}"
            key = f"tour-map-{number}-{finding.quantity}"
            ringed = is_answered or chosen_head is not None
            page.head_map(squares, key, alt, of_step, height=HEIGHT - 60, ringed=ringed)


def draw_lines(text: str) -> viewer_panes.Pane:
    """Draw the lines of a text, and return their pane."""
    model = services.model(selection.checkpoint, selection.settings.dtype)
    single = from_text(text, "", model.tokens, selection.settings)
    view = InputView(first_piece=selection.settings.paper)
    pane = viewer_panes.Pane(with_weights, model, view, single, single)
    viewer_panes.draw_lines(pane, "attention-lines", can_mask=False, min_weight=files.MIN_WEIGHT)
    return pane


def draw_end() -> None:
    """Which statements of the paper this model shows: the verdicts by analysis, then each with its sentence, and a
    button to compute what is missing."""
    st.header("What this model shows", anchor=False)
    draw_place()
    findings = every_finding(results)
    st.markdown(f"**{plain(count_states(findings))}.**")
    draw_verdicts(findings)
    draw_notes(NOTES["end"])
    if chosen.present:
        return
    for state in STATES:
        group = [finding for finding in findings if finding.state == state]
        if not group:
            continue
        of_paper = sum(bool(finding.statement) for finding in group)
        beyond = f", {len(group) - of_paper} beyond it" if len(group) > of_paper else ""
        with st.expander(f"{state.capitalize()}: {of_paper} of the paper{beyond}"):
            for finding in group:
                draw_statement(finding)
    stored.offer_missing(with_weights)


def draw_verdicts(findings: list[Finding]) -> None:
    """A line for each analysis: how many of its statements are in each state."""
    by_analysis: dict[str, list[str]] = {}
    for finding in findings:
        by_analysis.setdefault(finding.analysis, []).append(finding.state)
    with st.grid(2, min_column_width=300):
        for name, states in by_analysis.items():
            chips = " ".join(page.verdict(state, states.count(state)) for state in STATES if state in states)
            st.markdown(f"{plain(links.entry(name).title)} {chips}")


def draw_statement(finding: Finding) -> None:
    """A finding, the paper's statement, and the link to its page."""
    left, right = st.columns([4, 1], vertical_alignment="center")
    with left:
        page.finding(finding, with_statement=True)
    with right:
        entry = links.entry(finding.analysis)
        links.to(kind_of(entry.name)(tour=END), plain(entry.title))


def draw_own_sentence() -> None:
    """The reader's sentence, and the lines of the heads that the tour has named."""
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.header("Now your sentence", anchor=False)
        draw_place()
        st.markdown("Write one, and see what the heads that this tour has found do with it.")
        sentence = widgets.sentence("Sentence", "sentence", chosen.sentence)
        if note := widgets.sentence_note("sentence"):
            st.caption(note)
        with st.container(horizontal=True, gap="xsmall"):
            for head, role in head_roles(results).items():
                label = f"{head.label()}: {role}"
                kind: ButtonType = "primary" if head == selection.head else "secondary"
                st.button(label, type=kind, key=f"role-{label}", on_click=session.choose, kwargs={"head": head})
        summary = st.container()
        if not chosen.present:
            viewer = AttentionViewerChoices(input="own text", text=sentence, tour=OWN)
            links.to(viewer, links.LABEL, head=selection.head)
        draw_notes(NOTES["own"])
    if sentence.strip():
        with right:
            pane = draw_lines(sentence)
        with summary:
            viewer_panes.draw_summary(pane, files.MIN_WEIGHT)


selection = session.selection()
chosen = session.page(TourChoices)
if chosen.present:  # the slide alone says no source
    selection = session.rebase(replace(selection.basis, caption=""))
# Of weights, also where norms are chosen.
with_weights = selection.of_weights("attention")
number = chosen.step
if 1 <= number <= len(STEPS) and STEPS[number - 1].of_decoder:
    with_weights = with_weights.of_decoder()
    if not chosen.present:
        session.rebase(basis_of(STEPS[number - 1]))
if not chosen.present:
    with header.title_line():
        draw_lecturers_buttons()
draw_navigation(number)
results = stored.results(with_weights)
steps = [partial(draw_slide, step.of_model(results)) for step in STEPS]
slides: list[Callable[[], None]] = [draw_terms, *steps, draw_end, draw_own_sentence]
slides[number]()
