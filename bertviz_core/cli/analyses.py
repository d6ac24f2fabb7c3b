"""A command for each analysis, with the options that the analysis itself names."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typing_extensions import Doc

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.cli.console import Console, with_console
from bertviz_core.corpora.source import from_path


def add_analysis(app: typer.Typer, analysis: Analysis) -> None:
    """Add the command of one analysis."""

    def command(console: Console, **values: Any) -> None:
        view = analysis.view(**_of(analysis.view, values))
        chosen = _of(analysis.options, values)
        files = {name: from_path(path) for name, path in chosen.items() if isinstance(path, Path)}
        console.analyze(analysis, analysis.options(**chosen), view, files)

    parameters = [*_parameters(analysis.options), *_parameters(analysis.view)]
    console = inspect.Parameter("console", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    command.__name__, command.__doc__ = analysis.name, analysis.summary
    command.__signature__ = inspect.Signature([console, *parameters])  # type: ignore[attr-defined]
    app.command(analysis.command)(with_console(command))


def _parameters(options: type) -> list[inspect.Parameter]:
    """Typer's parameters for the fields of a dataclass; a tuple of strings is one option with commas between."""
    hints = get_type_hints(options, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=",".join(field.default) if isinstance(field.default, tuple) else field.default,
            annotation=_annotated(hints[field.name], field.name),
        )
        for field in fields(options)
    ]


def _annotated(hint: Any, name: str) -> Any:
    assert get_origin(hint) is Annotated, name
    kind, doc = get_args(hint)
    assert isinstance(doc, Doc)
    flag = "--" + name.replace("_", "-")
    if kind is bool:
        return Annotated[bool, typer.Option(flag, help=doc.documentation)]
    return Annotated[str if get_origin(kind) is tuple else kind, typer.Option(help=doc.documentation)]


def _of(options: type, values: dict[str, Any]) -> dict[str, Any]:
    """The values of a dataclass's fields."""
    defaults = {field.name: field.default for field in fields(options)}
    return {
        name: tuple(part.strip() for part in values[name].split(",")) if isinstance(default, tuple) else values[name]
        for name, default in defaults.items()
    }
