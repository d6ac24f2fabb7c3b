"""The parts of every page of the paper: metrics, figures, map, table, downloads."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st
from plotly.basedatatypes import BaseFigure
from streamlit.delta_generator import DeltaGenerator

from bertviz_core import exports
from bertviz_core.analyses import registry
from bertviz_core.analyses.results import Result
from bertviz_core.heads import Head
from bertviz_core.plotting.drawing import FigureSpec
from bertviz_core.plotting.head_map import HeadMap
from pages.shared import files, preview
from pages.shared.components import component
from pages.shared.frame import address
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize


def controls() -> tuple[DeltaGenerator, DeltaGenerator]:
    """One line of choices between a page's title and its claim, so that the figures below stay in view.

    Returns:
        Two parts, to be filled in any order: choices made often, and those behind the button at the end of the line.
    """
    line = st.container(horizontal=True, vertical_alignment="bottom", key="page-controls")
    often = line.container(horizontal=True, vertical_alignment="bottom")
    return often, line.popover("Options", icon=":material/tune:", key="page-options", on_change="rerun")


def restriction(result: Result) -> None:
    """What a causal mask leaves of the numbers, where it does."""
    if result.restriction:
        st.info(result.restriction, icon=":material/visibility:")


def metrics(entries: Sequence[tuple[str, str, str]]) -> None:
    """Draw metrics side by side, each as (label, this run, paper)."""
    for column, (label, here, paper) in zip(st.columns(len(entries)), entries, strict=True):
        column.metric(label, here, paper, delta_color="off", delta_arrow="off", border=True, height="stretch")


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


def chart(
    figure: go.Figure | FigureSpec, key: str, alt: str, *, clickable: bool = True, head: Head | None = None,
    shapes: Sequence[dict[str, Any]] = (), choose: Callable[[Sequence[Any]], None] | None = None,
    height: int | None = None,
) -> None:  # fmt: skip
    """A figure whose clicks choose a head; the camera above it saves SVG.

    Args:
        figure: What is drawn.
        key: Key of the element.
        alt: What the figure shows, for those who cannot see it.
        clickable: Whether clicks count.
        head: The head to ring.
        shapes: More shapes of the layout.
        choose: Takes what a dot that is clicked has as `customdata`, in place of choosing the head that is its first.
        height: Pixels, where they are not the figure's own.
    """
    options: dict[str, Any] = (
        {"on_select": lambda: _clicked(key, choose or _choose), "selection_mode": "points"} if clickable else {}
    )
    drawing = figure if isinstance(figure, FigureSpec) else FigureSpec.of(figure)
    spec = drawing.spec(head, st.session_state.get("origin", ""), shapes)
    spec["layout"]["height"] = height or spec["layout"]["height"]
    # Wide enough for every legend, at any width of the window.
    picture = {"format": "svg", "filename": files.picture_name(key), "width": 1000, "height": spec["layout"]["height"]}
    only_camera = {"modeBarButtons": [["toImage"]], "displaylogo": False}  # more buttons would cover the legend
    config = only_camera | {"toImageButtonOptions": picture}
    st.plotly_chart(PrevalidatedFigure(spec), key=key, alt=alt, config=config, **options)


def head_map(
    described: HeadMap,
    key: str,
    alt: str,
    selection: Selection,
    *,
    cards: bytes = b"",
    link: str = "",
    lines: bytes = b"",
    own: bool = True,
    height: int | None = None,
) -> None:
    """The map of heads with the chosen head ringed, where it has that head; a click, Enter or Space chooses one.

    Args:
        described: What is drawn.
        key: Key of the element.
        alt: What the map shows, for those who cannot see it.
        selection: The chosen head and model.
        cards: What stands beside the map of the head that is pointed at or chosen, as `encoded_cards` gives it.
        link: From the cards into the attention viewer, as `links.addresses` gives it.
        lines: What pointing at a head previews, as `preview` gives it; where it is not given, the short sentence.
        own: Whether the heads are those of the chosen model, so that the short sentence can be previewed.
        height: Pixels that the map may take; without, as many as its cells want.
    """
    origin, name = st.session_state.get("origin", ""), files.picture_name(key)
    data = {"chosen": selection.head.label(), "alt": alt, "origin": origin, "name": name, "height": height}
    changing = json.dumps(data | {"link": link}).encode()
    lines = lines or (preview.of(selection) if own else b"")
    # One JSON object a line: Streamlit would write and check lists for thousands of heads again with every run.
    parts = b"\n".join(filter(None, (changing, described.encoded, cards, lines)))
    component("head_map")(data=parts, key=key, on_head_change=lambda: _head_clicked(key))


def _head_clicked(key: str) -> None:
    if head := st.session_state[key].get("head"):
        address.choose(head=head)


def _clicked(key: str, choose: Callable[[Sequence[Any]], None]) -> None:
    """Handle a click; a redrawn figure reports an empty selection, which is ignored."""
    points = st.session_state[key]["selection"]["points"]
    if points and isinstance(data := points[0].get("customdata"), list | tuple):
        choose(data)


def _choose(data: Sequence[Any]) -> None:
    address.choose(head=data[0])


class _HeadTable(NamedTuple):
    """A table as Streamlit sends it. formats: of the columns of numbers. labels: of the rows' heads."""

    arrow: pa.Table
    formats: dict[str, str]
    labels: list[str]


