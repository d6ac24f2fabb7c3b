"""Pages of HTML that need no network, and what they are made of; every text is plain, and nothing in it is markup."""

import re
from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from bertviz_core.plotting.palette import ON_WHITE

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
    """A paragraph; `strong` where it is the claim of a section."""
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
