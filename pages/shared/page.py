"""The parts of every page: findings, key numbers, figures, the map and the table of heads, drawings, downloads."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st
from plotly.basedatatypes import BaseFigure
from streamlit.delta_generator import DeltaGenerator

from bertviz_core import exports
from bertviz_core.analyses import registry
from bertviz_core.analyses.findings import NOT_SHOWN, SHOWN, Finding
from bertviz_core.analyses.results import Result
from bertviz_core.heads import Head
from bertviz_core.plotting.drawing import FigureSpec
from bertviz_core.plotting.head_map import HeadMap
from pages.shared import preview
from pages.shared.components import component
from pages.shared.frame import Selection, address
from pages.shared.memoize import memoize
from pages.shared.messages import plain

ICONS = {SHOWN: ":green[:material/check_circle:]", NOT_SHOWN: ":red[:material/cancel:]"}
Metric = tuple[str, str, str]  # label, value, and what stands beside it, such as the paper's number


def controls() -> tuple[DeltaGenerator, DeltaGenerator]:
    """One line between a page's title and its claim: the room for choices made often, and the popover for others."""
    line = st.container(horizontal=True, vertical_alignment="bottom", key="page-controls")
    often = line.container(horizontal=True, vertical_alignment="bottom")
    return often, line.popover("Options", icon=":material/tune:", key="page-options", on_change="rerun")


def finding(shown: Finding, *, bold: bool = False, with_statement: bool = False) -> None:
    """The sentence of a finding, its rule and the paper's statement on pointing; `with_statement` under it too."""
    sentence = f"**{plain(shown.sentence)}**" if bold else plain(shown.sentence)
    if with_statement:
        beside = f"The paper, section {shown.section}: {shown.statement}" if shown.statement else "Beyond the paper."
        sentence += f"  \n:gray[{plain(beside)}]"
    paper = f"\n\nThe paper: {plain(shown.statement)}" if shown.statement else ""
    rule = f"**{shown.state.capitalize()}.** Rule: {plain(shown.rule)}{paper}"
    st.markdown(f"{ICONS.get(shown.state, ':gray[:material/pending:]')} {sentence}", help=rule)


def restriction(result: Result) -> None:
    """What a causal mask leaves of the numbers, where it does."""
    if result.restriction:
        st.info(result.restriction, icon=":material/visibility:")


def metrics(entries: Sequence[Metric]) -> None:
    for column, (label, value, beside) in zip(st.columns(len(entries)), entries, strict=True):
        column.metric(label, value, beside, delta_color="off", delta_arrow="off", border=True, height="stretch")


class PrevalidatedFigure(BaseFigure):
    """A figure that was validated when it was built: Streamlit would have plotly validate a plain dict again."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec

    def to_dict(self) -> dict[str, Any]:
        return self._spec


def drawn(build: Callable[..., go.Figure], *arguments: Any, **options: Any) -> FigureSpec:
    """The drawing of build(*arguments, **options), made once for all sessions; see `memoize` for the arguments."""
    return memoize(_drawing, build, arguments, tuple(options.items()))


def _drawing(build: Callable[..., go.Figure], arguments: tuple[Any, ...], options: tuple[Any, ...]) -> FigureSpec:
    return FigureSpec.of(build(*arguments, **dict(options)))


def picture_name(*shows: str) -> str:
    """File name of a picture without its suffix: what it shows, the model (of a path the folder), the corpora."""
    model, corpora = st.session_state.get("files", ("", ""))
    return exports.slug(*shows, Path(model).name, corpora)


def choose_head(data: Sequence[Any]) -> None:
    """Choose the head that a clicked dot is of, in a callback."""
    address.choose(head=data[0])


def chart(
    figure: go.Figure | FigureSpec,
    key: str,
    alt: str,
    *,
    head: Head | None = None,
    choose: Callable[[Sequence[Any]], None] | None = None,
    height: int | None = None,
) -> None:
    """A figure, whose camera saves SVG; `alt` says what it shows. The `head` is ringed, and a click on another chooses
    it; `choose` takes what a clicked dot has as `customdata`, where a click does anything else. `height` is in pixels.
    """

    def clicked() -> None:
        points = st.session_state[key]["selection"]["points"]  # none when the figure is drawn again
        if points and isinstance(data := points[0].get("customdata"), list | tuple):
            (choose or choose_head)(data)

    drawing = figure if isinstance(figure, FigureSpec) else FigureSpec.of(figure)
    spec = drawing.spec(head, st.session_state.get("origin", ""))
    spec["layout"]["height"] = height or spec["layout"]["height"]
    # Wide enough for every legend, at any width of the window.
    picture = {"format": "svg", "filename": picture_name(key), "width": 1000, "height": spec["layout"]["height"]}
    only_camera = {"modeBarButtons": [["toImage"]], "displaylogo": False}  # more buttons would cover the legend
    config = only_camera | {"toImageButtonOptions": picture}
    clicks: dict[str, Any] = {"on_select": clicked, "selection_mode": "points"} if head or choose else {}
    st.plotly_chart(PrevalidatedFigure(spec), key=key, alt=alt, config=config, **clicks)


def head_map(
    described: HeadMap,
    key: str,
    alt: str,
    selection: Selection,
    *,
    lines: bytes | None = None,
    cards: bytes = b"",
    link: str = "",
    height: int | None = None,
) -> None:
    """The map of heads with the chosen head ringed, where it has that head; a click, Enter or Space chooses one.
    `lines`: what pointing at a head previews, as `preview` gives it; without, the short sentence. `cards`: what stands
    beside the map, as `encoded_cards` gives it, with a `link` into the viewer. `height`: pixels that it may take."""

    def clicked() -> None:
        if head := st.session_state[key].get("head"):
            address.choose(head=head)

    origin = st.session_state.get("origin", "")
    name = picture_name(key)
    data = {"chosen": selection.head.label(), "alt": alt, "origin": origin, "name": name, "height": height}
    changing = json.dumps(data | {"link": link}).encode()
    # One JSON object a line: Streamlit would write and check lists for thousands of heads again with every run.
    parts = changing, described.encoded, cards, preview.of(selection) if lines is None else lines
    component("head_map")(data=b"\n".join(filter(None, parts)), key=key, on_head_change=clicked)


def clickable_table(frame: Any, key: str, choose: Callable[[int], None], alt: str, **look: Any) -> None:
    """A sortable table; a click on a row gives `choose` its number. `look` is Streamlit's."""

    def clicked() -> None:
        if rows := st.session_state[key]["selection"]["rows"]:
            choose(rows[0])

    st.dataframe(frame, key=key, hide_index=True, on_select=clicked, selection_mode="single-row", alt=alt, **look)


