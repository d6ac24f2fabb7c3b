"""The command `compare`: two runs of one analysis, side by side."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import typer

from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.cli.console import Console, with_console
from bertviz_core.comparison.result import Comparison, compare
from bertviz_core.errors import SettingsError

compare_app = typer.Typer()


@compare_app.command("compare")
@partial(with_console, without=("input",))
def compare_runs(
    console: Console,
    analysis: Annotated[str, typer.Argument(help="An analysis by the name of its command, such as surface-patterns.")],
    input: Annotated[list[str], typer.Argument(help="Files, folders, patterns, or the name of a built-in sample.")],
    other_model: Annotated[str | None, typer.Option(help="Run B's model; default: run A's.")] = None,
    other_input: Annotated[list[str] | None, typer.Option(help="Run B's file or sample; repeatable.")] = None,
    other_mode: Annotated[str | None, typer.Option(help="Run B's mode.")] = None,
    other_weights: Annotated[str | None, typer.Option(help="Run B's weights.")] = None,
    other_seed: Annotated[int | None, typer.Option(help="Run B's random seed.")] = None,
) -> None:
    """Two runs of one analysis: A as the options say, B with what the --other options change."""
    name = analysis.replace("-", "_")
    if name not in ANALYSES:
        commands = ", ".join(each.command for each in ANALYSES.values())
        raise SettingsError(f"There is no analysis {analysis!r}.", hint=f"Choose one of {commands}.")
    console.check_out(Comparison.analysis, Comparison)
    changed: dict[str, Any] = {
        "model": other_model,
        "input": other_input or None,
        "mode": other_mode,
        "weights": other_weights,
        "seed": other_seed,
    }
    first = replace(console, input=input)
    second = replace(first, **{option: value for option, value in changed.items() if value is not None})
    if other_model is not None:
        second.revision = None
    a, b = _request(name, first), _request(name, second)
    if a.key() == b.key():
        raise SettingsError(
            "Both runs are the same, or differ in nothing that this analysis reads.",
            hint="Give --other-model, --other-input, --other-mode, --other-weights or --other-seed.",
        )
    console.write(compare(console.computed(a), console.computed(b)))


def _request(name: str, console: Console) -> Request:
    settings = ANALYSES[name].relevant(console.settings())
    options = ANALYSES[name].options().in_mode(settings.paper).to_json()
    source = console.corpus(ANALYSES[name])
    return Request(name, console.checkpoint(), source, settings, options)
