"""What a page draws, and what a file of a result holds, in a form in which the two can be compared."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape
from io import BytesIO
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import page

NEW_PLOT = re.compile(r'Plotly\.newPlot\(\s*"[^"]+",\s*')
QUOTED = re.compile(r":gray\[((?:\\.|[^\]\\])*)\]")  # words of an input in Markdown


@dataclass
class Drawn:
    """The maps of heads and the drawings of a page, in the order in which they were drawn."""

    maps: list[Any] = field(default_factory=list)
    drawings: list[page.Drawing] = field(default_factory=list)

    def record(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Record what the pages draw from now on."""
        head_map, drawings = page.head_map, page.drawings

        def of_map(squares: Any, *arguments: Any, **options: Any) -> None:
            self.maps.append(squares)
            head_map(squares, *arguments, **options)

        def of_drawings(items: Any, *arguments: Any, **options: Any) -> None:
            self.drawings += items
            drawings(items, *arguments, **options)

        monkeypatch.setattr(page, "head_map", of_map)
        monkeypatch.setattr(page, "drawings", of_drawings)


def traces_of_page(app: AppTest) -> list[tuple[Any, ...]]:
    """The traces of its charts, without the rings around the chosen head."""
    specs = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    rings = {"circle-open"}
    traces = [trace for spec in specs for trace in spec["data"]]
    return [
        _trace(each)
        for each in traces
        if not (len(_list(each.get("x"))) == 1 and each.get("marker", {}).get("symbol") in rings)
    ]


def traces_of_html(html: str) -> list[tuple[Any, ...]]:
    return [_trace(trace) for trace in _traces(html)]


def hover_of_html(html: str) -> set[str]:
    """The texts that the figures of a file show of heads."""
    values = (trace.get(name, []) for trace in _traces(html) for name in ("text", "hovertext"))
    rows = (row for each in values if isinstance(each, list) for row in each)
    return {text for row in rows for text in (row if isinstance(row, list) else [row])}


def _traces(html: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    for match in NEW_PLOT.finditer(html):
        yield from decoder.raw_decode(html, match.end())[0]


def _trace(trace: dict[str, Any]) -> tuple[Any, ...]:
    return trace.get("type"), trace.get("name"), *(tuple(_list(trace.get(axis))) for axis in ("x", "y"))


def _list(values: Any) -> list[Any]:
    """The values of an axis, which plotly may have packed."""
    if isinstance(values, dict):
        array = np.frombuffer(base64.b64decode(values["bdata"]), np.dtype(values["dtype"]))
        values = [None if np.isnan(value) else float(value) for value in array]
    return [round(float(value), 9) if isinstance(value, float) else value for value in values or []]


def rows_of_page(app: AppTest) -> Iterator[list[Any]]:
    """The rows of its tables and its cards, without links, and without what is empty."""
    for table in (*app.dataframe, *app.table):
        for row in table.value.to_dict("records"):
            yield [cell for cell in row.values() if not _is_empty(cell) and not _is_link(cell)]
    for card in app.metric:
        yield [text for text in (card.label, card.value, card.delta) if text]


def rows_of_files(whole: dict[str, Any], zipped: bytes) -> list[list[Any]]:
    """The rows of all tables of the JSON and the ZIP."""
    tables = [each["rows"] for each in whole["chosen"]["tables"].values()]
    rows = [list(row.values()) for table in (whole["table"], *tables) for row in table]
    with ZipFile(BytesIO(zipped)) as files:
        for name in files.namelist():
            rows += pd.read_csv(files.open(name)).to_numpy(dtype=object).tolist()
    return rows


def holds(row: list[Any], cells: list[Any]) -> bool:
    """Whether a row of a file has all cells of a row of a page, of which numbers may be rounded."""
    texts = {_read(cell) for cell in row if isinstance(cell, str)}
    numbers = [float(cell) for cell in row if isinstance(cell, int | float) and not _is_empty(cell)]
    for cell in cells:
        if isinstance(cell, str):
            if _read(cell) not in texts:
                return False
        elif not any(abs(float(cell) - number) <= 0.006 * max(1.0, abs(number)) for number in numbers):
            return False
    return True


def missing_rows(page_rows: Iterable[list[Any]], file_rows: list[list[Any]]) -> list[list[Any]]:
    return [cells for cells in page_rows if not any(holds(row, cells) for row in file_rows)]


def words_of(svg: str) -> list[str]:
    """The texts of a drawing."""
    root = ElementTree.fromstring(svg)
    return [_read(" ".join(element.itertext())) for element in root.iter() if element.tag.endswith("text")]


def quoted(app: AppTest) -> list[str]:
    """The words of inputs that the page lists as text, or their beginning where a line ends with an ellipsis."""
    texts = (_read(match).removesuffix(" …") for each in app.main.markdown for match in QUOTED.findall(each.value))
    return [text for text in texts if len(text.split()) > 3]


def text_of(html: str) -> str:
    """What is read of a file, without its scripts."""
    bare = re.sub(r"<script.*?</script>|<style.*?</style>", " ", html, flags=re.S)
    return _read(unescape(re.sub(r"<[^>]+>", " ", bare)))


def _read(text: str) -> str:
    """A text as it is read: without the marks that keep Markdown plain and isolate writing directions, with plain
    spaces."""
    return " ".join(re.sub("[\\\\\u2068\u2069]", "", text).split())


def _is_empty(cell: Any) -> bool:
    return cell is None or cell == "" or (isinstance(cell, float) and np.isnan(cell))


def _is_link(cell: Any) -> bool:
    return isinstance(cell, str) and bool(re.match(r"\w+\?", cell))
