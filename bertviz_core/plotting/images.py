"""Figures as SVG files: plotly's own drawing, through kaleido and an installed Chromium or Chrome."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import plotly.graph_objects as go

from bertviz_core.errors import SettingsError
from bertviz_core.plotting.drawing import Drawing
from bertviz_core.plotting.template import ON_WHITE

WIDTH, HEIGHT = 900, 450  # pixels, of a figure that has no size of its own
HINT = "Run `pip install kaleido`, or choose .html: its figures are saved as SVG from the browser."


def check() -> None:
    """Raise SettingsError where kaleido is not installed; called ahead of any work."""
    if find_spec("kaleido") is None:
        raise SettingsError("A figure is written as .svg by kaleido, which is not installed.", hint=HINT)


def svg(figures: Sequence[go.Figure], origin: str = "") -> list[bytes]:
    """Draw figures on white, all in one start of the browser.

    Args:
        figures: What is drawn.
        origin: What they were made from, at their foot.

    Raises:
        SettingsError: kaleido is not installed, or finds no browser.
    """
    check()
    from kaleido.errors import BrowserFailedError, ChromeNotFoundError

    specs = [Drawing.of(go.Figure(figure).update_layout(template=ON_WHITE)).spec(origin=origin) for figure in figures]
    try:
        with ThreadPoolExecutor(1) as thread:  # a notebook's own thread has an event loop that is running
            return thread.submit(asyncio.run, _drawn(specs)).result()
    except (ChromeNotFoundError, BrowserFailedError) as error:
        hint = f"Install Chromium, or name its file in BROWSER_PATH. {HINT.partition(', or ')[2].capitalize()}"
        raise SettingsError(
            "A figure is written as .svg by a browser, and none could be started.", hint=hint
        ) from error


async def _drawn(specs: Sequence[dict[str, Any]]) -> list[bytes]:
    """The figures, one after another, without the formulas' script that kaleido would fetch from the network."""
    from kaleido import Kaleido

    async with Kaleido(mathjax=False) as browser:
        sizes = [{"width": WIDTH, "height": HEIGHT} | _size(spec["layout"]) for spec in specs]
        return [
            await browser.calc_fig(spec, opts={"format": "svg", **size})
            for spec, size in zip(specs, sizes, strict=True)
        ]


def _size(layout: dict[str, Any]) -> dict[str, int]:
    return {side: layout[side] for side in ("width", "height") if layout.get(side)}