def table(
    frame: pd.DataFrame, columns: Sequence[str], selection: Selection, key: str,
    decimals: Mapping[str, int] | None = None, titles: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """All heads, sortable; a click on a row chooses the head.

    Args:
        frame: A row for each head, from `memoize`: so the table is made once.
        columns: Those shown besides layer and head.
        selection: The chosen base.
        key: Key of the element.
        decimals: Of columns that want their own.
        titles: Of columns that are not called by their names.
    """
    drawn = memoize(_head_table, frame, tuple(columns), selection.base, decimals or {})
    named = {name: (titles or {}).get(name) or registry.label(name).replace("_", " ") for name in columns}
    st.dataframe(
        drawn.arrow,
        key=key,
        hide_index=True,
        on_select=lambda: _row_clicked(key, drawn.labels),
        selection_mode="single-row",
        column_config={
            name: st.column_config.NumberColumn(named[name], format=drawn.formats[name])
            if name in drawn.formats
            else named[name]
            for name in columns
        },
        height=320,
        alt="A row for each head, with every quantity",
    )


def _head_table(frame: pd.DataFrame, columns: tuple[str, ...], base: int, decimals: Mapping[str, int]) -> _HeadTable:
    shown = frame[["layer", "head", *columns]].assign(layer=frame["layer"] + base - 1, head=frame["head"] + base - 1)
    largest = shown.select_dtypes("floating").abs().max()
    digits = {name: 3 if value >= 0.1 else 4 if value >= 0.01 else 6 for name, value in largest.items()}
    formats = {str(name): f"%.{count}f" for name, count in (digits | dict(decimals)).items()}
    formats |= {str(name): "%.1e" for name, value in largest.items() if 0 < value < 1e-4}
    return _HeadTable(pa.Table.from_pandas(shown, preserve_index=False), formats, list(frame["label"]))


def _row_clicked(key: str, labels: list[str]) -> None:
    rows = st.session_state[key]["selection"]["rows"]
    if rows:
        address.choose(head=labels[rows[0]])


def downloads(result: Result) -> None:
    """Buttons that save the bytes that the command line writes, built on click; a figure's camera saves SVG."""
    builders = {suffix: build for suffix, build in exports.builders(result).items() if suffix != ".svg"}
    files.offer({files.label(suffix): (exports.file_name(result, suffix), build) for suffix, build in builders.items()})
