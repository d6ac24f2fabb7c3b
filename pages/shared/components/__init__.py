"""Components that are drawn by JavaScript."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from bertviz_core.plotting.browser import FOLDER, text_of

HERE = Path(__file__).parent
SHARED = (HERE / "streamlit_internals.js", HERE / "shared.js")
STYLE = HERE / "shared.css"


@cache
def component(name: str, folder: Path = HERE, **options: Any) -> Callable[..., Any]:
    """Load the component NAME.js of a folder, with its parts NAME_*.js and its style NAME.css, if it has one: every run
    of a page sends them."""
    parts = [*sorted(folder.glob(f"{name}_*.js")), folder / f"{name}.js"]
    script = "".join(map(text_of, (FOLDER / "elements.js", *SHARED, *parts)))
    styles = [STYLE] if folder == HERE else []
    style = "".join(map(text_of, [*styles, *folder.glob(f"{name}.css")]))
    return st.components.v2.component(name, js=script, css=style, **options)
