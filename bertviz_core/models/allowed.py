"""The models and trainings in the folders that a server allows, by name. A name is looked up, never used as a path."""

import re
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from bertviz_core.access import Access
from bertviz_core.errors import BertvizError, InputError, ModelError

DEPTH = 3  # of folders below an allowed one that are looked into
SECONDS = 30  # until the folders are looked through again
CHECKPOINT = re.compile(r"(step|checkpoint|epoch)\D*\d+$")
HINT = "Choose from the list."


def models(access: Access) -> dict[str, Path]:
    """Name -> folder of every model in the allowed folders, checkpoints of trainings aside."""
    return _scan(access.folders or (), int(time.monotonic() / SECONDS))[0]


def trainings(access: Access) -> dict[str, Path]:
    """Name -> folder of every training in the allowed folders."""
    return _scan(access.folders or (), int(time.monotonic() / SECONDS))[1]


def no_model() -> BertvizError:
    """The one answer to every name that is not allowed, whatever the disk has there."""
    return ModelError("No model with this name is available.", hint=HINT)


def no_training() -> BertvizError:
    """The one answer to every name of a training that is not allowed, whatever the disk has there."""
    return InputError("No training with this name is available.", hint=HINT)


@lru_cache(maxsize=4)
def _scan(roots: tuple[Path, ...], _now: int) -> tuple[dict[str, Path], dict[str, Path]]:
    """(models, trainings). A name is the path below the allowed folder, or that folder's own name; of equal names the
    first counts."""
    models: dict[str, Path] = {}
    trainings: dict[str, Path] = {}
    for root in roots:
        for folder in _walk(root, roots, DEPTH):
            name = folder.relative_to(root).as_posix() if folder != root else root.name
            if (folder / "config.json").is_file():
                models.setdefault(name, folder)
            elif _is_training(folder):
                trainings.setdefault(name, folder)
    return models, trainings


def _walk(folder: Path, roots: tuple[Path, ...], depth: int) -> Iterator[Path]:
    """A folder and those below it, links to elsewhere left out; nothing below a model or a training."""
    if not any(folder.resolve().is_relative_to(root) for root in roots):
        return
    yield folder
    if depth and not (folder / "config.json").is_file() and not _is_training(folder):
        for inner in _subfolders(folder):
            yield from _walk(inner, roots, depth - 1)


def _is_training(folder: Path) -> bool:
    """Whether a folder has a checkpoint: a model whose name says so, as other models' names may end in a number too."""
    return any(CHECKPOINT.search(inner.name) and (inner / "config.json").is_file() for inner in _subfolders(folder))


def _subfolders(folder: Path) -> list[Path]:
    try:
        return sorted(inner for inner in folder.iterdir() if inner.is_dir())
    except OSError:
        return []
