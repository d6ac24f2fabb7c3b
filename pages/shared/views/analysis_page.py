"""The page of an analysis: its choices, the stored result or the button that computes it, and its blocks."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import streamlit as st

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.blocks import Block, Control, flat
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.base.view import View
from bertviz_core.analyses.run.corpus_kinds import EXAMPLES
from bertviz_core.choices import label_of
from bertviz_core.errors import SettingsError
from pages.shared import blocks, endnotes, messages, page, services, stored, widgets
from pages.shared.frame import header
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.state import session

WIDTH = 320  # pixels of a box of options


@memoized
def prepared(view: View[Any], result: Result, beside: Any) -> Result:
    """`View.show`."""
    return view.show(result, beside)


@memoized
def chosen(view: View[Any], found: Result) -> Result:
    """`View.choose`, with what the result has in place of what it lacks."""
    return view.resolve(found).choose(found)


@memoized
def blocks_of(analysis: Analysis[Any, Any], view: View[Any], found: Result) -> list[Block]:
    """`Analysis.blocks` of the result that all heads share, by which figures are drawn once for all of them."""
    return [*analysis.blocks(found, view.resolve(found))]


def show(name: str) -> None:
    """Draw the whole page of an analysis."""
    analysis = ANALYSES[name]
    selection = session.selection()
    line = page.controls()
    with line:
        widgets.fields(analysis.options)
    request = selection.request(name, session.options(analysis.options).to_json())
    if services.find(request) is None:
        st.markdown(plain(analysis.summary))
    result = stored.result_or_stop(request, analysis.result_class)
    view, beside = with_others(session.view(analysis.view), request)
    found = prepared(view.showing(), result, beside)
    shown = chosen(view, found)
    drawn = blocks_of(analysis, view, found)
    with line:
        draw_choices(view, found, drawn)
    header.retitle(plain(analysis.page_title(result)))
    blocks.draw(drawn)
    page.downloads(shown)
    endnotes.ending(result, analysis, EXAMPLES[analysis.corpus].unit)


def with_others(view: View[Any], request: Request) -> tuple[View[Any], Any]:
    """What is chosen, and what that needs of other stored results; where one is missing, that is said, and the choice
    has no effect."""
    try:
        return view, view.beside(request, services.find)
    except SettingsError as problem:
        messages.note(problem)
        return view.alone(), view.alone().beside(request, services.find)


def draw_choices(view: View[Any], found: Result, drawn: Iterable[Block]) -> None:
    """The widgets of what changes all of the page: the choices whose options follow the result, then others."""
    resolved = view.resolve(found)
    for field, options in view.offered(found).items():
        if len(options) > 1:
            text = partial(view.option_text, found, field)
            label = label_of(type(view), field)
            widgets.select(label, options, field, getattr(resolved, field), format_func=text, width=WIDTH)
    for block in flat(drawn):
        if isinstance(block, Control) and block.on_line:
            blocks.draw_controls(block)
