"""Blocks on the screen: how each kind is drawn."""

from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st

from bertviz_core.analyses.base import blocks
from bertviz_core.analyses.base.blocks import Block, Example
from bertviz_core.plotting.drawing import HEIGHT
from pages.shared import page, widgets
from pages.shared.frame import links
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewerChoices
from pages.shared.state.selection import Selection

BEGINNING = 60  # characters of a passage that tell it from another
NO_BREAK = "\u00a0"  # in a narrow table
TALL = 500  # pixels, more than a map has


@memoized
def built(build: Callable[..., Any], *arguments: Any) -> Any:
    """What build(*arguments) returns, once for all sessions."""
    return build(*arguments)


def draw(shown: Iterable[Block], *, nested: bool = False) -> None:
    """Draw blocks one under the other; headings of `nested` ones, in columns, are small."""
    for block in shown:
        DRAW[type(block)](block, nested)


def heading(text: str, nested: bool) -> None:
    """The heading of a block; what follows a comma or a colon in a small one is not bold."""
    if not nested:
        st.header(plain(text), anchor=False)
        return
    cut = next((index for index, letter in enumerate(text) if letter in ",:;"), len(text))
    st.markdown(f"**{plain(text[:cut])}**{plain(text[cut:])}")


def _claim(block: blocks.Claim, nested: bool) -> None:
    page.finding(block.finding, bold=block.first)


def _say(block: blocks.Say, nested: bool) -> None:
    if block.on_screen:
        st.caption(plain(block.text))


def _numbers(block: blocks.Numbers, nested: bool) -> None:
    page.metrics(block.cards)


def _chart(block: blocks.Chart, nested: bool) -> None:
    if not block.is_main:
        heading(block.title, nested)
    selection = session.selection()
    head = selection.head if block.has_heads else None
    page.chart(page.drawn(block.build, *block.arguments), block.name, block.alt, selection.basis, head=head)
    if block.note:
        st.caption(plain(block.note))


def _map(block: blocks.Map, nested: bool) -> None:
    st.markdown(f"**Head map**: {plain(block.title)}")
    page.head_map(built(block.build, *block.arguments), block.name, block.alt, _previewed(session.selection()))


def _previewed(selection: Selection) -> Selection:
    """What pointing at a head previews: attention weights where an analysis reads no maps."""
    if links.entry(session.current().page).reads_maps:
        return selection
    return selection.of_weights("attention")


def _table(block: blocks.Table, nested: bool) -> None:
    heading(block.title, nested or block.is_folded)
    if block.is_folded:
        rows = block.table.map(lambda text: text.replace(" ", NO_BREAK)).to_dict("list")
        rows["quantity"] = [plain(text.replace(NO_BREAK, " ")) for text in rows.get("quantity", [])]
        st.table(rows, hide_index=True, alt=block.title)
        return
    if block.note:
        st.caption(plain(block.note))
    if not block.searched:
        st.dataframe(page.aligned(block.table), hide_index=True, height="content", alt=block.title)
        return
    rows = block.table.assign(sentences=[_search(words) for words in block.searched])
    config = {"sentences": st.column_config.LinkColumn(display_text="search")}
    st.dataframe(rows, hide_index=True, height="content", column_config=config, alt=block.title)


def _search(words: str) -> str:
    """The address of the search of words in the corpus; empty for none."""
    found = AttentionViewerChoices(input="corpus", find=words, back=session.here())
    return links.address_of(found, session.selection().head) if words else ""


def _inputs(block: blocks.Inputs, nested: bool) -> None:
    heading(block.title, nested)
    about = " ".join(filter(None, (block.legend, block.note)))
    st.caption(plain(about))
    if any(each.svg for each in block.examples):
        items = [page.Drawing(each.title, each.svg, _opened(each)) for each in block.examples]
        page.drawings(items, block.name, session.selection().basis)
        return
    for each in block.examples:
        _input(each)


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
    if example.opened:
        links.to_segment(example.opened.segment, session.selection().head)


def _opened(example: Example) -> str:
    """The viewer's address for an input; empty where it is not known."""
    if (opened := example.opened) is None or opened.query is None or opened.key is None:
        return ""
    return links.to_pair(opened.segment, opened.query, opened.key, session.selection().head)


def _heads(block: blocks.Heads, nested: bool) -> None:
    heading(block.title, nested)
    name = f"{session.current().page}-{block.title.lower().replace(' ', '-')}"
    frame = built(block.build, *block.arguments)
    page.table(frame, block.columns, session.selection(), name, titles=block.titles)


def draw_controls(block: blocks.Control) -> None:
    """The widgets of choices, in a popover if they seldom change."""
    if not block.folded:
        for field in block.fields:
            widgets.choice(field)
        return
    panel = widgets.popover(block.folded, ":material/tune:", "page-options")
    if panel.open:
        with panel:
            st.caption(plain(block.note))
            for field in block.fields:
                widgets.choice(field, width="stretch")


def _control(block: blocks.Control, nested: bool) -> None:
    if not block.on_line:  # The page draws the others in the line under its title.
        draw_controls(block)


def _columns(block: blocks.Columns, nested: bool) -> None:
    left, right = st.columns(block.widths, gap="medium")
    with left:
        draw(block.left, nested=True)
    with right:
        draw(block.right, nested=True)
    with right if _is_tall(block) else left:
        draw(block.lower, nested=True)


def _is_tall(block: blocks.Columns) -> bool:
    """Whether the left column is taller than the right one, which has a map."""
    charts = [each for each in block.left if isinstance(each, blocks.Chart)]
    heights = (page.drawn(each.build, *each.arguments).layout.get("height") or HEIGHT for each in charts)
    return sum(heights) > TALL


DRAW: dict[type, Callable[[Any, bool], None]] = {
    blocks.Claim: _claim,
    blocks.Say: _say,
    blocks.Numbers: _numbers,
    blocks.Chart: _chart,
    blocks.Map: _map,
    blocks.Table: _table,
    blocks.Inputs: _inputs,
    blocks.Heads: _heads,
    blocks.Control: _control,
    blocks.Columns: _columns,
}
