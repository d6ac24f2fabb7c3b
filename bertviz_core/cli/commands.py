"""The commands: one for each analysis, and those on stored results, with the same store and numbers as the pages."""

import sys
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from bertviz_core import exports
from bertviz_core.analyses.base import guess_lists
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Options
from bertviz_core.analyses.base.result import describe_header, origin
from bertviz_core.analyses.base.view import View
from bertviz_core.analyses.run import compute
from bertviz_core.analyses.run.run_pass import check_head
from bertviz_core.cli import INPUT, Console, parameters, with_options
from bertviz_core.cli.input_commands import inputs_app
from bertviz_core.comparison.result import Comparison, compare
from bertviz_core.comparison.view import ComparisonView
from bertviz_core.corpora.files import NO_CORPUS, SAMPLES, every_kind, find_sources
from bertviz_core.corpora.source import from_path
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.series import CheckpointRequests
from bertviz_core.emergence.training import Training, find_training
from bertviz_core.emergence.view import EmergenceView
from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import Uploads
from bertviz_core.errors import BertvizError, DownloadNeeded, ModelError, SettingsError
from bertviz_core.head_atlas import headvis_reading, site
from bertviz_core.head_atlas.contents import ModelContents, requested_contents, stored_contents
from bertviz_core.heads import Head
from bertviz_core.models import checkpoint
from bertviz_core.models.loaded_models import LoadedModels
from bertviz_core.models.loading import load
from bertviz_core.one_head.clear_input import CaptionedSvg, clear_input_of, lines
from bertviz_core.one_head.description import one_head as describe_head
from bertviz_core.one_head.files import SUFFIXES, to_bytes, to_text
from bertviz_core.one_head.training import with_stored_training
from bertviz_core.overview import stored_results
from bertviz_core.overview.finder import HeadSearch
from bertviz_core.paper_report.pages import to_html
from bertviz_core.paper_report.report import ReportRequest
from bertviz_core.text_display import printable

USED = {"model", "revision", "mode", "weights", "store", "out"}  # by `overview` and `head`, which run no analysis
MANY = "a file, folder or pattern, repeatable"
OR_NONE = f"{MANY}, or `none`; default: the sample"
NONE = "none"
Inputs = list[str] | None

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)


def add_analysis(analysis: Analysis[Any, Any]) -> None:
    """Add the command of an analysis: its own options and those of its view, then those that all commands share."""

    def command(console: Console, options: Options, view: View[Any]) -> None:
        files = {name: from_path(path) for name in options.files() if (path := getattr(options, name))}
        console.check_out(exports.suffixes(analysis.name))
        request = console.request(analysis, options, files)
        check_head(view, request.checkpoint)
        with console.working_store() as store:
            request = stored_results.completed(options, request, store)
            result = console.computed(request, store)
            shown = view.show(result, view.beside(request, partial(compute.find, store)))
            stored_list = guess_lists.stored_parts(store, request.key(), request.source)
            console.write_result(view.choose(shown.with_lists(stored_list)))

    command.__annotations__ |= {"options": analysis.options, "view": analysis.view}
    without = ("input",) if analysis.corpus in NO_CORPUS else ()
    app.command(analysis.command, help=analysis.summary)(with_options(command, without))


for analysis in ANALYSES.values():
    add_analysis(analysis)


@app.command("overview")
@partial(with_options, without={each.name for each in parameters(Console)} - USED)
def overview(
    console: Console,
    search: HeadSearch,
) -> None:
    """A table of all heads from a model's stored results, each analysis on its largest corpus; nothing is computed."""
    console.check_out(stored_results.SUFFIXES)
    model = checkpoint.find_checkpoint(console.model, console.revision)
    results = stored_results.results_of(Store(console.store), model, console.settings)
    console.write(
        lambda suffix: stored_results.to_bytes(results, suffix, search.find),
        partial(stored_results.to_text, results, search.find),
    )


