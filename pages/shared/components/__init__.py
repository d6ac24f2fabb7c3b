"""Components with JavaScript of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

HERE = Path(__file__).parent


def component(name: str, **options: Any) -> Callable[..., Any]:
    """The component that NAME.js and NAME.css of this folder draw."""
    return st.components.v2.component(name, js=_text(f"{name}.js"), css=_text(f"{name}.css"), **options)


@cache
def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
