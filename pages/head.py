"""Head: what one head does, the evidence for it, what else sets it apart from all others, and all that is stored."""

from collections.abc import Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core import exports
from bertviz_core.analyses.base.head_figures import HeadFigure
from bertviz_core.analyses.run.run_pass import can_compute
from bertviz_core.errors import BertvizError
from bertviz_core.heads import Head
from bertviz_core.one_head.clear_input import CaptionedSvg, ClearInput, clear_input, lines
from bertviz_core.one_head.description import OneHead, distinctive, of_model, one_head
from bertviz_core.one_head.drawing import LEGEND, figure_svg
from bertviz_core.one_head.files import CLEAREST, LIKE_MOST, ON_SENTENCE, SUFFIXES, missing, to_bytes
from bertviz_core.one_head.sentence_drawing import on_sentence
from bertviz_core.one_head.training import with_training
from pages.shared import endnotes, head_panel, inputs, jobs, messages, page, preview, services, stored, widgets
from pages.shared.costly import columns
from pages.shared.frame import header, links
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewerChoices, HeadChoices
from pages.shared.state.kinds import kind_of

clear_of = memoized(clear_input)
known_of = memoized(of_model)
shown_of = memoized(one_head)


def draw_line() -> None:
    """The reader's sentence, the link to this page, and the page as a file."""
    with page.row("center", key="head-line"):
        widgets.sentence(
            "Your sentence",
            "sentence",
            chosen.sentence,
            placeholder="Type a sentence to see the head on it",
            label_visibility="collapsed",
            width="stretch",
            icon=":material/edit:",
        )
        header.copy_link(are_icons=False)
        page.offer_files({"Page to send": (f"{name}.html", partial(build, ".html"))})
    if note := widgets.sentence_note("sentence"):
        st.caption(note)


def draw_evidence() -> DeltaGenerator | None:
    """The head on the reader's sentence, and stored inputs that show what it is named for; where there are none, the
    tokens of the input in which it is clearest, until the model has run: their place is returned."""
    if drawing:
        viewer = AttentionViewerChoices(input="own text", text=chosen.sentence, back=session.here())
        link, notes = links.address_of(viewer, selection.head), [{"text": drawing.caption}]
        page.drawings([page.Drawing(ON_SENTENCE, drawing.svg, link, notes)], "head-sentence", selection.basis)
    items = []
    for analysis, role, example in shown.examples:
        notes = [{"text": "All its guesses", "link": links.address_of(kind_of(analysis).on(role.name), selection.head)}]
        link = inputs.address(example.opened, analysis)
        items.append(page.Drawing(f"{role.name}: {example.title}", example.svg, link, notes))
    if items:
        page.drawings(items, "head-examples", selection.basis)
    return draw_tokens(clear) if clear else None


def draw_sentence() -> CaptionedSvg | None:
    """The head on the reader's sentence; None without one, and where the model cannot run it, which is said."""
    if not chosen.sentence.strip():
        return None
    try:
        single, maps = preview.maps_of(chosen.sentence, selection)
    except BertvizError as problem:
        messages.note(problem)
        return None
    return on_sentence(shown, single, maps, services.model(selection.checkpoint, selection.settings.dtype).tokens)


def draw_figures(figures: Sequence[tuple[str, HeadFigure]], key: str) -> None:
    """A small figure for each thing that is known of the head, with a link to the page of its analysis."""
    items = []
    for name, figure in figures:
        notes = [{"text": figure.sentence}] if figure.sentence else []
        others = [row.other for row in figure.rows if row.other]
        notes += [{"text": f"Head {each.label()}", "link": address(each)} for each in others]
        opened = links.address_of(kind_of(name)(), selection.head)
        notes.append({"text": f"All heads: {links.entry(name).title}", "link": opened})
        items.append(page.Drawing(figure.title, figure_svg(figure), notes=notes))
    page.drawings(items, key, selection.basis, in_columns=True)
    st.caption(LEGEND)


def address(head: Head) -> str:
    """The address of another head's page."""
    return links.address_of(HeadChoices(), head)


