"""The command line: one command for each analysis, from the same store and with the same numbers as the pages."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bertviz_core import exports
from bertviz_core.analyses.requests import Request
from bertviz_core.cli.console import Console, with_console
from bertviz_core.cli.emergence import emergence_app
from bertviz_core.cli.inputs import inputs_app, segments_of
from bertviz_core.cli.store import store_app
from bertviz_core.corpora.source import from_path
from bertviz_core.engine.store import Store
from bertviz_core.errors import BertvizError
from bertviz_core.models import checkpoint

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)


@app.command("surface-patterns")
@with_console
def surface_patterns(console: Console) -> None:
    """Attention to offsets, special tokens and punctuation, for every head (section 3.1, 3.2; Figure 2)."""
    console.analyse("surface_patterns")


@app.command("sep-gradients")
@with_console
def sep_gradients(
    console: Console,
    examples: Annotated[Path | None, typer.Option(help="Also write the masked inputs to a .json file.")] = None,
) -> None:
    """Gradients of the masked-word loss in attention to [SEP] and other classes of tokens (section 3.2; Figure 3)."""
    from bertviz_core.analyses.sep_gradients.measure import masked_examples

    if examples is not None:
        exports.check_path(examples, (".json",))
    console.analyse("sep_gradients")
    if examples is not None:
        used = list(masked_examples(segments_of(console), types=console.checkpoint().has_types))
        exports.write_bytes(examples, json.dumps(used).encode())


@app.command("entropy")
@with_console
def entropy(console: Console) -> None:
    """Entropy of every head's attention, in nats (section 3.3; Figure 4)."""
    console.analyse("entropy")


@app.command("dependency-heads")
@with_console
def dependency_heads(
    console: Console,
    view: Annotated[str, typer.Option(help="as-is, or function-heads for Universal Dependencies.")] = "as-is",
    min_count: Annotated[int | None, typer.Option(help="Fewest words of a relation: 100, of the sample 20.")] = None,
    offsets: Annotated[int, typer.Option(help="How far the fixed-offset baselines may reach.")] = 5,
    merge_subtypes: Annotated[bool, typer.Option("--merge-subtypes", help="nmod:poss counts as nmod.")] = False,
    possessives: Annotated[bool, typer.Option("--possessives", help="The paper's rule for poss before 's.")] = False,
) -> None:
    """Which head finds which relation of a treebank, against fixed offsets (section 4.2; Table 1)."""
    from bertviz_core.analyses.dependency_heads.measure import fewest
    from bertviz_core.analyses.dependency_heads.result import check_choice

    check_choice(view, offsets)
    least = fewest(console.source()) if min_count is None else min_count
    console.analyse(
        "dependency_heads",
        {"possessives": True} if possessives else None,
        lambda result: result.chosen(view, least, offsets, merge_subtypes),
    )


@app.command("probes")
@with_console
def probes(
    console: Console,
    dev: Annotated[
        Path | None, typer.Option(help="A treebank to score on; else a part of TREEBANK is held out.")
    ] = None,
    probes: Annotated[str | None, typer.Option(help="Names of probes, with commas between; else all.")] = None,
    vectors: Annotated[
        Path | None, typer.Option(help="Word vectors as GloVe writes them; else the model's own.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Most epochs of Adam: 5 (structural 20), in mode paper 1.")] = None,
    decode: Annotated[str, typer.Option(help="greedy, or mst for maximum spanning trees.")] = "greedy",
    rank: Annotated[int, typer.Option(help="Rank of the structural probe.")] = 64,
    misaligned_root: Annotated[
        bool, typer.Option("--misaligned-root", help="Also as released: candidate i has word i+1's vector.")
    ] = False,
    optimizer: Annotated[str, typer.Option(help="Of attention only: lbfgs or adam.")] = "lbfgs",
    seeds: Annotated[int, typer.Option(help="Networks drawn afresh for the random controls.")] = 3,
) -> None:
    """How much syntax the maps hold together: probes, baselines and controls (section 5; Table 3)."""
    from bertviz_core.analyses.probes.measure import PROBES, Plan

    asked = tuple(name.strip() for name in probes.split(",")) if probes else PROBES
    misaligned_root = misaligned_root and console.mode != "paper"  # which has those rows in any case
    files = {"dev": dev, "vectors": vectors}
    console.analyse(
        "probes",
        Plan(asked, epochs, decode, rank, misaligned_root, optimizer, seeds).options(),
        others={role: from_path(path) for role, path in files.items() if path},
    )


