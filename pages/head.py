"""Head: all that is stored of one head, what sets it apart from all others, and where it is clearest."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core import exports
from bertviz_core.analyses.run.run_pass import can_compute
from bertviz_core.errors import BertvizError
from bertviz_core.heads import Head
from bertviz_core.one_head.clear_input import CaptionedSvg, ClearInput, clear_input, lines
from bertviz_core.one_head.description import OneHead, distinctive, of_model, one_head
from bertviz_core.one_head.drawing import LEGEND, figure_svg
from bertviz_core.one_head.files import CLEAREST, SUFFIXES, missing, to_bytes
from bertviz_core.one_head.training import with_training
from pages.shared import endnotes, head_panel, jobs, messages, page, services, stored
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


def draw_figures(shown: OneHead) -> None:
    """A small figure for each thing that is known of the head, with a link to the page of its analysis."""
    items = []
    for name, figure in shown.figures:
        notes = [{"text": figure.sentence}] if figure.sentence else []
        others = [row.other for row in figure.rows if row.other]
        notes += [{"text": f"Head {each.label()}", "link": address(each)} for each in others]
        opened = links.address_of(kind_of(name)(), selection.head)
        notes.append({"text": f"All heads: {links.entry(name).title}", "link": opened})
        items.append(page.Drawing(figure.title, figure_svg(figure), notes=notes))
    page.drawings(items, "head-figures", selection.basis, in_columns=True)
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
    link = links.address_of(opened, selection.head)
    with place:
        item = page.Drawing(CLEAREST, drawn.svg, link, [{"text": drawn.caption}])
        page.drawings([item], "head-lines", selection.basis, in_columns=True)


def run_model() -> CaptionedSvg | None:
    """The lines on the clearest input; None without one."""
    if clear is None:
        return None
    return lines(services.loaded_models().get(selection.checkpoint, clear.settings.dtype), clear)


def offer_missing(shown: OneHead) -> None:
    """What is not computed, in a line, with the button that computes what one job can."""
    requests = stored.everything(selection)
    key = jobs.everything_key(requests)
    if jobs.is_running(jobs.last(key), "Finished passes are stored."):
        return
    needed = [request for request in requests if services.find(request) is None and can_compute(request)]
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
clear = clear_of(results, selection.head)
header.retitle(f"Head {plain(selection.head.full_label())}")
st.markdown(f"**{plain(shown.does)}** {plain(shown.apart)}")
left, right = st.columns(2, gap="medium")
if clear:
    with left:
        place = draw_tokens(clear)
with right:
    if shown.facts:
        facts = page.Drawing(shown.facts_figure.title, figure_svg(shown.facts_figure))
        page.drawings([facts], "head-facts", selection.basis, in_columns=True)
    for finding in shown.findings:
        page.finding(finding)
draw_figures(shown)
offer_missing(shown)
title = f"Every number of head {selection.label}"
endnotes.folded(title, ":material/table:", "numbers", head_panel.card, HeadChoices.page, results, selection)
endnotes.about(distinctive)
st.caption(plain(shown.about))
name = exports.slug("head", selection.label, selection.checkpoint.label)
builders = {suffix: partial(to_bytes, shown, suffix, run_model) for suffix in SUFFIXES}
page.offer_files({suffix[1:].upper(): (f"{name}{suffix}", build) for suffix, build in builders.items()})
if clear:
    draw_lines(clear, place)