@app.command("head")
@partial(with_options, without={each.name for each in parameters(Console)} - USED - {"device", "offload"})
def one_head(
    console: Console,
    head: Annotated[str, typer.Argument(help="A head, such as 5-4, counted from 1, or L4H3, counted from 0.")],
) -> None:
    """What a model's stored results say of one head, and what sets it apart from all others; --out x.html is one page
    that stands alone. Nothing is computed but the lines on the input in which the head is clearest, where no stored
    input shows what it finds."""
    console.check_out(SUFFIXES)
    model = checkpoint.find_checkpoint(console.model, console.revision)
    store = Store(console.store)
    results = stored_results.results_of(store, model, console.settings)
    shown = with_stored_training(describe_head(results, Head.parse(head)), results, store, model)

    def draw_lines() -> CaptionedSvg | None:
        clear = clear_input_of(results, shown)
        if clear is None:
            return None
        offload = console.execution().offload
        return lines(load(model, console.device, clear.settings.dtype, offload=offload), clear)

    console.write(lambda suffix: to_bytes(shown, suffix, draw_lines), partial(to_text, shown))


@app.command("emergence")
@partial(with_options, without=("input", "model", "revision"))
def emergence(
    console: Console,
    view: EmergenceView,
    training: Annotated[
        str,
        typer.Argument(help="A folder of checkpoints (step-0000500, checkpoint-500, ...), or NAME@'step*' on the hub."),
    ],
    text: Annotated[Inputs, typer.Option(help=f"Text for surface patterns, entropy and the loss; {MANY}.")] = None,
    treebank: Annotated[Inputs, typer.Option(help=f"Treebank for dependency heads; {MANY}.")] = None,
    head: Annotated[str | None, typer.Option(help="The head to report, as 3-1; default: none.")] = None,
) -> None:
    """How the heads' behaviors develop during training: every checkpoint, side by side."""
    console.check_out(exports.suffixes(Emergence.analysis))
    texts = find_sources(text or ["encyclopedia"])
    trees = find_sources(treebank or ["treebank"])
    series = CheckpointRequests(_training(training, console), texts, trees, console.settings)
    with console.working_store() as store:
        progress = console.progress()
        try:
            compute.compute_all(series.requests(), store, console.execution(), progress)
            if progress.subject:  # of a pass, the line of which ends here
                console.say("")
        except ModelError as error:  # of single checkpoints, which are skipped and counted
            print(printable(f"\nwarning: {error}"), file=sys.stderr)
        console.write_result(series.assemble(partial(compute.find, store)).on(view.step, view.relations, head))


def _training(name: str, console: Console) -> Training:
    """The checkpoints of a training; those on the hub are downloaded after their size is printed."""
    try:
        return find_training(name)
    except DownloadNeeded as needed:
        for number, model in enumerate(needed.models, 1):
            count = f"{number} of {len(needed.models)}, {needed.size / 1e6:,.0f} MB in all"
            console.say(f"Downloading {model} ({count})")
            checkpoint.download(model)
    return find_training(name)


@app.command("compare")
@partial(with_options, without=("input",))
def compare_runs(
    console: Console,
    view: ComparisonView,
    analysis: Annotated[str, typer.Argument(help="An analysis by the name of its command, such as surface-patterns.")],
    input: Annotated[Inputs, typer.Argument(help=INPUT)] = None,
    other_model: Annotated[str | None, typer.Option(help="Run B's model; default: run A's.")] = None,
    other_input: Annotated[Inputs, typer.Option(help="Run B's file or sample; repeatable.")] = None,
    other_mode: Annotated[str | None, typer.Option(help="Run B's mode.")] = None,
    other_weights: Annotated[str | None, typer.Option(help="Run B's weights.")] = None,
    other_seed: Annotated[int | None, typer.Option(help="Run B's random seed.")] = None,
) -> None:
    """Compare two runs of one analysis: run A as given by the options, run B with the --other options changed."""
    name = analysis.replace("-", "_")
    if name not in ANALYSES:
        commands = ", ".join(each.command for each in ANALYSES.values())
        raise SettingsError(f"There is no analysis {analysis!r}.", hint=f"Choose one of {commands}.")
    if not input and ANALYSES[name].corpus not in NO_CORPUS:
        raise SettingsError("This analysis reads an input.", hint="Name a file, a folder or a sample after it.")
    console.check_out(exports.suffixes(Comparison.analysis))
    first = replace(console, input=input or [])
    changes = {"mode": other_mode, "weights": other_weights, "seed": other_seed}
    changed = {option: value for option, value in changes.items() if value is not None}
    given: dict[str, Any] = {"settings": replace(console.settings, **changed)}  # type: ignore[arg-type]
    if other_input:
        given["input"] = other_input
    if other_model is not None:
        given |= {"model": other_model, "revision": None}
    second = replace(first, **given)
    options = ANALYSES[name].options()
    a, b = (run.request(ANALYSES[name], options, {}) for run in (first, second))
    if a.key() == b.key():
        hint = "Give --other-model, --other-input, --other-mode, --other-weights or --other-seed."
        raise SettingsError("Both runs are the same, or differ in nothing that this analysis reads.", hint=hint)
    with console.working_store() as store:
        console.write_result(compare(console.computed(a, store), console.computed(b, store)).on(view.quantity))


