"""The checkpoints of one training: a folder of model folders, each with its step as the last number of its name."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from bertviz_core.corpora import Skipped
from bertviz_core.errors import BertvizError, InputError, ModelError
from bertviz_core.models import sources
from bertviz_core.models.checkpoint import Checkpoint, find, local_folder
from bertviz_core.numbers import small_int
from bertviz_core.settings import LOCAL, Access


@dataclass(frozen=True)
class Training:
    """The checkpoints of one training, by rising step."""

    name: str  # the end of the folder's path
    steps: tuple[int, ...]
    checkpoints: tuple[Checkpoint, ...]
    skipped: Skipped = field(default_factory=Skipped)  # what could not be read

    def fingerprint(self) -> str:
        """sha256 (hex) over the checkpoints' own fingerprints and steps."""
        total = hashlib.sha256()
        for step, checkpoint in zip(self.steps, self.checkpoints, strict=True):
            total.update(f"{step}:{checkpoint.fingerprint()}\n".encode())
        return total.hexdigest()


def find_training(folder: Path | str, access: Access = LOCAL) -> Training:
    """Open the checkpoints in a folder, by its path or, where `access` limits the folders, by its name; those that
    cannot be read are skipped and counted.

    Raises InputError for a folder that is missing, cannot be read, or has no checkpoint; ModelError for one that may
    not be opened, or whose checkpoints have equal steps, other shapes, or vocabularies of other sizes.
    """
    name, skipped = str(folder), Skipped()
    opened = local_folder(name) if access.folders is None else sources.trainings(access).get(name)
    if opened is None and access.folders is not None:
        raise sources.not_available("training")
    if opened is None:
        raise InputError(f"There is no folder {name!r}.", hint="Give a folder of checkpoint folders.")
    try:
        models = sorted(_models(opened, skipped), key=lambda model: model[0])
    except OSError as error:
        raise InputError(
            f"The folder cannot be read ({error.strerror}).", where=name, hint="Check its permissions."
        ) from error
    if not models:
        text = [f"{entry['where'][0]}: {why}" for why, entry in skipped.reasons.items()]
        raise InputError(
            f"No checkpoint is in this folder{' that can be read (' + '; '.join(text) + ')' if text else ''}.",
            where=str(opened),
            hint="Give a folder of models whose names end in their steps, such as step-0000500 or checkpoint-500.",
        )
    _check_alike(models)
    steps, checkpoints = zip(*models, strict=True)
    return Training("/".join(opened.resolve().parts[-2:]), steps, checkpoints, skipped)


def _reason(error: BertvizError, folder: Path) -> str:
    """The message of a checkpoint's error without its name, so that equal mistakes are counted together."""
    text = error.what
    for name in (str(folder), folder.name):
        text = text.replace(f" {name!r}", "")
    return text.replace(str(folder), folder.name)


def _models(folder: Path, skipped: Skipped) -> Iterator[tuple[int, Checkpoint]]:
    """(step, checkpoint) of every model folder; folders without a number in their name are passed over."""
    for path in sorted(path for path in folder.iterdir() if path.is_dir()):
        numbers = re.findall(r"[0-9]+", path.name)
        step = small_int(numbers[-1]) if numbers else None
        if step is None:
            if (path / "config.json").exists():
                skipped.add("a model folder without a step in its name", path.name)
            continue
        try:
            yield step, find(str(path))
        except ModelError as error:
            skipped.add(f"a checkpoint that cannot be used: {_reason(error, path)}", path.name)


def _check_alike(models: list[tuple[int, Checkpoint]]) -> None:
    """Raise ModelError for two of one step, or of another shape or size of vocabulary than the first."""
    where = str(models[0][1].folder.parent)
    for (before, earlier), (step, other) in pairwise(models):
        if step == before:
            raise ModelError(
                f"Two checkpoints have step {step:,}: {earlier.folder.name} and {other.folder.name}.",
                where=where,
                hint="Keep one, or rename one: the last number in a folder's name is its step.",
            )
    checkpoints = [checkpoint for _, checkpoint in models]
    shapes = [f"{each.layers} × {each.heads}" for each in checkpoints]
    vocabularies = [each.config.get("vocab_size") for each in checkpoints]
    for name, kinds in (("layers and heads", shapes), ("vocabularies", vocabularies)):
        at = next((index for index, kind in enumerate(kinds) if kind != kinds[0]), None)
        if at is not None:
            both = f"{checkpoints[0].folder.name} and {checkpoints[at].folder.name}"
            raise ModelError(
                f"{both} have different {name}: {kinds[0]} and {kinds[at]}.",
                where=where,
                hint="Give the checkpoints of one training.",
            )
