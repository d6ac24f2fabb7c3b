"""Inline SVG on a page: hover texts work, and lines take the theme's text color."""

from __future__ import annotations

from collections.abc import Sequence

from pages.shared import files
from pages.shared.components import component


def drawings(items: Sequence[tuple[str, str]], key: str, links: Sequence[str] = ()) -> None:
    """(title, SVG) one under the other; the SVG's own text must be escaped already.

    Args:
        items: The drawings.
        key: Of the component.
        links: To each drawing in the attention viewer, as `viewer_link.hidden` gives them; empty for none.
    """
    names = [f"{files.picture_name(title.partition(':')[0])}.svg" for title, _ in items]
    rows = zip(items, names, links or [""] * len(items), strict=True)
    data = [{"title": title, "svg": svg, "file": name, "link": link} for (title, svg), name, link in rows]
    component("drawings", html='<div class="drawings"></div>')(data=data, key=key)
