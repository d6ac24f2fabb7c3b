"""The commands that combine several results: `emergence`, `compare` and `report`."""

import sys
from contextlib import nullcontext
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import View
from bertviz_core.analyses.requests import compute_all, find
from bertviz_core.cli.console import Console, with_console
from bertviz_core.comparison.result import Comparison, compare
from bertviz_core.corpora.files import find_sources
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.series import Series
from bertviz_core.emergence.training_folder import find_training
from bertviz_core.engine.store import temporary_store
from bertviz_core.errors import ModelError, SettingsError
from bertviz_core.paper_report.pages import check_out, write_report
from bertviz_core.paper_report.request import ReportRequest

combined_app = typer.Typer()
MANY = "a file, folder or pattern, repeatable"
OR_NONE = f"{MANY}, or `none`; default: the sample"
NONE = "none"


@combined_app.command("emergence")
@partial(with_console, without=("input", "model", "revision"))
def emergence(
    console: Console,
    folder: Annotated[Path, typer.Argument(help="A folder of checkpoints: step-0000500, checkpoint-500, ...")],
    text: Annotated[
        list[str] | None, typer.Option(help=f"Text for surface patterns, entropy and the loss; {MANY}.")
    ] = None,
    treebank: Annotated[list[str] | None, typer.Option(help=f"Treebank for dependency heads; {MANY}.")] = None,
) -> None:
    """How the heads' behaviors develop during training: every checkpoint of a folder, side by side."""
    console.check_out(Emergence.analysis)
    texts = find_sources(text or ["encyclopedia"])
    trees = find_sources(treebank or ["treebank"])
    series = Series(find_training(folder), texts, trees, console.settings())
    opened = console.opened_store()
    with nullcontext(opened) if opened else temporary_store() as store:
        try:
            compute_all(series.requests(), store, console.execution(), console.progress())
        except ModelError as error:  # of single checkpoints, which are skipped and counted
            print(f"warning: {error}", file=sys.stderr)
        console.write(series.assemble(partial(find, store)))


@combined_app.command("compare")
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
    view: Annotated[str | None, typer.Option(help="The --view of dependency-heads, for both runs.")] = None,
) -> None:
    """Compare two runs of one analysis: run A as given by the options, run B with the --other options changed."""
    name = analysis.replace("-", "_")
    if name not in ANALYSES:
        commands = ", ".join(each.command for each in ANALYSES.values())
        raise SettingsError(f"There is no analysis {analysis!r}.", hint=f"Choose one of {commands}.")
    console.check_out(Comparison.analysis)
    shown = _view(ANALYSES[name], view)
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
    a, b = (run.request(ANALYSES[name], ANALYSES[name].options()) for run in (first, second))
    if a.key() == b.key():
        raise SettingsError(
            "Both runs are the same, or differ in nothing that this analysis reads.",
            hint="Give --other-model, --other-input, --other-mode, --other-weights or --other-seed.",
        )
    results = (shown.show(console.computed(run), run, lambda _: None) for run in (a, b))
    console.write(compare(*results))


def _view(analysis: Analysis, view: str | None) -> View:
    """How both runs are shown; raises SettingsError for a view that the analysis does not have."""
    if view is None:
        return View()
    if not any(field.name == "view" for field in fields(analysis.view)):
        hint = "It selects trees for dependency-heads."
        raise SettingsError(f"--view is not an option of {analysis.command}.", hint=hint)
    chosen = analysis.view(view=view)  # type: ignore[call-arg]
    chosen.check()
    return chosen


@combined_app.command("report")
@partial(with_console, without=("input",))
def report(
    console: Console,
    text: Annotated[list[str] | None, typer.Option(help=f"Text for sections 3 and 6: {OR_NONE}.")] = None,
    treebank: Annotated[list[str] | None, typer.Option(help=f"Treebank for sections 4.2 and 5: {OR_NONE}.")] = None,
    coreference: Annotated[list[str] | None, typer.Option(help=f"Corpus for section 4.3: {OR_NONE}.")] = None,
) -> None:
    """Write the paper's figures and tables for one model, and which of its statements the model shows, to --out
    x.html, one self-contained page."""
    if not console.out:
        raise SettingsError("A report is written to a file.", hint="Give --out report.html.")
    for path in console.out:
        check_out(path)
    named = {
        "text": text or ["encyclopedia"],
        "treebank": treebank or ["treebank"],
        "coreference": coreference or ["coreference"],
        "random": ["random"],
    }
    corpora = {kind: find_sources(names) for kind, names in named.items() if names != [NONE]}
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
