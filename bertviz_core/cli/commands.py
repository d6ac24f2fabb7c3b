"""The command line: one command for each analysis, from the same store and with the same numbers as the pages."""

import inspect
import sys
from dataclasses import fields
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from bertviz_core import exports
from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.provenance import origin
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import read_header
from bertviz_core.cli.combined import combined_app
from bertviz_core.cli.console import Console, parameters, with_console
from bertviz_core.cli.inputs import inputs_app
from bertviz_core.corpora.source import from_path
from bertviz_core.engine.store import Entry, Store
from bertviz_core.engine.uploads import Uploads
from bertviz_core.errors import BertvizError
from bertviz_core.models import checkpoint
from bertviz_core.overview import stored_results

COMMAND = "bertviz-core"  # as pyproject.toml installs it
NOT_COMPUTED = (  # options that make no difference where nothing is computed
    *("input", "device", "dtype", "max_length", "limit", "seed", "batch_tokens"),
    *("workers", "ray", "no_store", "quiet"),
)

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)


def add_analysis(app: typer.Typer, analysis: Analysis) -> None:
    """Add the command of one analysis."""

    def command(console: Console, **values: Any) -> None:
        view = analysis.view(**_field_values(analysis.view, values))
        chosen = _field_values(analysis.options, values)
        files = {name: from_path(path) for name, path in chosen.items() if isinstance(path, Path)}
        console.analyze(analysis, analysis.options(**chosen), view, files)

    command.__name__, command.__doc__ = analysis.name, analysis.summary
    own = [*parameters(analysis.options), *parameters(analysis.view)]
    command.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    without = ("input",) if analysis.corpus == "random" else ()
    app.command(analysis.command)(with_console(command, without))


def _field_values(options: type, values: dict[str, Any]) -> dict[str, Any]:
    defaults = {field.name: field.default for field in fields(options)}
    return {
        name: tuple(part.strip() for part in values[name].split(",")) if isinstance(default, tuple) else values[name]
        for name, default in defaults.items()
    }


for analysis in ANALYSES.values():
    add_analysis(app, analysis)


@app.command("overview")
@partial(with_console, without=NOT_COMPUTED)
def overview(console: Console) -> None:
    """A table of all heads from a model's stored results, each analysis on its largest corpus; nothing is computed."""
    for path in console.out or []:
        exports.check_path(path, stored_results.SUFFIXES)
    found = checkpoint.find(console.model, console.revision)
    table = stored_results.overview(Store(console.store), found, console.settings())
    for path in console.out or []:
        exports.write_bytes(path, table.to_bytes(path.suffix.lower()))
    if not console.out:
        print(table.to_text())


store_app = typer.Typer(no_args_is_help=True, help="The store of results and uploads: size, list, clear.")
Folder = Annotated[Path | None, typer.Option("--store", help="Folder of the store; default: BERTVIZ_STORE.")]


@store_app.command("size")
def store_size(store: Folder = None) -> None:
    """Size on disk, folder and limit."""
    opened = Store(store)
    print(f"{opened.size():,} bytes in {opened.folder} (limit: {opened.limit:,})")


@store_app.command("list")
def store_list(store: Folder = None) -> None:
    """List every result and upload with its model, corpus, settings, date and size."""
    opened = Store(store)
    heads = dict(opened.heads())
    rows = [_entry_row(opened, entry, heads.get(entry.key, b"")) | _location(entry) for entry in opened.entries()]
    print(pd.DataFrame(rows).fillna("").to_string(index=False) if rows else "The store is empty.")


def _entry_row(store: Store, entry: Entry, head: bytes) -> dict[str, str]:
    if entry.kind == "upload":
        upload = Uploads(store).find(entry.key)
        return {"what": "upload", "corpus": upload.name, "settings": upload.kind} if upload else {"what": "upload"}
    if entry.kind == "work":  # an index of a corpus, or the chunks of an unfinished job
        return {"what": f"work: {entry.key.partition('/')[0]}" if "/" in entry.key else "work"}
    if entry.kind == "detail":
        return {"what": "guesses of a result"}
    try:
        return _result_row(head)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return {"what": "unreadable"}


def _result_row(head: bytes) -> dict[str, str]:
    header = read_header(head)
    if header is None:
        return {"what": "unreadable"}
    about, options = origin(header[1]), header[1]["options"]
    settings = [about["mode"], f"{about['max_length']} tokens", about["dtype"], f"seed {about['seed']}"]
    settings += [f"limit {about['limit']}"] if about["limit"] else []
    settings += [f"{name} {value}" for name, value in options.items() if isinstance(value, str | int | float)]
    model = Path(about["model"]).name
    return {"what": header[0], "model": model, "corpus": about["corpus"], "settings": ", ".join(settings)}


def _location(entry: Entry) -> dict[str, str]:
    date = datetime.fromtimestamp(entry.stored).strftime("%Y-%m-%d %H:%M")
    return {"stored": date, "size": f"{entry.size / 1e6:,.2f} MB", "key": entry.key[:12]}


@store_app.command("clear")
def store_clear(store: Folder = None) -> None:
    """Delete all results and uploads."""
    print(f"{Store(store).clear():,} entries cleared")


app.add_typer(inputs_app)
app.add_typer(combined_app)
app.add_typer(store_app, name="store")


def main() -> None:
    """Run the command line; a user's mistake is one message on standard error and exit code 2, never a traceback."""
    try:
        installed = Path(sys.argv[0]).stem == COMMAND
        app(prog_name=COMMAND if installed else "python -m bertviz_core")
    except BertvizError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