@app.command("report")
@partial(with_options, without=("input",))
def report(
    console: Console,
    text: Annotated[Inputs, typer.Option(help=f"Text for sections 3 and 6: {OR_NONE}.")] = None,
    treebank: Annotated[Inputs, typer.Option(help=f"Treebank for sections 4.2 and 5: {OR_NONE}.")] = None,
    coreference: Annotated[Inputs, typer.Option(help=f"Corpus for section 4.3: {OR_NONE}.")] = None,
    pairs: Annotated[Inputs, typer.Option(help=f"Minimal pairs: {OR_NONE}.")] = None,
) -> None:
    """Write the paper's figures and tables for one model, and which of its statements the model shows, to --out
    x.html, one self-contained page."""
    if not console.out:
        raise SettingsError("A report is written to a file.", hint="Give --out report.html.")
    console.check_out((".html",))
    named = {"text": text, "treebank": treebank, "coreference": coreference, "pairs": pairs}
    request = _report_request(console, named)
    with console.working_store() as store:
        page = to_html(request.read(store, _compute_report(console, request, store)))
    console.write(lambda _: page, str)


def _report_request(console: Console, named: dict[str, Inputs]) -> ReportRequest:
    """The request for a report on the corpora that are named by kind."""
    corpora = {}
    given = every_kind(**named)
    for kind, names in given.items():
        if names != [NONE]:
            corpora[kind] = find_sources(names or list(SAMPLES[kind])[:1])
    request = ReportRequest(console.checkpoint(), corpora, console.settings)
    request.settings.check(request.checkpoint.max_length)
    return request


def _compute_report(console: Console, request: ReportRequest, store: Store) -> dict[str, str]:
    """Compute and store what a report lacks; returns by analysis why it could not be computed."""
    if announcement := request.announcement(store):
        console.say(announcement)
    failed = request.compute(store, console.execution(), console.progress())
    console.say("")
    for reason in dict.fromkeys(failed.values()):
        titles = ", ".join(ANALYSES[name].title for name in failed if failed[name] == reason)
        print(printable(f"warning: without {titles}: {reason}"), file=sys.stderr)
    return failed


@app.command("atlas")
@partial(with_options, without=("input", "model", "revision", "out", "no_store"))
def atlas(
    console: Console,
    models: Annotated[list[str], typer.Argument(help="Models: `demo`, `demo-decoder`, folders, or hub names.")],
    out: Annotated[Path, typer.Option(help="Folder of the site.")],
    compute: Annotated[bool, typer.Option("--compute", help="Compute what a report has and the store lacks.")] = False,
    no_model: Annotated[bool, typer.Option("--no-model", help="Run no model: pages have no attention lines.")] = False,
    home: Annotated[str, typer.Option(help="A page that every page leads to: https://…, or from --out.")] = "",
    text: Annotated[Inputs, typer.Option(help=f"With --compute, text: {OR_NONE}.")] = None,
    treebank: Annotated[Inputs, typer.Option(help=f"With --compute, a treebank: {OR_NONE}.")] = None,
    coreference: Annotated[Inputs, typer.Option(help=f"With --compute, a corpus: {OR_NONE}.")] = None,
    pairs: Annotated[Inputs, typer.Option(help=f"With --compute, minimal pairs: {OR_NONE}.")] = None,
) -> None:
    """Write a static site of models, which needs no server, to the folder --out: a page for each model, head and
    analysis, the report, and every number. Of each model it has the stored results, each analysis on its largest
    corpus; nothing is computed without --compute but attention on a few inputs of each head."""
    named = {"text": text, "treebank": treebank, "coreference": coreference, "pairs": pairs}
    if any(named.values()) and not compute:
        raise SettingsError("Corpora are read only where something is computed.", hint="Add --compute, or omit them.")
    site.check_folder(out)
    site.check_home(home)
    store, loaded = Store(console.store), LoadedModels()
    contents = list[ModelContents]()
    for name in models:
        own = replace(console, model=name)
        model = own.checkpoint()
        load_model = None if no_model else partial(loaded.get, model, device=own.device)
        if compute:
            request = _report_request(own, named)
            failed = _compute_report(own, request, store)
            contents.append(requested_contents(request, store, load_model, failed))
        else:
            contents.append(stored_contents(store, model, own.settings, load_model))
    size = site.write(out, site.files(contents, console.progress(), home))
    console.say(f"\n{size / 1e6:,.1f} MB written: open {out / site.INDEX}.")


