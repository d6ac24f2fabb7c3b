"""The command line: one command for each analysis, from the same store and with the same numbers as the pages."""

from __future__ import annotations

import inspect
import sys
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from bertviz_core import exports
from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.cli.combined import combined_app
from bertviz_core.cli.console import Console, parameters, with_console
from bertviz_core.cli.inputs import inputs_app
from bertviz_core.cli.store import store_app
from bertviz_core.corpora.source import from_path
from bertviz_core.engine.store import Store
from bertviz_core.errors import BertvizError
from bertviz_core.models import checkpoint
from bertviz_core.overview import stored_results
from bertviz_core.settings import Settings

COMMAND = "bertviz-core"  # as pyproject.toml installs it

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)


def add_analysis(app: typer.Typer, analysis: Analysis) -> None:
    """Add the command of one analysis."""

    def command(console: Console, **values: Any) -> None:
        view = analysis.view(**_of(analysis.view, values))
        chosen = _of(analysis.options, values)
        files = {name: from_path(path) for name, path in chosen.items() if isinstance(path, Path)}
        console.analyze(analysis, analysis.options(**chosen), view, files)

    command.__name__, command.__doc__ = analysis.name, analysis.summary
    own = [*parameters(analysis.options), *parameters(analysis.view)]
    command.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    without = ("input", "text_column") if analysis.corpus == "random" else ()
    app.command(analysis.command)(with_console(command, without))


def _of(options: type, values: dict[str, Any]) -> dict[str, Any]:
    """The values of a dataclass's fields."""
    defaults = {field.name: field.default for field in fields(options)}
    return {
        name: tuple(part.strip() for part in values[name].split(",")) if isinstance(default, tuple) else values[name]
        for name, default in defaults.items()
    }


for analysis in ANALYSES.values():
    add_analysis(app, analysis)


@app.command("overview")
def overview(
    model: Annotated[str, typer.Option(help="`demo`, a local folder, or a hub name.")] = "demo",
    revision: Annotated[str | None, typer.Option(help="A hub model's branch, tag or commit.")] = None,
    mode: Annotated[str, typer.Option(help="corrected, or paper to follow the authors' code.")] = "corrected",
    weights: Annotated[str, typer.Option(help="attention, or norms: how much each weight moves.")] = "attention",
    store: Annotated[Path | None, typer.Option(help="Folder of the store of results.")] = None,
    out: Annotated[list[Path] | None, typer.Option(help="Output file, .csv or .json; repeatable.")] = None,
) -> None:
    """A table of all heads from what is stored of a model, each analysis on its largest corpus; nothing is computed."""
    for path in out or []:
        exports.check_path(path, stored_results.SUFFIXES)
    settings = Settings(mode=mode, weights=weights)  # type: ignore[arg-type]
    table = stored_results.overview(Store(store), checkpoint.find(model, revision), settings)
    for path in out or []:
        exports.write_bytes(path, table.to_bytes(path.suffix.lower()))
    if not out:
        print(table.to_text())


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
