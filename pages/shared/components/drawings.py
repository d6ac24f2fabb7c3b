"""Inline SVG on a page: hover texts work, and lines take the theme's text color."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pages.shared import files
from pages.shared.components import component


class Note(NamedTuple):
    """A line below a drawing, with its link into the attention viewer; empty for none."""

    text: str
    link: str


def drawings(
    items: Sequence[tuple[str, str]], key: str, links: Sequence[str] = (), notes: Sequence[Sequence[Note]] = ()
) -> None:
    """(title, SVG) one under the other; the SVG's own text must be escaped already.

    Args:
        items: The drawings.
        key: Key of the component.
        links: To each drawing in the attention viewer, as `viewer_link.hidden` gives them; empty for none.
        notes: The lines below each drawing.
    """
    names = [f"{files.picture_name(title.partition(':')[0])}.svg" for title, _ in items]
    rows = zip(items, names, links or [""] * len(items), notes or [()] * len(items), strict=True)
    data = [
        {"title": title, "svg": svg, "file": name, "link": link, "notes": [note._asdict() for note in below]}
        for (title, svg), name, link, below in rows
    ]
    component("drawings", html='<div class="drawings"></div>')(data=data, key=key)
