"""Inputs on the screen: drawings or texts, each with the way to the attention viewer, and lists that follow a reader's
choices."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import streamlit as st

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.shown_inputs import Example, Opened, OpenedWords
from bertviz_core.analyses.base.table_blocks import InputList, Inputs, ListPage
from bertviz_core.analyses.base.view import View
from bertviz_core.choices import label_of
from pages.shared import page, widgets
from pages.shared.frame import links
from pages.shared.memoize import built
from pages.shared.messages import plain
from pages.shared.state import session

BEGINNING = 60  # characters of a passage that tell it from another
WIDTH = 320  # pixels of a box of options at most
EMPTY, LETTER = 70, 8  # pixels of such a box without a text, and of a letter
OPTIONS = "guess-options"  # key of the popover with what seldom changes of a list


def draw(block: Inputs, nested: bool) -> None:
    """Draw inputs that follow no choice of their own."""
    page.heading(block.title, nested)
    caption = " ".join(filter(None, (block.legend, block.note)))
    st.caption(plain(caption))
    _examples(block.examples, block.name)


def _examples(examples: Sequence[Example], name: str) -> None:
    """Inputs as drawings, or as texts where they have none."""
    if not any(each.svg for each in examples):
        for each in examples:
            _input(each)
        return
    items = []
    analysis = session.current().page
    for each in examples:
        notes = [{"text": text, "link": address(opened, analysis)} for text, opened in each.links]
        items.append(page.Drawing(each.title, each.svg, address(each.opened, analysis), notes))
    page.drawings(items, name, session.selection().basis)


@session.fragment
def draw_list(block: InputList, nested: bool) -> None:
    """The choices of a list, and its page; they are drawn again without the rest of the page."""
    place = st.container()
    with page.row("center", gap="xsmall", key="guess-controls"):
        _choices(block, nested)
        view = session.view(type(block.view)).resolve(block.result)
        list_page = built(block.page, block.result, view)
        widgets.page_of(list_page.total, block.size, "page", view.page)
    with place:
        _list_heading(list_page, nested)
    _examples(list_page.examples, block.name)


def _list_heading(list_page: ListPage, nested: bool) -> None:
    """The title of a list; how it was chosen and its legend are a hint in a narrow column, and under the title where
    there is room."""
    about = plain(f"{list_page.note} {list_page.legend}{list_page.hint}")
    if nested:
        page.small_heading(list_page.title, list_page.detail, help=about)
        return
    page.heading(list_page.title, nested)
    st.caption(about)


def _input(example: Example) -> None:
    """An input without a drawing: its title and notes, and its text, at length where a part of it is marked."""
    if example.marked is None:
        with page.row("center", gap="xsmall"):
            text = plain(beginning(example.text))
            st.markdown(f"**{plain(example.title)}**: :gray[{text}]", width="content")
            _open(example)
        return
    start, end = example.marked
    left, middle, right = (plain(part) for part in (example.text[:start], example.text[start:end], example.text[end:]))
    notes = "".join(f" {plain(note)}" for note in example.notes)
    st.markdown(f"**{plain(example.title)}**:{notes}  \n:gray[{left}] **{middle}** :gray[{right}]")
    _open(example)


def beginning(text: str) -> str:
    """The first whole words of a passage, and a sign that it goes on; all of one that is short.

    >>> beginning("before there were mechanical ones , people made do with the sun")
    'before there were mechanical ones , people made do with the …'
    """
    if len(text) <= BEGINNING:
        return text
    whole = text[: BEGINNING + 1].rsplit(" ", 1)[0]  # A text without spaces is cut within its word.
    return f"{whole[:BEGINNING]} …"


def _open(example: Example) -> None:
    if isinstance(example.opened, Opened):
        links.to_segment(example.opened.segment, session.selection().head)


def address(opened: Opened | OpenedWords | None, analysis: str) -> str:
    """The viewer's address for an input of an analysis; empty where it is not known."""
    selection = session.selection()
    if isinstance(opened, OpenedWords):
        corpus = selection.corpora[ANALYSES[analysis].corpus]
        least = {"least": 0.0} if opened.every_line else {}
        origin = f"{corpus.name}, {opened.where}"
        words, pinned, direction = opened.words, opened.pinned, opened.direction
        return links.to_words(words, selection.head, pinned, direction, origin=origin, **least)
    if opened is None or opened.query is None or opened.key is None:
        return ""
    return links.to_pair(opened.segment, opened.query, opened.key, selection.head)


def _choices(block: InputList, nested: bool) -> None:
    """The widgets of a list; the labels of those in a narrow column are left out."""
    view = session.view(type(block.view)).resolve(block.result)
    offered = view.offered(block.result)
    for field in block.fields:
        if field in offered:
            select(view, block.result, field)
        else:
            widgets.choice(field, help=None, label_visibility="collapsed")
    search_box("search", view.search, width="stretch" if nested else 150, is_labeled=not nested)
    if not block.folded:
        return
    panel = widgets.popover("Order and weight", ":material/tune:", OPTIONS, help="Order and weight")
    if panel.open:
        with panel:
            for field in block.folded:
                widgets.choice(field, help=None)


def select(view: View[Any], result: Any, field: str, **options: Any) -> None:
    """The box of a choice whose options follow the result."""
    text = partial(view.option_text, result, field)
    choices = view.offered(result)[field]
    letters = max(len(text(choice)) for choice in choices)
    more = {"width": min(WIDTH, EMPTY + LETTER * letters)} | options
    widgets.select(label_of(type(view), field), choices, field, getattr(view, field), format_func=text, **more)


def search_box(field: str, value: str, *, width: int | Literal["stretch"] = 150, is_labeled: bool = True) -> str:
    """Draw the field of the words that are searched, with its label above or inside it."""
    return widgets.text(
        "Search",
        field,
        value,
        max_chars=60,
        help="A word, or several consecutive words. * matches any ending.",
        width=width,
        label_visibility="visible" if is_labeled else "collapsed",
        placeholder=None if is_labeled else "Search",
    )