def draw_tokens(clear: ClearInput) -> DeltaGenerator:
    """The tokens of the input in which the head is clearest, until the model has run; returns their place."""
    place = st.container(key="head-input").empty()
    with place:
        waiting = page.Drawing(CLEAREST, clear.waiting, notes=[{"text": "The model is running on this input."}])
        page.drawings([waiting], "head-tokens", selection.basis, in_columns=True)
    return place


def draw_lines(clear: ClearInput, place: DeltaGenerator) -> None:
    """The head's lines on that input, in place of its tokens."""
    try:
        drawn = run_model()
    except BertvizError as problem:  # The numbers need no model.
        messages.note(problem)
        return
    assert drawn is not None, "there is an input"
    opened = AttentionViewerChoices(input="corpus", segment=clear.segment.number + 1, back=session.here())
    link = "" if clear.length else links.address_of(opened, selection.head)  # random tokens are in no corpus
    with place:
        item = page.Drawing(CLEAREST, drawn.svg, link, [{"text": drawn.caption}])
        page.drawings([item], "head-lines", selection.basis, in_columns=True)


def draw_findings() -> None:
    """The findings that name the head, beside that of the claim."""
    for finding in shown.findings:
        page.finding(finding)


def build(suffix: str) -> bytes:
    """A file of the page."""
    return to_bytes(shown, suffix, run_model, drawing)


def run_model() -> CaptionedSvg | None:
    """The lines on the clearest input; None without one."""
    if clear is None:
        return None
    return lines(services.load_model(selection.checkpoint, clear.settings.dtype), clear)


def offer_missing(shown: OneHead) -> None:
    """What is not computed, in a line, with the button that computes what one job can."""
    requests = stored.everything(selection)
    key = jobs.everything_key(requests)
    if jobs.is_running(jobs.last(key), "Finished passes are stored."):
        return
    needed = [request for request in requests if can_compute(request) and services.find(request) is None]
    with page.row("center"):
        for text in missing(shown):
            st.caption(plain(text), width="content")
        if needed:
            stored.start_button(stored.timed("Compute", stored.duration(needed)), key, "Everything", needed)


selection = session.selection()
results = stored.results(selection)
stored.warn(results.values())
if not columns(results):
    st.write("Nothing is computed yet for this model and these texts.")
    stored.offer_missing(selection)
    raise session.PageEnd

known = known_of(results)
shown = shown_of(results, selection.head, known)
if shown.facts:
    shown = with_training(shown, stored.over_training(selection, shown.facts[0].analysis))
clear = None if shown.examples else clear_of(results, selection.head, shown.behaviors)
chosen = session.page(HeadChoices)
name = exports.slug("head", selection.label, selection.checkpoint.label)
header.retitle(f"Head {plain(selection.head.full_label())}")
if shown.finding:
    page.finding(shown.finding, bold=True)
else:
    st.markdown(f"**{plain(shown.claim)}**")
if shown.named:
    sentence = plain(shown.named)
    for paper in {each.paper for each in shown.published}:
        sentence = sentence.replace(f"by {plain(paper.name)}", f"by [{plain(paper.name)}]({paper.page})")
    st.caption(sentence)
draw_line()
drawing = draw_sentence()
left, right = st.columns([4, 3] if shown.examples else 2, gap="medium")
with left:
    place = draw_evidence()
with right:
    if shown.facts:
        facts = page.Drawing(shown.facts_figure.title, figure_svg(shown.facts_figure, shown.fact_text))
        page.drawings([facts], "head-facts", selection.basis, in_columns=True)
draw_figures(shown.salient_figures, "head-figures")
if shown.findings:
    endnotes.folded("Findings that name it", ":material/fact_check:", "findings", draw_findings)
if shown.other_figures:
    endnotes.folded(
        LIKE_MOST, ":material/unfold_more:", "like-most", draw_figures, shown.other_figures, "head-like-most"
    )
offer_missing(shown)
title = f"Every number of head {selection.label}"
endnotes.folded(title, ":material/table:", "numbers", head_panel.card, HeadChoices.page_name, results, selection)
endnotes.about(distinctive)
st.caption(plain(shown.about))
page.offer_files({suffix[1:].upper(): (f"{name}{suffix}", partial(build, suffix)) for suffix in SUFFIXES})
if clear and place:
    draw_lines(clear, place)
