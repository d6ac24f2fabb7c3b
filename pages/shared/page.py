"""The parts of every page: findings, key numbers, figures, the map and the table of heads, drawings, downloads."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypedDict

import pandas as pd
import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st
from pandas.io.formats.style import Styler
from streamlit.delta_generator import DeltaGenerator

from bertviz_core import exports
from bertviz_core.analyses.base import registry
from bertviz_core.analyses.base.blocks import Card
from bertviz_core.analyses.base.findings import DEMONSTRATION, NOT_SHOWN, SHOWN, UNDECIDED, Finding, counted
from bertviz_core.analyses.base.result import Result
from bertviz_core.heads import Head, counting_from, first_number
from bertviz_core.numbers import column_decimals, fixed
from bertviz_core.plotting.browser import FOLDER
from bertviz_core.plotting.drawing import FigureSpec
from bertviz_core.plotting.head_map import HeadMap
from bertviz_core.plotting.plotly_internals import PrevalidatedFigure
from pages.shared import preview, widgets
from pages.shared.components import component
from pages.shared.frame import links
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.selection import Basis, Selection

TABLE, ROWS = 320, 8  # the height of a table of heads in pixels, and the rows that it has room for
LOOKS = {  # of a verdict's chip: color and icon; others are gray
    SHOWN: ("green", "check_circle"),
    NOT_SHOWN: ("red", "cancel"),
    UNDECIDED: ("gray", "pending"),
    DEMONSTRATION: ("violet", "science"),
}


class GuessTable(TypedDict):
    """A table on a card.

    Attributes:
        header: The titles of its columns.
        rows: The texts of each row.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def row(alignment: Literal["bottom", "center"] = "bottom", **options: Any) -> DeltaGenerator:
    """A container whose parts stand side by side."""
    return st.container(horizontal=True, vertical_alignment=alignment, **options)


def controls(key: str = "page-controls") -> DeltaGenerator:
    """The container of a page's frequent choices, on the line under the title."""
    line = session.current().choices_line
    assert line is not None, "the header is drawn before the page"
    return line.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=key)


def with_options(line: DeltaGenerator, key: str | None = None) -> tuple[DeltaGenerator, widgets.Popover]:
    """A container of choices at the left of a line, and at its right the popover of those that seldom change.

    Args:
        key: Of the container.
    """
    often = line.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=key)
    with line:
        return often, options_popover()


def options_popover() -> widgets.Popover:
    """The popover of a page's choices that seldom change; they need not be drawn while it is closed."""
    return widgets.popover("Options", ":material/tune:", "page-options")


def verdict(state: str, count: int = 0) -> str:
    """The chip of a verdict, a sign and the word, as Markdown; with a count that of several."""
    color, icon = LOOKS.get(state, ("gray", "remove"))
    return f":{color}-badge[:material/{icon}: {counted(state, count) if count else state}]"


def finding(shown: Finding, *, bold: bool = False, with_statement: bool = False) -> None:
    """Draw the verdict and the claim of a finding; its details have the whole sentence, the rule and the paper's
    statement.

    Args:
        bold: Whether the claim is bold.
        with_statement: Whether the paper's statement is shown beside it.
    """
    sentence = links.to_heads(shown.sentence)
    details = ""
    if shown.claim:
        claim, separator, beside = map(links.to_heads, shown.claim.partition("; "))
        sentence = f"**{claim}**{separator}{beside}" if bold else f"{claim}{separator}{beside}"
        details = f"{plain(shown.sentence)}\n\n"
    elif bold:
        sentence = f"**{sentence}**"
    if with_statement:
        note = f"The paper, section {shown.section}: {shown.statement}" if shown.statement else "Beyond the paper."
        sentence += f"  \n:gray[{plain(note)}]"
    paper = f"\n\nThe paper: {plain(shown.statement)}" if shown.statement else ""
    rule = f"{details}**{shown.state.capitalize()}.** Rule: {plain(shown.rule)}{paper}"
    st.markdown(f"{verdict(shown.state)} {sentence}", help=rule)


def heading(text: str, nested: bool, hint: str = "") -> None:
    """The heading of a block; what follows a comma or a colon in a small one is not bold. A hint says what a click
    does."""
    if not nested:
        st.header(plain(text), anchor=False)
        if hint:
            st.caption(f"{hint[0].upper()}{hint[1:]}.")
        return
    more = f"; {hint}" if hint else ""
    cut = next((index for index, letter in enumerate(text) if letter in ",:;"), len(text))
    small_heading(text[:cut], text[cut:] + more)


def small_heading(title: str, detail: str, **options: Any) -> None:
    """A heading of which the detail is not bold."""
    st.markdown(f"**{plain(title)}**{plain(detail)}", **options)


def restriction(result: Result) -> None:
    """Draw what a causal mask leaves of the numbers, if the model has one."""
    if result.restriction:
        st.info(result.restriction, icon=":material/visibility:")