@app.command("coreference-heads")
@with_console
def coreference_heads(
    console: Console,
    candidates: Annotated[str, typer.Option(help="mentions (the preceding ones), or words: any other.")] = "mentions",
    predictions: Annotated[Path | None, typer.Option(help="Another system's chains for the same documents.")] = None,
) -> None:
    """Which head's attention points from a mention to its antecedent (section 4.3; Table 2)."""
    from bertviz_core.analyses.coreference_heads.guesses import check_candidates
    from bertviz_core.analyses.coreference_heads.predictions import score
    from bertviz_core.corpora.source import from_path

    check_candidates(candidates)
    theirs = from_path(predictions) if predictions else None

    def shown(result: Any) -> Any:
        chosen = result.chosen(candidates)
        if not theirs:
            return chosen
        request = Request("coreference_heads", console.checkpoint(), console.source(), console.settings())
        return chosen.with_predictions(theirs, score(request, theirs))

    console.analyse("coreference_heads", shown=shown)


@app.command("clustering")
@with_console
def clustering(
    console: Console,
    root: Annotated[bool, typer.Option("--root", help="Picture square roots of the divergences.")] = False,
    threshold: Annotated[
        list[str] | None, typer.Option(help="Of a behaviour, as entropy=3.0; repeatable. Nothing is computed anew.")
    ] = None,
) -> None:
    """How alike heads are: Jensen-Shannon divergences between all pairs, and a picture (section 6; Figure 6)."""
    from bertviz_core.analyses.behaviors import Thresholds
    from bertviz_core.analyses.requests import Request, find
    from bertviz_core.overview.linguistic import linguistic_heads

    thresholds = Thresholds.read(threshold or [])

    def shown(result: Any) -> Any:
        store = console.opened_store()
        request = Request("clustering", console.checkpoint(), console.source(), console.settings())
        named = linguistic_heads(request, lambda other: find(store, other))
        return result.embedded(console.seed, root).labelled(thresholds, named)

    console.analyse("clustering", shown=shown)


@app.command("overview")
def overview(
    model: Annotated[str, typer.Option(help="`demo`, a local folder, or a hub name.")] = "demo",
    revision: Annotated[str | None, typer.Option(help="A hub model's branch, tag or commit.")] = None,
    mode: Annotated[str, typer.Option(help="corrected, or paper for the release's own choices.")] = "corrected",
    store: Annotated[Path | None, typer.Option(help="Folder of the store of results.")] = None,
    out: Annotated[list[Path] | None, typer.Option(help="Write to a .csv or .json file; repeatable.")] = None,
) -> None:
    """A table of all heads from what is stored of a model, each analysis on its largest corpus; nothing is computed."""
    from bertviz_core.overview import table as made

    for path in out or []:
        exports.check_path(path, made.SUFFIXES)
    table = made.overview(Store(store), checkpoint.find(model, revision), mode)
    for path in out or []:
        exports.write_bytes(path, table.to_bytes(path.suffix.lower()))
    if not out:
        print(table.to_text())


app.add_typer(inputs_app)
app.add_typer(emergence_app)
app.add_typer(store_app, name="store")


def main() -> None:
    """Run the command line; a user's mistake is one message on standard error and exit code 2, never a traceback."""
    try:
        app(prog_name="python -m bertviz_core")
    except BertvizError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
