"""The command `emergence`: every checkpoint of a training, side by side."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bertviz_core import exports
from bertviz_core.analyses.requests import compute_all, find
from bertviz_core.cli.console import Console, with_console
from bertviz_core.corpora.files import find_sources
from bertviz_core.emergence.join import join
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.series import Series
from bertviz_core.emergence.training_folder import find_training
from bertviz_core.engine.temporary_store import temporary_store
from bertviz_core.errors import InputError, ModelError, SettingsError
from bertviz_core.numbers import small_int

emergence_app = typer.Typer()
MANY = "a file, folder or pattern, repeatable"


@emergence_app.command("emergence")
@partial(with_console, without=("input", "model", "revision"))
def emergence(
    console: Console,
    folder: Annotated[Path, typer.Argument(help="A folder of checkpoints: step-0000500, checkpoint-500, ...")],
    text: Annotated[
        list[str] | None, typer.Option(help=f"Text for surface patterns, entropy and the loss; {MANY}.")
    ] = None,
    treebank: Annotated[list[str] | None, typer.Option(help=f"Treebank for dependency heads; {MANY}.")] = None,
) -> None:
    """How the heads' behaviors develop during a training: every checkpoint of a folder, side by side."""
    console.check_out(Emergence.analysis, Emergence)
    texts = find_sources(text or ["encyclopedia"], console.text_column)
    trees = find_sources(treebank or ["treebank"], console.text_column)
    series = Series(find_training(folder), texts, trees, console.settings())
    opened = console.opened_store()
    with nullcontext(opened) if opened else temporary_store() as store:
        try:
            compute_all(series.requests(), store, console.execution(), console.progress())
        except ModelError as error:  # of single checkpoints, which are skipped and counted
            print(f"warning: {error}", file=sys.stderr)
        console.write(series.assemble(partial(find, store)))


@emergence_app.command("join-emergence")
def join_emergence(
    first: Annotated[Path, typer.Argument(help="The earlier checkpoints: a file that `emergence` wrote.")],
    second: Annotated[Path, typer.Argument(help="The later ones, from the last checkpoint of the first part on.")],
    out: Annotated[list[Path], typer.Option(help="Output file, format by extension; repeatable.")],
    mark: Annotated[
        list[str] | None, typer.Option(help="A step at which the training changed, as 500:what changed; repeatable.")
    ] = None,
) -> None:
    """Join two parts of one training, each a .safetensors of the command `emergence`, which meet in one checkpoint."""
    for path in out:
        exports.check_path(path, exports.suffixes(Emergence.analysis, Emergence))
    joined = join(_read(first), _read(second), map(_mark, mark or []))
    for path in out:
        exports.write(joined, path)


def _read(path: Path) -> Emergence:
    try:
        emergence = Emergence.from_bytes(path.read_bytes())
        _ = emergence.provenance["skipped"]  # has another name in files of earlier versions
    except OSError as error:
        raise InputError(f"The file cannot be read ({error.strerror}).", where=str(path)) from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            "This is no emergence of this version.",
            where=str(path),
            hint="Compute it again with emergence --out x.safetensors.",
        ) from error
    return emergence


def _mark(text: str) -> tuple[int, str]:
    number, colon, label = text.partition(":")
    step = small_int(number.strip())
    if step is None or not (colon and label.strip()):
        raise SettingsError(f"--mark {text!r} names no step.", hint="Give a step, a colon and what changed there.")
    return step, label.strip()