def metrics(entries: Sequence[Card]) -> None:
    """Draw key numbers side by side."""
    for column, (label, value, note) in zip(st.columns(len(entries)), entries, strict=True):
        column.metric(label, value, plain(note), delta_color="off", delta_arrow="off", border=True, height="stretch")


def stacked_metrics(entries: Sequence[Card]) -> None:
    """Draw key numbers one under the other, in a narrow column."""
    with st.container(key="tiles", gap="xsmall"):
        for label, value, note in entries:
            st.metric(label, value, plain(note), delta_color="off", delta_arrow="off", border=True)


@memoized
def drawn(build: Callable[..., go.Figure], *arguments: Any, **options: Any) -> FigureSpec:
    """The figure build(*arguments, **options) as it is sent, built once for all sessions; see `memoized`."""
    return FigureSpec.of(build(*arguments, **options))


def choose_head(data: Sequence[str]) -> None:
    """Choose the head whose label is the first `data` of a clicked dot, in a callback."""
    session.choose(head=Head.parse(data[0]))


def chart(
    figure: go.Figure | FigureSpec,
    key: str,
    alt: str,
    basis: Basis,
    *,
    head: Head | None = None,
    choose: Callable[[Sequence[str]], None] | None = None,
    height: int | None = None,
) -> None:
    """Draw a figure with its basis under it, which its camera saves as SVG.

    Args:
        basis: What the figure is drawn from.
        head: The head that is ringed; a click on the dot of another chooses that. None for a figure without heads.
        choose: Takes the `customdata` of a clicked dot, in place of choosing a head.
        height: The height in pixels; None for that of the figure.
    """

    def clicked() -> None:
        # None when the figure is drawn again.
        points = widgets.received(key, "selection")["points"]
        if points and isinstance(data := points[0].get("customdata"), list | tuple):
            (choose or choose_head)(data)

    drawing = figure if isinstance(figure, FigureSpec) else FigureSpec.of(figure)
    spec = drawing.spec(head, basis.caption)
    spec["layout"]["height"] = height or spec["layout"]["height"]
    # The picture is wide enough for every legend, at any width of the window.
    picture = {"format": "svg", "filename": basis.file_name(key), "width": 1000, "height": spec["layout"]["height"]}
    # More buttons would cover the legend.
    buttons = [["toImage"]]
    config = {"modeBarButtons": buttons, "displaylogo": False, "toImageButtonOptions": picture}
    clicks: dict[str, Any] = {"on_select": clicked, "selection_mode": "points"} if head or choose else {}
    st.plotly_chart(PrevalidatedFigure(spec), key=key, alt=alt, config=config, **clicks)


def head_map(
    squares: HeadMap,
    key: str,
    alt: str,
    selection: Selection,
    *,
    lines: bytes | None = None,
    cards: bytes = b"",
    opened: Mapping[str, str] | None = None,
    guesses: GuessTable | None = None,
    height: int | None = None,
    ringed: bool = True,
) -> None:
    """Draw a map of heads with its basis under it; a click, Enter or Space chooses a head.

    Args:
        selection: Has the chosen head, and what the map is drawn from.
        lines: What pointing at a head previews, from `preview`; None for the lines on its short sentence.
        cards: Cards beside the map, from `encoded_cards`; empty for none.
        opened: The addresses of the links on the card of the chosen head, by their texts.
        guesses: What the model guesses for a word with and without the chosen head, on its card.
        height: The height of the map in pixels; None for one that fits.
        ringed: Whether the chosen head is ringed, which may give an answer away.
    """

    def clicked() -> None:
        if label := widgets.received(key, "head"):
            session.choose(head=Head.parse(label))

    basis = selection.basis
    ring = selection.head.key() if ringed else ""
    data: dict[str, Any] = {
        "chosen": ring,
        "alt": alt,
        "name": basis.file_name(key),
        "height": height,
        "origin": basis.caption,
    }
    data["guesses"] = guesses
    data["links"] = [*(opened or {}).items()]
    if lines is None:
        lines = preview.of(selection)
    # One JSON object a line: Streamlit would encode and check lists for thousands of heads again with every run.
    parts = (json.dumps(data).encode(), squares.encoded, cards, lines)
    component("head_map", FOLDER)(data=b"\n".join(filter(None, parts)), key=key, on_head_change=clicked)


def aligned(frame: pd.DataFrame) -> pd.DataFrame | Styler:
    """A small table whose numbers have three decimals, "< 0.001" for what they would hide; it is sorted by the numbers
    themselves. One of texts is as it was, since to style it takes milliseconds."""
    numbers = list(frame.select_dtypes("floating"))
    return frame.style.format(fixed, subset=numbers) if numbers else frame


@memoized
def arrow(frame: pd.DataFrame) -> pa.Table:
    """A table as Streamlit sends it, converted once."""
    return pa.Table.from_pandas(frame, preserve_index=False)