@app.command("headvis")
@partial(with_options, without={each.name for each in parameters(Console)} - {"out"})
def headvis(
    console: Console,
    file: Annotated[Path, typer.Argument(help="scatter_data.json of a HeadVis export.")],
    metric: Annotated[str | None, typer.Option(help="The metric to map; default: the first.")] = None,
) -> None:
    """Read the metrics that the viewer HeadVis has of a model's heads: --out x.html is the map of one, x.csv and x.json
    have all of them."""
    console.check_out(headvis_reading.SUFFIXES)
    found = headvis_reading.read_file(file)
    chosen = metric or next(iter(found.metrics))
    console.write(
        lambda suffix: headvis_reading.to_bytes(found, chosen, suffix), partial(headvis_reading.to_text, found, chosen)
    )


store_app = typer.Typer(no_args_is_help=True, help="The store of results and uploads: size, list, clear.")
Folder = Annotated[Path | None, typer.Option("--store", help="Folder of the store; default: BERTVIZ_STORE.")]


@store_app.command("size")
def store_size(store: Folder = None) -> None:
    """Size on disk, folder and limit."""
    opened = Store(store)
    if not opened.folder.is_dir():
        opened.check()
    print(f"{opened.size():,} bytes in {opened.folder} (limit: {opened.limit:,})")


@store_app.command("list")
def store_list(store: Folder = None) -> None:
    """List every result and upload with its model, corpus, settings, date and size."""
    opened = Store(store)
    heads = dict(opened.headers())
    rows = []
    for entry in opened.entries():
        date = datetime.fromtimestamp(entry.stored).strftime("%Y-%m-%d %H:%M")
        about = {"what": entry.kind}
        if entry.kind == "upload" and (upload := Uploads(opened).find(entry.key)):
            about |= {"corpus": upload.name, "settings": upload.kind}
        elif entry.kind == "result":
            about = _described(heads.get(entry.key, b""))
        rows.append(about | {"stored": date, "size": f"{entry.size / 1e6:,.2f} MB", "key": entry.key[:12]})
    print(printable(pd.DataFrame(rows).fillna("").to_string(index=False)) if rows else "The store is empty.")


def _described(head: bytes) -> dict[str, str]:
    try:
        what, provenance = describe_header(head) or ("", {})
        about = origin(provenance)
        settings = [about["mode"], f"{about['max_length']} tokens", about["dtype"], f"seed {about['seed']}"]
        options = {"weights": about["weights"], "limit": about["limit"] or None} | provenance["options"]
        settings += [f"{name} {value}" for name, value in options.items() if isinstance(value, str | int | float)]
        model = Path(about["model"]).name
        return {"what": what, "model": model, "corpus": about["corpus"], "settings": ", ".join(settings)}
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return {"what": "unreadable"}


@store_app.command("clear")
def store_clear(store: Folder = None) -> None:
    """Delete all results and uploads, of a damaged store too."""
    opened = Store(store)
    if opened.clear_damaged():
        print("The store was damaged: all of it has been deleted, and it can be used again.")
    else:
        print(f"{opened.clear():,} entries cleared")


app.add_typer(inputs_app)
app.add_typer(store_app, name="store")


def main() -> None:
    """Run the command line; a user's mistake is one message on standard error and exit code 2, never a traceback."""
    try:
        app()
    except BertvizError as error:
        print(printable(f"error: {error}"), file=sys.stderr)
        sys.exit(2)
