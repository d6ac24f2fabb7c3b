"""The command `report`: the paper retold for one model."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import Annotated

import typer

from bertviz_core.cli.console import Console, with_console
from bertviz_core.corpora.files import find_sources
from bertviz_core.engine.temporary_store import temporary_store
from bertviz_core.errors import SettingsError
from bertviz_core.paper_report.pages import check_out, write_report
from bertviz_core.paper_report.request import ReportRequest

NONE = "none"
MANY = "a file, folder or pattern, repeatable, or `none`; default: the sample"

report_app = typer.Typer()


@report_app.command("report")
@partial(with_console, without=("input",))
def report(
    console: Console,
    text: Annotated[list[str] | None, typer.Option(help=f"Text for sections 3 and 6: {MANY}.")] = None,
    treebank: Annotated[list[str] | None, typer.Option(help=f"Treebank for sections 4.2 and 5: {MANY}.")] = None,
    coreference: Annotated[list[str] | None, typer.Option(help=f"Corpus for section 4.3: {MANY}.")] = None,
) -> None:
    """The paper retold for one model: every figure and table, and which claims hold. --out x.html is one page that
    needs no network; --out FOLDER is report.md with SVG figures."""
    if not console.out:
        raise SettingsError("A report is written to a file.", hint="Give --out report.html, or a folder.")
    for path in console.out:
        check_out(path)
    named = {
        "text": text or ["encyclopedia"],
        "treebank": treebank or ["treebank"],
        "coreference": coreference or ["coreference"],
    }
    corpora = {kind: find_sources(names, console.text_column) for kind, names in named.items() if names != [NONE]}
    request = ReportRequest(console.checkpoint(), corpora, console.settings())
    request.settings.check(request.checkpoint.max_length)
    opened = console.opened_store()
    with nullcontext(opened) if opened else temporary_store() as store:
        if announcement := request.announcement(store):
            console.say(announcement)
        failed = request.compute(store, console.execution(), console.progress())
        written = request.read(store, failed)
    for path in console.out:
        write_report(written, path)
