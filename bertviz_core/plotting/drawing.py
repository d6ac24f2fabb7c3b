"""Figures as plotly's JSON, checked once, with the chosen head ringed in a copy that shares the rest; as SVG files, by
plotly's own drawing through kaleido and an installed Chromium or Chrome; and in pages of HTML that need no network, in
which every text is plain, and nothing in it is markup.

Building a figure costs plotly 10 to 50 ms, most of it in checking values that were right the last time.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head
from bertviz_core.plotting.palette import ON_WHITE, written_out
from bertviz_core.plotting.style import RING

FOOT, LINE = 24, 58  # pixels, for the line that says what a figure was made from; its characters in half a narrow page
Spec = dict[str, Any]
WIDTH, HEIGHT = 900, 450  # pixels, of a figure that has no size of its own
HINT = "Run `pip install kaleido`, or choose .html: its figures are saved as SVG from the browser."


@dataclass(frozen=True)
class FigureSpec:
    """A figure as plotly's JSON; shared between readers and never changed. `points`: label of a head, from 1 -> (trace,
    x, y) wherever `customdata` names it."""

    data: tuple[Spec, ...]
    layout: Spec
    points: Mapping[str, list[tuple[int, Any, Any]]]

    @classmethod
    def of(cls, figure: go.Figure) -> FigureSpec:
        """The drawing of a figure."""
        points: dict[str, list[tuple[int, Any, Any]]] = {}
        for index, trace in enumerate(figure.data):
            if trace.type == "scatter" and trace.customdata is not None and trace.x is not None:
                xs, ys = np.asarray(trace.x).tolist(), np.asarray(trace.y).tolist()
                for x, y, named in zip(xs, ys, trace.customdata, strict=True):
                    if np.ndim(named) and re.fullmatch(r"\d+-\d+", str(named[0])):
                        points.setdefault(named[0], []).append((index, x, y))
        spec = json.loads(figure.to_json())
        return cls(tuple(spec["data"]), written_out(spec["layout"]), points)

    def spec(self, chosen: Head | None = None, origin: str = "", shapes: Sequence[Spec] = ()) -> Spec:
        """The figure for one reader: the dots of the chosen head get a circle, the origin is printed at the bottom, so
        that a saved picture has it, and `shapes` are added to those of the layout."""
        data = list(self.data)
        for index, x, y in self.points.get(chosen.label(), ()) if chosen else ():
            data.append(_circle(data[index], x, y))
        return {"data": data, "layout": self._layout(origin, shapes)}

    def _layout(self, origin: str, shapes: Sequence[Spec]) -> Spec:
        margin = self.layout.get("margin", {})
        position = {"x": 1, "xanchor": "right", "xref": "container", "y": 0, "yanchor": "bottom", "yref": "container"}
        font = {"size": 11, "color": "#6b7280", "weight": "normal"}
        lines = wrap(origin.replace("<", "&lt;"), LINE)
        more = 14 * len(lines[1:])  # pixels
        foot = FOOT + more
        return self.layout | {
            "title": {"text": "<br>".join(lines), "font": font, "pad": {"b": 5 + more}, **position},
            "height": self.layout.get("height", 450) + foot,
            "margin": margin | {"b": margin.get("b", 45) + foot},
            "shapes": [*self.layout.get("shapes", ()), *shapes],
        }


def _circle(trace: Spec, x: float, y: float) -> Spec:
    size = trace["marker"]["size"]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [x],
        "y": [y],
        **{axis: trace[axis] for axis in ("xaxis", "yaxis") if axis in trace},
        "marker": {"symbol": "circle-open", "size": size + max(7, size // 2 + 3), "color": RING, "line": {"width": 2}},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def check_svg() -> None:
    """Raise SettingsError where kaleido is not installed; called ahead of any work."""
    if find_spec("kaleido") is None:
        raise SettingsError("A figure is written as .svg by kaleido, which is not installed.", hint=HINT)


def to_svg(figure: go.Figure, origin: str = "") -> bytes:
    """Draw a figure on white, with what it was made from at its foot; raises SettingsError where kaleido is not
    installed, or finds no browser."""
    check_svg()
    from kaleido.errors import BrowserFailedError, ChromeNotFoundError

    spec = FigureSpec.of(go.Figure(figure).update_layout(template=ON_WHITE)).spec(origin=origin)
    try:
        with ThreadPoolExecutor(1) as thread:  # a notebook's own thread has an event loop that is running
            return thread.submit(asyncio.run, _drawn(spec)).result()
    except (ChromeNotFoundError, BrowserFailedError) as error:
        hint = f"Install Chromium, or name its file in BROWSER_PATH. {HINT.partition(', or ')[2].capitalize()}"
        raise SettingsError(
            "A figure is written as .svg by a browser, and none could be started.", hint=hint
        ) from error


async def _drawn(spec: Spec) -> bytes:
    """Draw the figure without MathJax, which kaleido would fetch from the network."""
    from kaleido import Kaleido

    size = {side: spec["layout"].get(side) or usual for side, usual in (("width", WIDTH), ("height", HEIGHT))}
    async with Kaleido(mathjax=False) as browser:
        drawn: bytes = await browser.calc_fig(spec, opts={"format": "svg", **size})
        return drawn


STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1f2430; }
figure { margin: 1.5rem 0; } .scroll { overflow: auto; max-height: 40rem; }
.findings li { color: #1f2430; font-size: 16px; }
table { border-collapse: collapse; font-size: 14px; } th { position: sticky; top: 0; background: #fff; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #e9ecef; }
ul { color: #5c6370; font-size: 14px; }
"""


def html_page(title: str, *sections: str, style: str = STYLE) -> str:
    """A whole page that needs no network: plotly's script, then the sections."""
    head = f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title><style>{style}</style>'
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{head}<script>{get_plotlyjs()}</script></head>'
        f"<body>{''.join(sections)}</body></html>"
    )


def figure_html(figure: go.Figure) -> str:
    """A figure as an element of `html_page`; its camera saves SVG."""
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg"}}
    return figure.update_layout(template=ON_WHITE).to_html(config, include_plotlyjs=False, full_html=False)


def heading(text: str, level: int = 2) -> str:
    """A heading: `level` is 1 for the title, 2 for a section, 3 inside one."""
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str, strong: bool = False) -> str:
    """A paragraph; `strong` if it is the main finding of a section."""
    return f"<p{' class=strong' if strong else ''}>{escape(text)}</p>"


def bullets(items: Sequence[str]) -> str:
    """A list of items; nothing where there are none."""
    return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>" if items else ""


def table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with its caption above; `rows` are cells as they are shown, each row as long as the header."""
    above = f'<p class="caption">{escape(caption)}</p>' if caption else ""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f'{above}<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def picture(figure: go.Figure, caption: str) -> str:
    """A figure with its caption."""
    return f"<figure>{figure_html(figure)}<figcaption>{escape(caption)}</figcaption></figure>"


def code(text: str) -> str:
    """Lines that readers copy."""
    return f"<pre>{escape(text)}</pre>"


def _cell(text: str) -> str:
    number = re.fullmatch(r"[+\-–]?[\d,.]*%?", text) is not None
    return f"<td{' class=number' if number else ''}>{escape(text)}</td>"
