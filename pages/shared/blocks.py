"""Blocks on the screen: how each kind is drawn."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from bertviz_core.analyses.base import blocks, table_blocks
from bertviz_core.analyses.base.blocks import Block
from bertviz_core.plotting.drawing import HEIGHT
from pages.shared import endnotes, head_panel, inputs, page, preview, widgets
from pages.shared.frame import links
from pages.shared.memoize import built
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewerChoices
from pages.shared.state.selection import Selection

NO_BREAK = "\u00a0"  # in a narrow table
TALL = 500  # pixels, more than a map has
HEADER, ROW = 37, 35  # pixels of a table
Ends = Mapping[str, Callable[[], None]]  # what a page draws in its last tabs, by their names
NO_ENDS: Ends = {}


def draw(page_blocks: Iterable[Block], *, nested: bool = False, ends: Ends = NO_ENDS) -> None:
    """Draw blocks one under the other; headings of `nested` ones, in columns, are small. `ends` draw what a page has in
    its last tabs, by their names."""
    for block in page_blocks:
        if isinstance(block, blocks.Tabs):
            _tabs(block, ends)
        else:
            DRAW[type(block)](block, nested)


def _tabs(block: blocks.Tabs, ends: Ends) -> None:
    inside = dict(block.tabs)
    names = [*inside, *(name for name in ends if name not in inside)]
    for name, tab in zip(names, st.tabs(names), strict=True):
        with tab:
            draw(inside.get(name, ()), nested=True)
            if name in ends:
                ends[name]()


def _claim(block: blocks.Claim, nested: bool) -> None:
    page.finding(block.finding, bold=block.first)


def _say(block: blocks.Say, nested: bool) -> None:
    if not block.on_screen:
        return
    if block.first:
        st.markdown(f"**{plain(block.text)}**")
    elif block.stands_out:
        st.info(plain(block.text), icon=":material/info:")
    else:
        st.caption(plain(block.subject) + block.markdown if block.markdown else plain(block.text))


def _numbers(block: blocks.Numbers, nested: bool) -> None:
    if block.are_stacked:
        page.stacked_metrics(block.cards)
        return
    if block.title:
        page.heading(block.title, nested)
    page.metrics(block.cards)


def _chart(block: blocks.Chart, nested: bool) -> None:
    if block.is_folded:
        endnotes.folded(block.title, ":material/bar_chart:", block.name, _chart_alone, block)
        return
    if not block.is_main:
        page.heading(block.title, nested, block.hint)
    _chart_alone(block)


def _chart_alone(block: blocks.Chart) -> None:
    selection = session.selection()
    head = selection.head if block.has_heads else None
    figure = page.drawn(block.build, *block.arguments)
    choose = block.choose
    click = None if choose is None else lambda dot: session.choose(**choose(dot))
    page.chart(figure, block.name, block.alt, selection.basis, head=head, choose=click)
    if block.note:
        st.caption(plain(block.note))


def _map(block: blocks.Map, nested: bool) -> None:
    page.small_heading(block.subject, f": {block.title}" if block.title else "")
    squares = built(block.build, *block.arguments)
    page.head_map(
        squares, block.name, block.alt, _previewed(session.selection()), lines=_lines(block), height=block.height
    )


def _lines(block: blocks.Map) -> bytes | None:
    """What pointing at a head previews; None for what the reader has chosen."""
    if block.run is not None:
        return preview.of_run(block.run, session.selection())
    return built(block.preview, *block.preview_arguments) or None if block.preview else None


def _offer(block: blocks.Offer, nested: bool) -> None:
    st.button(block.text, on_click=session.choose, kwargs={"head": block.head}, icon=":material/my_location:")


def _previewed(selection: Selection) -> Selection:
    """What pointing at a head previews: attention weights where an analysis reads no maps."""
    if links.entry(session.current().page).reads_maps:
        return selection
    return selection.of_weights("attention")


def _table(block: table_blocks.Table, nested: bool) -> None:
    page.heading(block.title, nested or block.is_folded, block.hint)
    if block.is_folded:
        rows = block.table.map(lambda text: text.replace(" ", NO_BREAK)).to_dict("list")
        names = block.table.columns[0]
        rows[names] = [plain(text) for text in block.table[names]]
        st.table(rows, hide_index=True, alt=block.title)
        return
    if block.note:
        st.caption(plain(block.note))
    if block.decimals is not None:
        _rounded_table(block)
        return
    if not block.searched:
        rows = page.aligned(block.table)
        st.dataframe(rows, hide_index=True, height="content", column_config={**block.titles}, alt=block.title)
        return
    found = block.table.assign(sentences=[_search(words) for words in block.searched])
    config = {"sentences": st.column_config.LinkColumn(display_text="search")}
    st.dataframe(found, hide_index=True, height="content", column_config=config, alt=block.title)


def _rounded_table(block: table_blocks.Table) -> None:
    """A table whose numbers have the decimals that it asks for, and whose columns have widths of their own."""
    config = {name: _column(block, str(name), values) for name, values in block.table.items()}
    table = page.arrow(block.table)
    rows = HEADER + ROW * len(block.table)
    options: dict[str, Any] = {"height": "content" if block.height is None else min(block.height, rows)}
    options |= {"column_config": config, "placeholder": ""}
    if (choose := block.choose) is None:
        st.dataframe(table, hide_index=True, alt=block.title, **options)
    else:
        click = partial(_choose_row, choose)
        page.clickable_table(table, block.name, click, block.title, **options)


def _choose_row(choose: Callable[[int], dict[str, Any]], row: int) -> None:
    session.choose(**choose(row))


def _column(block: table_blocks.Table, name: str, values: pd.Series) -> Any:
    width = block.widths.get(name)
    kind = values.dtype.kind
    title = block.titles.get(name)
    if kind not in "fiu" or name in block.as_printed:
        return st.column_config.Column(title, width=width)
    form = f"%.{block.decimals}f" if kind == "f" else "%+d" if name in block.signed else "localized"
    return st.column_config.NumberColumn(title, format=form, width=width)


def _facts(block: table_blocks.Facts, nested: bool) -> None:
    head_panel.draw_facts([*block.facts])


def _search(words: str) -> str:
    """The address of the search of words in the corpus; empty for none."""
    found = AttentionViewerChoices(input="corpus", find=words, back=session.here())
    return links.address_of(found, session.selection().head) if words else ""


def _heads(block: table_blocks.Heads, nested: bool) -> None:
    page.heading(block.title, nested)
    name = f"{session.current().page}-{block.name or block.title.lower().replace(' ', '-')}"
    frame = built(block.build, *block.arguments)
    page.table(frame, block.columns, session.selection(), name, block.decimals, titles=block.titles)


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
    if block.title:
        page.heading(block.title, nested)
    parts = [block.left, block.middle, block.right] if block.middle else [block.left, block.right]
    places = st.columns(block.widths or len(parts), gap="small" if block.middle else "medium")
    for place, part in zip(places, parts, strict=True):
        with place:
            draw(part, nested=not block.are_sections)
    with places[-1] if _is_tall(block) else places[0]:
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
    table_blocks.Table: _table,
    table_blocks.Inputs: inputs.draw,
    table_blocks.InputList: inputs.draw_list,
    table_blocks.Facts: _facts,
    blocks.Offer: _offer,
    table_blocks.Heads: _heads,
    blocks.Control: _control,
    blocks.Columns: _columns,
}
