"""The checkpoints of one training: a folder of model folders, each with its step as the last number of its name; as
ordinary requests, one checkpoint after another, and what their stored results add up to."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bertviz_core.analyses.model_pass import can_compute
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.results import Result
from bertviz_core.corpora import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.emergence import AVERAGED, OF_RELATIONS, REQUIRED, Emergence
from bertviz_core.errors import InputError, ModelError
from bertviz_core.models import sources
from bertviz_core.models.checkpoint import Checkpoint, find, local_folder
from bertviz_core.numbers import small_int
from bertviz_core.settings import LOCAL, Access, Settings

SHIPPED = Path(__file__).parent.parent / "assets" / "emergence" / "small-bert.safetensors"
LOSS = "sep_gradients"  # whose masked-word loss is shown, where a checkpoint has the head for it
CONSTANT = "uniform"  # of the entropy's quantities: the same for every head
UNKNOWN_TOKENS = -1  # trained on so far: a folder of checkpoints does not say


@dataclass(frozen=True)
class Training:
    """The checkpoints of one training, by rising step."""

    name: str  # the end of the folder's path
    steps: tuple[int, ...]
    checkpoints: tuple[Checkpoint, ...]
    skipped: Skipped = field(default_factory=Skipped)  # what could not be read

    def fingerprint(self) -> str:
        """sha256 (hex) over the checkpoints' own fingerprints and steps."""
        pairs = zip(self.steps, self.checkpoints, strict=True)
        lines = (f"{step}:{checkpoint.fingerprint()}\n" for step, checkpoint in pairs)
        return hashlib.sha256("".join(lines).encode()).hexdigest()


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
            reason = error.what
            for name in (str(path), path.name):  # without which equal mistakes are counted together
                reason = reason.replace(f" {name!r}", "")
            skipped.add(f"a checkpoint that cannot be used: {reason.replace(str(path), path.name)}", path.name)


def _check_alike(models: list[tuple[int, Checkpoint]]) -> None:
    """Raise ModelError for two of one step, or of other shapes or sizes of vocabulary."""
    for (before, first), (step, second) in pairwise(models):
        names = f"{first.folder.name} and {second.folder.name}"
        pair = (first, second)
        shapes = [f"{each.layers} × {each.heads} heads, {each.config.get('vocab_size')} tokens" for each in pair]
        if step == before:
            what = f"Two checkpoints have step {step:,}: {names}."
            hint = "Keep one, or rename one: the last number in a folder's name is its step."
        elif shapes[0] != shapes[1]:
            what = f"{names} have different shapes: {'; '.join(shapes)}."
            hint = "Give the checkpoints of one training."
        else:
            continue
        raise ModelError(what, where=str(first.folder.parent), hint=hint)


def shipped() -> Emergence:
    """The emergence of a small BERT's training, which ships. It is not the demo model."""
    return Emergence.from_bytes(SHIPPED.read_bytes())


@dataclass(frozen=True)
class Series:
    """The requests for the analyses of every checkpoint of a training, and the emergence from their results."""

    training: Training
    text: Source  # for surface patterns, entropy and the loss
    treebank: Source  # for dependency heads
    settings: Settings = field(default_factory=Settings)

    def requests(self) -> list[Request]:
        """The requests of all checkpoints; of the loss only where a checkpoint has the head for it."""
        all_requests = (request for each in self.training.checkpoints for request in self.requests_of(each).values())
        return [request for request in all_requests if request.analysis != LOSS or can_compute(request)]

    def requests_of(self, checkpoint: Checkpoint) -> dict[str, Request]:
        """The requests of one checkpoint by analysis; the one that needs the most of the model is the first."""
        corpora = {LOSS: self.text, **dict.fromkeys(REQUIRED, self.text), "dependency_heads": self.treebank}
        return {
            name: Request(name, checkpoint, source, ANALYSES[name].relevant(self.settings))
            for name, source in corpora.items()
        }

    def assemble(self, find: Callable[[Request], Result | None]) -> Emergence:
        """The emergence from what `find` gives for the requests of all checkpoints: of those that have all of
        REQUIRED, by rising step; the others are skipped and counted. Raises ModelError where none has them."""
        training, skipped = self.training, deepcopy(self.training.skipped)
        steps: list[dict[str, Any]] = []  # what the emergence has a row of for each
        checkpoints = []
        for step, checkpoint in zip(training.steps, training.checkpoints, strict=True):
            results: dict[str, Any] = {name: find(request) for name, request in self.requests_of(checkpoint).items()}
            if any(results[name] is None for name in REQUIRED):
                skipped.add("a checkpoint without stored results", checkpoint.folder.name)
                continue
            if results[LOSS] is None:
                skipped.add("no masked-word loss", checkpoint.folder.name)
            relations = results["dependency_heads"].default_view()
            gradients = results[LOSS]
            numbers = {
                "steps": step,
                "tokens": UNKNOWN_TOKENS,
                "loss": gradients.loss if gradients else np.nan,
                "masked_accuracy": gradients.accuracy if gradients else np.nan,
                "averages": _averaged(results, "mean").astype(np.float32),
                "errors": _averaged(results, "error").astype(np.float32),
                "correct": relations.correct,
            }
            steps.append(numbers)
            checkpoints.append({"name": checkpoint.folder.name, "step": step, "fingerprint": checkpoint.fingerprint()})
            last = results | {"dependency_heads": relations}
        if not steps:
            raise ModelError(
                f"None of the {len(training.steps)} checkpoints has stored results.",
                where=training.name,
                hint="; ".join(f"{entry['where'][0]}: {why}" for why, entry in skipped.reasons.items()),
            )
        arrays: dict[str, Any] = {name: np.stack([row[name] for row in steps]) for name in steps[0]}
        arrays["correct"] = arrays["correct"].astype(np.min_scalar_type(int(arrays["correct"].max())))
        return Emergence(
            provenance=self._provenance(last, checkpoints, skipped),
            **arrays,
            **{name: getattr(relations, name) for name in OF_RELATIONS},
            quantities=_averaged(last, "quantities").tolist(),
            units=_averaged(last, "units"),
            effective_units=_averaged(last, "effective_units"),
            unit=last["entropy"].unit,
            uniform=last["entropy"].uniform,
        )

    def _provenance(self, results: Mapping[str, Any], checkpoints: list[Any], skipped: Skipped) -> dict[str, Any]:
        """The provenance in the form of an ordinary result's: the model is the whole training, the corpus its text."""
        text, treebank = (results[name].provenance for name in ("surface_patterns", "dependency_heads"))
        model = {"name": self.training.name, "revision": None, "fingerprint": self.training.fingerprint()}
        return {
            **text,
            "analysis": Emergence.analysis,
            "model": text["model"] | model,
            "checkpoints": checkpoints,
            "others": {"treebank": treebank["corpus"]},
            **{name: treebank[name] for name in ("format", "sentences", "words")},
            "skipped": [*skipped.to_json(), *text["skipped"], *treebank["skipped"]],
            "options": {name: treebank["options"][name] for name in ("view", "min_count")},
        }


def _averaged(results: Mapping[str, Any], field: str) -> np.ndarray:
    """(quantity, ...) of a field of surface patterns and entropy, without CONSTANT."""
    of_names, of_field = (
        np.concatenate([getattr(results[name], each) for name in AVERAGED]) for each in ("quantities", field)
    )
    return np.asarray(of_field[of_names != CONSTANT])
