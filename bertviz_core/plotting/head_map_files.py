"""The map of values of heads as an interactive page, in a frame for a notebook, and as SVG."""

import json

from bertviz_core.plotting.browser import FOLDER, drawing_page, in_frame, text_of
from bertviz_core.plotting.drawing import to_svg
from bertviz_core.plotting.head_map import HeadMap, map_figure

SCRIPTS = (FOLDER / "head_map_cells.js", FOLDER / "head_map.js", FOLDER / "map_page.js")
BODY = '<div id="map"></div>'
# As in head_map.js, in pixels
CELLS = 408  # the most height of all cells
CELL = 43  # the most height of one cell
AROUND = 130  # height of the axes, the color bar and the caption


def map_html(head_map: HeadMap, title: str, caption: str) -> str:
    """The map as an HTML page that needs no network: point at a head to read its value, click to ring it."""
    of_page = {"chosen": "", "alt": title, "name": "head-map", "origin": "", "height": None}
    return drawing_page(
        title=title,
        style=text_of(FOLDER / "head_map.css"),
        body=BODY,
        caption=caption,
        data=json.loads(head_map.encoded) | of_page,
        scripts=SCRIPTS,
    )


def map_frame(document: str, head_map: HeadMap) -> str:
    """The page of a map in a frame for a notebook."""
    return in_frame(document, title="Map of heads", height=AROUND + min(CELLS, CELL * head_map.heads))


def map_svg(head_map: HeadMap, caption: str) -> bytes:
    """The map as SVG with its caption at the foot; raises SettingsError without kaleido."""
    return to_svg(map_figure(head_map), caption)
