"""The command `report`: the paper retold for one model."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bertviz_core.cli.console import Console, with_console
from bertviz_core.corpora.samples import find_source
from bertviz_core.engine.store import Store
from bertviz_core.errors import SettingsError
from bertviz_core.paper_report.pages import check_out, write_report
from bertviz_core.paper_report.request import ReportRequest

NONE = "none"

report_app = typer.Typer()


@report_app.command("report")
@partial(with_console, without=("input",))
def report(
    console: Console,
    text: Annotated[str, typer.Option(help="Text for sections 3 and 6; `none` leaves them out.")] = "encyclopedia",
    treebank: Annotated[str, typer.Option(help="Treebank for sections 4.2 and 5, or `none`.")] = "treebank",
    coreference: Annotated[str, typer.Option(help="Corpus for section 4.3, or `none`.")] = "coreference",
) -> None:
    """The paper retold for one model: every figure and table, and which claims hold. --out x.html is one page that
    needs no network; --out FOLDER is report.md with SVG figures."""
    if not console.out:
        raise SettingsError("A report is written to a file.", hint="Give --out report.html, or a folder.")
    for path in console.out:
        check_out(path)
    named = {"text": text, "treebank": treebank, "coreference": coreference}
    corpora = {kind: find_source(name) for kind, name in named.items() if name != NONE}
    request = ReportRequest(console.checkpoint(), corpora, console.settings())
    request.settings.check(request.checkpoint.max_length)
    with ExitStack() as stack:
        store = console.opened_store() or Store(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        if announcement := request.announcement(store):
            console.say(announcement)
        failed = request.compute(store, console.execution(), console.progress())
        written = request.read(store, failed)
    for path in console.out:
        write_report(written, path)