def clickable_table(
    frame: pd.DataFrame | pa.Table | Styler, key: str, choose: Callable[[int], None], alt: str, **options: Any
) -> None:
    """Draw a sortable table; a click on a row calls `choose` with its number. `options` go to Streamlit."""

    def clicked() -> None:
        if rows := widgets.received(key, "selection")["rows"]:
            choose(rows[0])

    st.dataframe(frame, key=key, hide_index=True, on_select=clicked, selection_mode="single-row", alt=alt, **options)


def table(
    frame: pd.DataFrame,
    columns: Sequence[str],
    selection: Selection,
    key: str,
    decimals: Mapping[str, int] | None = None,
    titles: Mapping[str, str] | None = None,
) -> None:
    """Draw a sortable table with a row for each head; a click on a row chooses the head.

    Args:
        frame: The table; a memoized one is converted once.
        columns: The columns that are shown besides layer and head.
        selection: Has the chosen head.
        decimals: Of columns that have their own number of decimals.
        titles: Of columns that have a title of their own.
    """
    arrow, formats, labels = _head_table(frame, tuple(columns), decimals or {})

    def choose(row: int) -> None:
        session.choose(head=Head.parse(labels[row]))

    config: dict[str, Any] = {}
    for name in columns:
        title = (titles or {}).get(name) or registry.display_label(name).replace("_", " ")
        config[name] = st.column_config.NumberColumn(title, format=formats[name]) if name in formats else title
    alt = "A row for each head, with every quantity"
    clickable_table(arrow, key, choose, alt, column_config=config, height=TABLE if len(labels) > ROWS else "content")


@memoized
def _head_table(
    frame: pd.DataFrame, columns: tuple[str, ...], decimals: Mapping[str, int]
) -> tuple[pa.Table, dict[str, str], list[str]]:
    """The table that Streamlit sends, the formats of its numbers, and the labels of the rows' heads."""
    shift = first_number() - 1
    shown = frame[["layer", "head", *columns]].assign(layer=frame["layer"] + shift, head=frame["head"] + shift)
    largest = shown.select_dtypes("floating").abs().max()
    formats = {}
    for name, value in largest.items():
        digits = decimals.get(str(name), column_decimals(value))
        is_tiny = 0 < value < 1e-4
        formats[str(name)] = "%.1e" if is_tiny else f"%.{digits}f"
    return pa.Table.from_pandas(shown, preserve_index=False), formats, list(frame["label"])


class Drawing(NamedTuple):
    """A drawing with its title and what stands below it.

    Attributes:
        title: What it shows; the part before a colon is in the name of its file.
        svg: The drawing, with escaped text.
        link: The address of its attention; empty for none.
        notes: The `text` and the `link` of each note below it.
    """

    title: str
    svg: str
    link: str = ""
    notes: Sequence[dict[str, str]] = ()


def drawings(items: Sequence[Drawing], key: str, basis: Basis, *, in_columns: bool = False) -> None:
    """Draw SVG inline, one under the other or in columns: hover texts work, and lines have the theme's text color."""
    files = [f"{basis.file_name(item.title.partition(':')[0])}.svg" for item in items]
    more = {"inColumns": True} if in_columns else {}
    data = [item._asdict() | {"file": file} | more for item, file in zip(items, files, strict=True)]
    component("drawings", html='<div class="drawings"></div>')(data=data, key=key)


def offer_files(files: Mapping[str, tuple[str, Callable[[], bytes]]]) -> None:
    """Draw a button for each file, by label: the file's name, and the function that builds its bytes on a click, in
    which heads count from 1, as in the files of commands."""
    with row("center", gap="small"):
        for label, (name, build) in files.items():
            key = f"download-{label}"
            st.download_button(
                label, partial(_from_one, build), name, on_click="ignore", icon=":material/download:", key=key
            )


def _from_one(build: Callable[[], bytes]) -> bytes:
    with counting_from(1):
        return build()


def downloads(result: Result, shown: Callable[[], Result] | None = None) -> None:
    """Draw buttons that save a result's files, which are the command line's; figures' cameras save SVG. Where parts of
    the page may change alone, what is `shown` of the result is asked on a click."""
    titles = {".tex": "LaTeX", ".safetensors": "safetensors", ".zip": "ZIP: all tables"}
    name = exports.slug(*result.file_parts())
    files: dict[str, tuple[str, Callable[[], bytes]]] = {}
    for suffix in exports.suffixes(result.analysis):
        if suffix != ".svg":
            label = titles.get(suffix, suffix[1:].upper())
            files[label] = name + suffix, partial(_built, shown or (lambda: result), suffix)
    offer_files(files)
    st.caption(
        "CSV: the table alone. ZIP: every table, those of the chosen head and its examples too. HTML: what the page "
        "shows, with its source. JSON: all numbers, the finding and the source."
    )


def _built(shown: Callable[[], Result], suffix: str) -> bytes:
    return exports.builders(shown())[suffix]()