def table(
    frame: pd.DataFrame,
    columns: Sequence[str],
    selection: Selection,
    key: str,
    decimals: Mapping[str, int] | None = None,
    titles: Mapping[str, str] | None = None,
) -> None:
    """All heads, sortable; a click on a row chooses the head. `frame` is from `memoize`: so the table is made once.
    `columns` are shown besides layer and head, some with `decimals` and `titles` of their own."""
    arrow, formats, labels = memoize(_head_table, frame, tuple(columns), selection.base, decimals or {})
    named = {name: (titles or {}).get(name) or registry.label(name).replace("_", " ") for name in columns}
    numbers = {
        name: st.column_config.NumberColumn(named[name], format=formats[name]) for name in columns if name in formats
    }
    clickable_table(
        arrow,
        key,
        lambda row: address.choose(head=labels[row]),
        "A row for each head, with every quantity",
        column_config=named | numbers,
        height=320,
    )


def _head_table(
    frame: pd.DataFrame, columns: tuple[str, ...], base: int, decimals: Mapping[str, int]
) -> tuple[pa.Table, dict[str, str], list[str]]:
    """A table as Streamlit sends it, the formats of its numbers, and the labels of the rows' heads."""
    shown = frame[["layer", "head", *columns]].assign(layer=frame["layer"] + base - 1, head=frame["head"] + base - 1)
    largest = shown.select_dtypes("floating").abs().max()
    digits = {name: 3 if value >= 0.1 else 4 if value >= 0.01 else 6 for name, value in largest.items()}
    formats = {str(name): f"%.{count}f" for name, count in (digits | dict(decimals)).items()}
    formats |= {str(name): "%.1e" for name, value in largest.items() if 0 < value < 1e-4}
    return pa.Table.from_pandas(shown, preserve_index=False), formats, list(frame["label"])


class Drawing(NamedTuple):
    """An SVG, whose own text is escaped already, with a link to the attention behind it, and the `text` and `link` of
    each note below it."""

    title: str
    svg: str
    link: str = ""
    notes: Sequence[dict[str, str]] = ()


def drawings(items: Sequence[Drawing], key: str) -> None:
    """Inline SVG, one under the other: hover texts work, and lines take the theme's text color."""
    files = [f"{picture_name(item.title.partition(':')[0])}.svg" for item in items]
    data = [item._asdict() | {"file": file} for item, file in zip(items, files, strict=True)]
    component("drawings", html='<div class="drawings"></div>')(data=data, key=key)


def offer_files(files: Mapping[str, tuple[str, Callable[[], bytes]]]) -> None:
    """A button for each file: label -> its name, and what makes its bytes when the button is clicked."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for text, (name, build) in files.items():
            key = f"download-{text}"
            icon = ":material/download:"
            st.download_button(text, data=build, file_name=name, on_click="ignore", icon=icon, key=key)


def downloads(result: Result) -> None:
    """Buttons that save the bytes that the command line writes, built on click; a figure's camera saves SVG."""
    titles = {".tex": "LaTeX", ".safetensors": "safetensors", ".zip": "ZIP: all tables"}
    builders = exports.builders(result)
    name = exports.slug(*result.file_parts())
    files = {suffix: (name + suffix, build) for suffix, build in builders.items() if suffix != ".svg"}
    offer_files({titles.get(suffix, suffix[1:].upper()): file for suffix, file in files.items()})
