"""A result as a part of an HTML page: title, findings, figures, table, what was skipped, and its origin."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import plotly.graph_objects as go

from bertviz_core.analyses.results import Result, origin
from bertviz_core.numbers import number
from bertviz_core.plotting.palette import ON_WHITE

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1f2430; }
figure { margin: 1.5rem 0; } .scroll { overflow: auto; max-height: 40rem; }
.findings li { color: #1f2430; font-size: 16px; }
table { border-collapse: collapse; font-size: 14px; } th { position: sticky; top: 0; background: #fff; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #e9ecef; }
ul { color: #5c6370; font-size: 14px; }
"""


def page(title: str, *sections: str, style: str = STYLE) -> str:
    """A whole page that needs no network: plotly's script, then the sections."""
    from plotly.offline import get_plotlyjs

    head = f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title><style>{style}</style>'
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{head}<script>{get_plotlyjs()}</script></head>'
        f"<body>{''.join(sections)}</body></html>"
    )


def section(result: Result, title: str, figures: Mapping[str, go.Figure], sentences: list[str]) -> str:
    """One result; everything that came from a file is escaped.

    Args:
        result: What is shown.
        title: Its heading.
        figures: By their titles, which stand above them and not in them.
        sentences: What it shows.
    """
    shown = "".join(f"<figure><h2>{escape(name)}</h2>{drawn(figure)}</figure>" for name, figure in figures.items())
    skipped = [f"{entry['count']:,} × {entry['reason']}" for entry in result.provenance["skipped"]]
    origins = (f"<h2>Where {name} come from</h2>{_list(described_origin(run))}" for name, run in result.runs.items())
    return (
        f"<section><h1>{escape(title)}</h1><div "
        f"class=findings>{_list(sentences)}</div>{_list(result.notes)}{shown}<h2>Table</h2>"
        f"<div class=scroll>{_table(result)}</div><h2>Skipped or modified</h2>{_list(skipped or ['Nothing.'])}"
        f"{''.join(origins)}</section>"
    )


def described_origin(provenance: dict[str, Any]) -> list[str]:
    """What a result was computed from, as "name: value"; what is not set is left out."""
    values = origin(provenance) | {"limit": origin(provenance)["limit"] or "all inputs"}
    return [f"{name.replace('_', ' ')}: {value}" for name, value in values.items() if value is not None]


def drawn(figure: go.Figure) -> str:
    """A figure as an element of `page`; its camera saves SVG."""
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg"}}
    return figure.update_layout(template=ON_WHITE).to_html(config, include_plotlyjs=False, full_html=False)


def _table(result: Result) -> str:
    return result.to_frame().to_html(index=False, float_format=number, na_rep="–", border=0)


def _list(lines: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""
