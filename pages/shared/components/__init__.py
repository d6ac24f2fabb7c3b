"""Components with JavaScript of their own."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from bertviz_core.viewer.files import FOLDER as VIEWER
from bertviz_core.viewer.files import text_of
from pages.shared import files

HERE = Path(__file__).parent


class Note(NamedTuple):
    """A line below a drawing, with its link into the attention viewer; empty for none."""

    text: str
    link: str


@cache
def component(name: str, folder: Path = HERE, **options: Any) -> Callable[..., Any]:
    """Load the component NAME.js of a folder with its NAME.css or, in this folder, the shared style sheet."""
    script = "".join(map(text_of, (VIEWER / "elements.js", HERE / "shared.js", folder / f"{name}.js")))
    style = HERE / "components.css" if folder == HERE else folder / f"{name}.css"
    return st.components.v2.component(name, js=script, css=text_of(style), **options)


def drawings(
    items: Sequence[tuple[str, str]], key: str, links: Sequence[str] = (), notes: Sequence[Sequence[Note]] = ()
) -> None:
    """Draw inline SVG, one (title, SVG) under the other: hover texts work, and lines take the theme's text color.

    Args:
        items: The drawings; the SVG's own text must be escaped already.
        key: Key of the component.
        links: To each drawing in the attention viewer, as `links.addresses` gives them; empty for none.
        notes: The lines below each drawing.
    """
    names = [f"{files.picture_name(title.partition(':')[0])}.svg" for title, _ in items]
    rows = zip(items, names, links or [""] * len(items), notes or [()] * len(items), strict=True)
    data = [
        {"title": title, "svg": svg, "file": name, "link": link, "notes": [note._asdict() for note in below]}
        for (title, svg), name, link, below in rows
    ]
    component("drawings", html='<div class="drawings"></div>')(data=data, key=key)
