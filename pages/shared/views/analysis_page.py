"""The page of an analysis: its choices, the stored result or the button that computes it, and its blocks."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core import exports
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.block_contents import flat
from bertviz_core.analyses.base.blocks import Block, Control, Tabs
from bertviz_core.analyses.base.guess_lists import StoredParts, stored_parts
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.base.view import View
from bertviz_core.analyses.run.corpus_kinds import EXAMPLES
from bertviz_core.choices import hints
from bertviz_core.errors import SettingsError
from pages.shared import blocks, endnotes, inputs, messages, page, services, stored, widgets
from pages.shared.frame import header
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.state import session

V = TypeVar("V", bound=View[Any])
to_latex = memoized(exports.to_latex)


@memoized
def prepared(view: View[Any], result: Result, beside: Any) -> Result:
    """`View.show`."""
    return view.show(result, beside)


@memoized
def listing(found: Result, parts: StoredParts) -> Result:
    """`Result.with_lists`."""
    return found.with_lists(parts)


@memoized
def chosen(view: View[Any], found: Result) -> Result:
    """`View.choose`, with what the result has in place of what it lacks."""
    return view.resolve(found).choose(found)


@memoized
def blocks_of(analysis: Analysis[Any, Any], view: View[Any], found: Result) -> list[Block]:
    """`Analysis.blocks` of the result that all heads share, by which figures are drawn once for all of them."""
    return [*analysis.blocks(found, view)]


def show(name: str) -> None:
    """Draw the whole page of an analysis."""
    analysis = ANALYSES[name]
    selection = session.selection()
    options = session.options(analysis.options)
    line = draw_options(analysis, options.offered(partial(stored.with_corpus, selection)))
    request, problem = stored.request_of(selection, name, options)
    if problem is not None:
        messages.note(problem)
    if services.find(request) is None:
        st.markdown(plain(analysis.summary))
    result = stored.result_or_stop(request, analysis.result_class)
    view, found = view_and_result(analysis.view, request, result)
    with line:
        draw_choices(view, found, blocks_of(analysis, view, found))
    header.retitle(plain(analysis.page_title(result)))
    draw(request, view, found)


def draw_options(analysis: Analysis[Any, Any], offered: Mapping[str, Sequence[str]]) -> DeltaGenerator:
    """Draw the options, of which a line has room for one beside what is chosen of a result; others are in a popover.

    Args:
        offered: Texts that are suggested, by field.

    Returns:
        The container of what is chosen of a result.
    """
    line = page.controls()
    if len(hints(analysis.options)) < 2:
        with line:
            widgets.fields(analysis.options, on_line=True, offered=offered)
        return line
    often, popover = page.with_options(line, key="page-boxes")
    with often:
        for field, texts in offered.items():
            widgets.suggested(field, texts)
    if popover.open:
        with popover:
            widgets.fields(analysis.options, without=offered)
    return often


def view_and_result(kind: type[V], request: Request, result: Result) -> tuple[V, Any]:
    """What is chosen, resolved, and the stored result as it is shown, with the lists that are stored beside it."""
    view, beside = with_others(session.view(kind), request)
    found = with_lists(prepared(view.showing(), result, beside), request)
    return view.resolve(found), found


def with_lists(found: Result, request: Request) -> Result:
    """A result with the lists that are stored beside it; as it is where it has all of them, or the store none."""
    if found.is_whole:
        return found
    parts = stored_parts(services.store(), request.key(), request.source)
    return found if parts is None else listing(found, parts)


def draw(request: Request, view: View[Any], found: Any) -> None:
    """Draw the blocks of a page, and its end: the files, and how the numbers were computed. Where the blocks are in
    tabs, the end is in the last ones."""
    analysis = ANALYSES[request.analysis]
    drawn = blocks_of(analysis, view, found)
    ends = {"Method": partial(draw_method, analysis, found), "Export": partial(draw_export, view, found)}
    has_tabs = any(isinstance(block, Tabs) for block in drawn)
    blocks.draw(drawn, ends=ends if has_tabs else blocks.NO_ENDS)
    if not has_tabs:
        ends["Export"]()
        ends["Method"]()


def draw_method(analysis: Analysis[Any, Any], found: Result) -> None:
    """Draw how the numbers were computed, and from what."""
    endnotes.ending(found, analysis, EXAMPLES[analysis.corpus].unit)


def draw_export(view: View[Any], found: Result) -> None:
    """Draw the files of what is chosen, and the paper's table as LaTeX. A list may change without the rest of the page,
    so that what is chosen is read on a click."""
    now = session.current()
    page.downloads(found, lambda: chosen(now.view(type(view)), found))
    if ANALYSES[found.analysis].latex:
        of_page = chosen(view, found)
        endnotes.folded("LaTeX", ":material/table:", "latex", lambda: st.code(to_latex(of_page), "latex"))


def with_others(view: V, request: Request) -> tuple[V, Any]:
    """What is chosen, and what that needs of other stored results; where one is missing, that is said, and the choice
    has no effect."""
    try:
        return view, view.beside(request, services.find)
    except SettingsError as problem:
        messages.note(problem)
        return view.alone(), view.alone().beside(request, services.find)


def draw_choices(view: View[Any], found: Result, drawn: Iterable[Block]) -> None:
    """The widgets of what changes all of the page: the choices whose options follow the result, then others."""
    for field, options in view.offered(found).items():
        if len(options) > 1:
            inputs.select(view, found, field)
    for block in flat(drawn):
        if isinstance(block, Control) and block.on_line:
            blocks.draw_controls(block)
