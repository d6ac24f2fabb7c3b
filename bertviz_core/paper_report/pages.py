"""A report as one HTML page that needs no network and prints on A4, or as Markdown with SVG figures beside it."""

from __future__ import annotations

from html import escape
from pathlib import Path

from bertviz_core.errors import SettingsError
from bertviz_core.exports import write_bytes
from bertviz_core.paper_report.blocks import FIGURES, Picture
from bertviz_core.paper_report.request import Report
from bertviz_core.paper_report.sections import contents

MARKDOWN = "report.md"  # inside the folder of a report
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
    body = "\n".join(block.html() for block in contents(report))
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
    """One page for a path that ends in .html, else a folder: `report.md`, and an SVG file for each figure in `figures`;
    raises SettingsError where they cannot be written."""
    if path.suffix:
        write_bytes(path, to_html(report))
        return
    try:
        (path / FIGURES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"The folder cannot be made ({error.strerror}).", where=str(path)) from error
    blocks = list(contents(report))
    for block in blocks:
        if isinstance(block, Picture):
            write_bytes(path / FIGURES / f"{block.name}.svg", block.svg.encode("utf-8", "replace"))
    text = "\n\n".join(block.markdown() for block in blocks)
    write_bytes(path / MARKDOWN, f"{text}\n".encode("utf-8", "replace"))
