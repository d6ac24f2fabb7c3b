"""Figures as plotly's JSON, as SVG drawn by an installed Chromium or Chrome, and as HTML that needs no network."""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head
from bertviz_core.plotting import LOOK, ON_WHITE, RING
from bertviz_core.plotting.browser import FOLDER, UNSAFE, text_of
from bertviz_core.plotting.html import document

FIGURES = FOLDER / "figures.js"  # draws the figures of a page
Spec = dict[str, Any]
Dot = tuple[int, Any, Any]  # (trace, x, y)
# In pixels
WIDTH = 900  # width in pixels of a figure that has none of its own
HEIGHT = 450
FOOT = 24  # height in pixels of the first line of an origin
LINE = 14  # height in pixels of each further line
DOT = 6  # pixels of a dot whose size a figure does not say
DIGITS = 6  # of a number in a figure of a page; texts have fewer
NOT_FLAT = ("geo", "mapbox", "polar", "scene", "ternary")  # kinds of panels that no figure has
LINE_LENGTH = 58  # characters that fit in half a narrow page


@dataclass(frozen=True)
class FigureSpec:
    """A figure as plotly's JSON, which takes 10 to 50 ms to build; shared between readers and never changed.

    Attributes:
        data: The traces.
        points: The dots of each head.
    """

    data: tuple[Spec, ...]
    layout: Spec
    points: Mapping[str, list[Dot]]

    @classmethod
    def of(cls, figure: go.Figure) -> "FigureSpec":
        """Serialize a figure, with the shared look in its layout: Streamlit puts margins over those of a template."""
        points: dict[str, list[Dot]] = {}
        for index, trace in enumerate(figure.data):
            if trace.type == "scatter" and trace.customdata is not None and trace.x is not None:
                xs = np.asarray(trace.x).tolist()
                ys = np.asarray(trace.y).tolist()
                for x, y, named in zip(xs, ys, trace.customdata, strict=True):
                    if np.ndim(named) and re.fullmatch(r"\d+-\d+", str(named[0])):
                        points.setdefault(named[0], []).append((index, x, y))
        spec = json.loads(figure.to_json())
        layout = spec["layout"]
        shared = layout.get("template", {}).get("layout", {})
        look = {name: shared[name] for name in LOOK if name in shared}
        merged = {name: value | layout.get(name, {}) for name, value in look.items() if isinstance(value, dict)}
        return cls(tuple(spec["data"]), look | layout | merged, points)

    def spec(self, chosen: Head | None = None, origin: str = "") -> Spec:
        """The figure for one reader: circles around the chosen head's dots, and the origin at the bottom."""
        data = list(self.data)
        points = self.points.get(chosen.key(), ()) if chosen else ()
        for index, x, y in points:
            data.append(_circle(data[index], x, y))
        lines = wrap(origin.replace("<", "&lt;"), LINE_LENGTH)
        more = LINE * len(lines[1:])
        title = {
            "text": "<br>".join(lines),
            "font": {"size": 11, "color": "#6b7280", "weight": "normal"},
            "pad": {"b": 5 + more},
            **{"x": 1, "xanchor": "right", "xref": "container", "y": 0, "yanchor": "bottom", "yref": "container"},
        }
        margin = self.layout.get("margin", {})
        layout = self.layout | {
            "title": title,
            "height": self.layout.get("height", HEIGHT) + FOOT + more,
            "margin": margin | {"b": margin.get("b", 45) + FOOT + more},
        }
        return {"data": data, "layout": layout}


