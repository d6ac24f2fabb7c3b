"""The models and trainings in the folders that a server allows, by name. A name is looked up, never used as a path."""

import re
import time
from functools import lru_cache
from pathlib import Path

from bertviz_core.errors import ModelError
from bertviz_core.settings import Access

DEPTH = 3  # of folders below an allowed one that are looked into
SECONDS = 30  # until the folders are looked through again
CHECKPOINT = re.compile(r"(step|checkpoint|epoch)\D*\d+$")  # a training's: other models' names may end in a number too
HINT = "Choose from the list."


def models(access: Access) -> dict[str, Path]:
    """Name -> folder of every model in the allowed folders, checkpoints of trainings aside."""
    return _scan(access.folders or (), int(time.monotonic() / SECONDS))[0]


def trainings(access: Access) -> dict[str, Path]:
    """Name -> folder of every training in the allowed folders."""
    return _scan(access.folders or (), int(time.monotonic() / SECONDS))[1]


def not_available(kind: str) -> ModelError:
    """The one answer to every name of a "model" or a "training" that is not allowed, whatever the disk has there."""
    return ModelError(f"No {kind} with this name is available.", hint=HINT)


@lru_cache(maxsize=4)
def _scan(roots: tuple[Path, ...], _now: int) -> tuple[dict[str, Path], dict[str, Path]]:
    """(models, trainings). A name is the path below the allowed folder, or that folder's own name; of equal names the
    first counts. Nothing below a model or a training is looked at, nor are links to elsewhere."""
    models: dict[str, Path] = {}
    trainings: dict[str, Path] = {}

    def visit(folder: Path, root: Path, depth: int) -> None:
        if not any(folder.resolve().is_relative_to(each) for each in roots):
            return
        name = folder.relative_to(root).as_posix() if folder != root else root.name
        try:
            inner = sorted(each for each in folder.iterdir() if each.is_dir())
        except OSError:
            inner = []
        if (folder / "config.json").is_file():
            models.setdefault(name, folder)
        elif any(CHECKPOINT.search(each.name) and (each / "config.json").is_file() for each in inner):
            trainings.setdefault(name, folder)
        elif depth:
            for each in inner:
                visit(each, root, depth - 1)

    for root in roots:
        visit(root, root, DEPTH)
    return models, trainings
