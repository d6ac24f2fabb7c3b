"""Components that are drawn by JavaScript."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from bertviz_core.plotting.browser import FOLDER, text_of

HERE = Path(__file__).parent
SHARED = (HERE / "streamlit_internals.js", HERE / "shared.js")


@cache
def component(name: str, folder: Path = HERE, **options: Any) -> Callable[..., Any]:
    """Load the component NAME.js of a folder, with its parts NAME_*.js and NAME.css; here all share one style sheet."""
    parts = [*sorted(folder.glob(f"{name}_*.js")), folder / f"{name}.js"]
    script = "".join(map(text_of, (FOLDER / "elements.js", *SHARED, *parts)))
    style = HERE / "components.css" if folder == HERE else folder / f"{name}.css"
    return st.components.v2.component(name, js=script, css=text_of(style), **options)
