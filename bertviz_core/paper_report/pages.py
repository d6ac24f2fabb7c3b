"""A report as one HTML page that needs no network and prints on A4, or as Markdown with SVG figures beside it."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from bertviz_core.errors import SettingsError
from bertviz_core.exports import write_bytes
from bertviz_core.paper_report.blocks import Block, Bullets, Code, Heading, Paragraph, Picture, Table
from bertviz_core.paper_report.request import Report
from bertviz_core.paper_report.sections import contents

MARKDOWN, FIGURES = "report.md", "figures"  # inside the folder of a report
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")
STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1f2430;
  background: #fff; }
h1 { font-size: 1.9rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #dee2e6; } h3 { margin: 1.2rem 0 .3rem; }
figure { margin: 1.2rem 0; } figure svg { max-width: 100%; height: auto; } .wide { overflow-x: auto; }
figcaption, .caption { color: #5c6370; font-size: .85rem; margin: 1rem 0 0; }
table { border-collapse: collapse; font-size: .85rem; margin: .3rem 0 1rem; }
th, td { padding: .2rem .5rem; text-align: left; vertical-align: top; border-bottom: 1px solid #e9ecef; }
th { border-bottom: 2px solid #adb5bd; } td.number { text-align: right; white-space: nowrap; }
.strong { font-weight: 600; } pre { background: #f8f9fa; padding: .8rem; font-size: .8rem; white-space: pre-wrap; }
li { overflow-wrap: anywhere; }
@page { size: A4; margin: 16mm 14mm; }
@media print {
  body { font-size: 10pt; max-width: none; margin: 0; padding: 0; } table { font-size: 8pt; }
  h1, h2, h3, .caption { break-after: avoid; } figure, tr, li { break-inside: avoid; }
  thead { display: table-header-group; } figure svg { max-height: 140mm; }
  #figure-1 svg, #figure-5 svg { max-height: 200mm; } .wide { overflow: visible; }
  p, li { orphans: 3; widows: 3; }
}
"""


def to_html(report: Report) -> bytes:
    """One page; no address in it leads anywhere."""
    title = f"What does {report.checkpoint.label} look at?"
    body = "\n".join(HTML[type(block)](block) for block in contents(report))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>\n{body}\n</body></html>\n"
    ).encode("utf-8", "replace")


def check_out(path: Path) -> None:
    """Raises SettingsError, ahead of any work, for a path that no report can be written to."""
    if path.suffix.lower() not in ("", ".html") or (path.suffix and path.is_dir()):
        raise SettingsError(f"A report cannot be written to {path.name!r}.", hint="Give a file x.html, or a folder.")
    if not path.parent.is_dir():
        raise SettingsError(f"There is no folder {str(path.parent)!r}.", hint="Give a path in an existing folder.")


def write_report(report: Report, path: Path) -> None:
    """One page for a path that ends in .html, else a folder; raises SettingsError where it cannot be written."""
    if path.suffix:
        write_bytes(path, to_html(report))
    else:
        write_folder(report, path)


def write_folder(report: Report, folder: Path) -> None:
    """`report.md`, and an SVG file for each figure in `figures`; raises SettingsError where they cannot be written."""
    try:
        (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"The folder cannot be made ({error.strerror}).", where=str(folder)) from error
    blocks = list(contents(report))
    for block in blocks:
        if isinstance(block, Picture):
            write_bytes(folder / FIGURES / f"{block.name}.svg", block.svg.encode("utf-8", "replace"))
    text = "\n\n".join(MARK[type(block)](block) for block in blocks)
    write_bytes(folder / MARKDOWN, f"{text}\n".encode("utf-8", "replace"))


def _html_table(table: Table) -> str:
    caption = f'<p class="caption">{escape(table.caption)}</p>' if table.caption else ""
    head = "".join(f"<th>{escape(name)}</th>" for name in table.header)
    rows = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in table.rows)
    return f'{caption}<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _html_cell(text: str) -> str:
    number = re.fullmatch(r"[+\-–]?[\d,.]*%?", text) is not None
    return f"<td{' class=number' if number else ''}>{escape(text)}</td>"


def _html_picture(picture: Picture) -> str:
    """A figure as HTML, with a viewBox, so that a wide drawing shrinks to the page."""
    drawn = picture.svg
    size = re.match(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"', drawn)
    if size and "viewBox" not in drawn[: drawn.index(">")]:
        drawn = drawn.replace("<svg ", f'<svg viewBox="0 0 {size[1]} {size[2]}" ', 1)
    return f'<figure id="{picture.name}">{drawn}<figcaption>{escape(picture.caption)}</figcaption></figure>'


HTML: dict[type[Block], Callable[[Any], str]] = {
    Heading: lambda block: f"<h{block.level}>{escape(block.text)}</h{block.level}>",
    Paragraph: lambda block: f"<p{' class=strong' if block.strong else ''}>{escape(block.text)}</p>",
    Bullets: lambda block: f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in block.items)}</ul>",
    Table: _html_table,
    Picture: _html_picture,
    Code: lambda block: f"<pre>{escape(block.text)}</pre>",
}


def markdown(text: str) -> str:
    """Escape a text for Markdown, on one line."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split())).replace("&", "&amp;")


def _mark_table(table: Table) -> str:
    lines = [table.header, ["---"] * len(table.header)]
    rows = [f"| {' | '.join(map(markdown, row))} |" for row in table.rows]
    head = [f"| {' | '.join(map(markdown, lines[0]))} |", f"| {' | '.join(lines[1])} |"]
    caption = [f"*{markdown(table.caption)}*", ""] if table.caption else []
    return "\n".join([*caption, *head, *rows])


MARK: dict[type[Block], Callable[[Any], str]] = {
    Heading: lambda block: f"{'#' * block.level} {markdown(block.text)}",
    Paragraph: lambda block: f"**{markdown(block.text)}**" if block.strong else markdown(block.text),
    Bullets: lambda block: "\n".join(f"- {markdown(item)}" for item in block.items),
    Table: _mark_table,
    Picture: lambda block: f"![{markdown(block.caption)}]({FIGURES}/{block.name}.svg)\n\n*{markdown(block.caption)}*",
    Code: lambda block: f"```\n{block.text}\n```",
}