def _circle(trace: Spec, x: float, y: float) -> Spec:
    dot = trace.get("marker", {}).get("size", DOT)
    size = dot + max(7, dot // 2 + 3)
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [x],
        "y": [y],
        **{axis: trace[axis] for axis in ("xaxis", "yaxis") if axis in trace},
        "marker": {"symbol": "circle-open", "size": size, "color": RING, "line": {"width": 2}},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def check_svg() -> None:
    """Raise SettingsError without kaleido."""
    if find_spec("kaleido") is None:
        hint = "Run `pip install kaleido`, or choose .html: its figures are saved as SVG from the browser."
        raise SettingsError("A figure is written as .svg by kaleido, which is not installed.", hint=hint)


def to_svg(figure: go.Figure, origin: str = "") -> bytes:
    """Draw a figure on white, its origin at the bottom.

    Raises:
        SettingsError: There is no kaleido, or no browser.
    """
    check_svg()
    from kaleido import calc_fig_sync
    from kaleido.errors import BrowserFailedError, ChromeNotFoundError

    spec = FigureSpec.of(go.Figure(figure).update_layout(template=ON_WHITE)).spec(origin=origin)
    layout = spec["layout"]
    options = {"format": "svg", "width": layout.get("width") or WIDTH, "height": layout["height"]}
    offline = {"mathjax": False}  # Kaleido would fetch MathJax from the network.
    try:
        return calc_fig_sync(spec, opts=options, kopts=offline)
    except (ChromeNotFoundError, BrowserFailedError) as error:
        raise SettingsError(
            "A figure is written as .svg by a browser, and none could be started.",
            hint="Install Chromium, or name its file in BROWSER_PATH. Choose .html: its figures are saved as SVG from "
            "the browser.",
        ) from error


PRINT_CSS = """
:root {
  color-scheme: light dark;
  --text: #1f2430; --page: #fff; --note: #5c6370; --line: #dee2e6; --soft: #f8f9fa; --strong: #adb5bd;
}
body {
  font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: var(--text);
  background: var(--page);
}
h1 { font-size: 1.9rem; } h3 { margin: 1.2rem 0 .3rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
figure { margin: 1.2rem 0; } figure, .wide { overflow-x: auto; }
figcaption, .caption { color: var(--note); font-size: .85rem; margin: 1rem 0 0; }
table { border-collapse: collapse; font-size: .85rem; margin: .3rem 0 1rem; }
th, td { padding: .2rem .5rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { border-bottom: 2px solid var(--strong); } .dataframe td, td.number { text-align: right; white-space: nowrap; }
.strong { font-weight: 600; } pre { background: var(--soft); padding: .8rem; font-size: .8rem; white-space: pre-wrap; }
li { overflow-wrap: anywhere; }
@page { size: A4; margin: 16mm 14mm; }
/* Figures are drawn on white, as they are saved: what has the colors of their template takes the page's. */
@media screen and (prefers-color-scheme: dark) {
  :root { --text: #e6e8ef; --page: #14161c; --note: #a6abb8; --line: #343946; --soft: #1c1f28; --strong: #5c6370; }
  .js-plotly-plot .main-svg { background: transparent !important; }
  .js-plotly-plot rect.bg:is([style*="rgb(255, 255, 255)"], [style*="fill: white"]) { fill: transparent !important; }
  .js-plotly-plot text[style*="rgb(42, 63, 95)"] { fill: var(--text) !important; }
  .js-plotly-plot path[style*="rgb(235, 240, 248)"] { stroke: var(--line) !important; }
  .js-plotly-plot path[style*="fill: rgb(0, 0, 0)"] { fill: var(--text) !important; }
  .js-plotly-plot path[style*="stroke: rgb(0, 0, 0)"] { stroke: var(--text) !important; }
}
@media print {
  :root { color-scheme: light; }
  body { font-size: 10pt; max-width: none; margin: 0; padding: 0; }
  table { font-size: 8pt; } th, td { padding: .2rem .35rem; }
  h1, h2, h3, .caption { break-after: avoid; } figure, tr, li { break-inside: avoid; }
  thead { display: table-header-group; } .wide, figure { overflow: visible; } figure > div { zoom: .72; }
  p, li { orphans: 3; widows: 3; }
}
"""


def html_page(title: str, *sections: str) -> str:
    """A document that prints on A4: plotly's script, then the sections, and the script that draws their figures."""
    before, after = (f"<script>{script}</script>" for script in (get_plotlyjs(), text_of(FIGURES)))
    return document(title, *sections, after, style=PRINT_CSS, head=before, runs_scripts=True)


def figure_html(figure: go.Figure) -> str:
    """A figure as an element of a page that has plotly's script and FIGURES, where it can be saved as SVG."""
    figure.update_layout(template=ON_WHITE)
    width = f"{figure.layout.width}px" if figure.layout.width else "100%"
    size = f"height: {figure.layout.height or HEIGHT}px; width: {width}"
    spec = json.dumps(_compact(json.loads(figure.to_json())), ensure_ascii=False, separators=(",", ":"))
    data = f'<script type="application/json">{spec.translate(UNSAFE)}</script>'
    return f'<div class="plotly-graph-div" style="{size}"></div>{data}'


def _compact(spec: Spec) -> Spec:
    """A figure's JSON with the part of its template that it uses, and with numbers as exact as a screen."""
    kinds = {trace["type"] for trace in spec["data"]}
    template = spec["layout"]["template"]
    template = {
        "data": {kind: looks for kind, looks in template["data"].items() if kind in kinds},
        "layout": {name: look for name, look in template["layout"].items() if name not in NOT_FLAT},
    }
    return {"data": _rounded(spec["data"]), "layout": spec["layout"] | {"template": template}}


def _rounded(value: Any) -> Any:
    """JSON whose numbers have DIGITS, and whose arrays, as plotly encodes them, single precision."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, list):
        return [*map(_rounded, value)]
    if not isinstance(value, dict):
        return value
    if value.get("dtype") == "f8":
        single = np.frombuffer(b64decode(value["bdata"]), dtype="<f8").astype("<f4")
        return value | {"dtype": "f4", "bdata": b64encode(single.tobytes()).decode()}
    return {name: _rounded(each) for name, each in value.items()}
