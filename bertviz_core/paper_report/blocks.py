"""What a report is made of, as HTML; every text is plain, and nothing in it is markup."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from bertviz_core.plotting.drawing import figure_html


def heading(text: str, level: int = 2) -> str:
    """A heading: `level` is 1 for the title, 2 for a section, 3 inside one."""
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str, strong: bool = False) -> str:
    """A paragraph; `strong` where it is the claim of a section."""
    return f"<p{' class=strong' if strong else ''}>{escape(text)}</p>"


def bullets(items: Sequence[str]) -> str:
    """A list of items."""
    return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"


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
