"""The emergence of a training: each checkpoint's ordinary requests, and what they add up to, stored by key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bertviz_core.analyses import registry, requests
from bertviz_core.analyses.request import FORMAT, Request
from bertviz_core.analyses.requests import DEFAULT_EXECUTION
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.emergence.checkpoint_results import ANALYSES, LOSS, CheckpointResults, assemble, checkpoint_results
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.training_folder import Training, reason
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import BertvizError, Cancelled, ModelError, StoreError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.settings import Execution, Settings

if TYPE_CHECKING:
    from bertviz_core.analyses.requests import Load

SHIPPED = Path(__file__).parent.parent / "assets" / "emergence" / "demo-bert.safetensors"


@dataclass(frozen=True)
class EmergenceRequest:
    """Everything that an emergence depends on."""

    training: Training
    text: Source
    treebank: Source
    settings: Settings = field(default_factory=Settings)

    def key(self) -> str:
        """Equal requests have equal keys, as those of one checkpoint have."""
        parts = {
            "format": FORMAT,
            "analysis": Emergence.analysis,
            "training": self.training.fingerprint(),
            "tokens": [self.training.tokens.get(step) for step in self.training.steps],
            "corpora": [self.text.digest, self.treebank.digest],
            "settings": self.settings.to_json(),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def of(self, checkpoint: Checkpoint) -> dict[str, Request]:
        """The ordinary requests of one checkpoint; the one that needs the most of the model is the first."""
        sources = {LOSS: self.text, **dict.fromkeys(ANALYSES, self.text), "dependency_heads": self.treebank}
        return {
            name: Request(name, checkpoint, source, registry.ANALYSES[name].relevant(self.settings))
            for name, source in sources.items()
        }

    def parts(self) -> list[str]:
        """The keys of all checkpoints' requests."""
        return [part.key() for checkpoint in self.training.checkpoints for part in self.of(checkpoint).values()]


def find(store: Store, request: EmergenceRequest) -> Emergence | None:
    """The stored emergence, or None; one that cannot be read counts as none."""
    return read(store, request.key())


def read(store: Store, key: str) -> Emergence | None:
    """The same by its key alone."""
    try:
        data = store.get(key)
        return Emergence.from_bytes(data) if data else None
    except (ValueError, KeyError, TypeError, StoreError):
        return None


def shipped() -> Emergence:
    """That of the demo model."""
    return Emergence.from_bytes(SHIPPED.read_bytes())


def stored(store: Store) -> Iterator[tuple[str, dict[str, Any]]]:
    """(key, provenance) of every emergence in the store, told by its header."""
    for key, head in store.heads():
        try:
            metadata = json.loads(head)["__metadata__"]
            if metadata["analysis"] == Emergence.analysis:
                yield key, json.loads(metadata["json"])["provenance"]
        except (ValueError, KeyError, TypeError):
            continue  # of another version, or damaged


def compute(
    request: EmergenceRequest,
    store: Store,
    execution: Execution = DEFAULT_EXECUTION,
    progress: Progress | None = None,
    load: Load | None = None,
) -> Emergence:
    """Compute what is missing of every checkpoint, put it together, store and return it.

    A checkpoint's results are stored as soon as they are there, so that a cancelled emergence goes on where it
    stopped. A checkpoint that cannot be loaded is left out and counted. Raises BertvizError for bad input and
    settings, and where no checkpoint is left; Cancelled when progress says so.
    """
    progress, skipped = progress or Progress(), deepcopy(request.training.skipped)
    request.settings.check(request.training.first.max_length)
    with store.pinned([request.key(), *request.parts()]):
        return _compute_all(request, store, execution, progress, skipped, load)


def _compute_all(
    request: EmergenceRequest,
    store: Store,
    execution: Execution,
    progress: Progress,
    skipped: Skipped,
    load: Load | None,
) -> Emergence:
    checkpoints = list(_checkpoint_results(request, store, execution, progress, skipped, load))
    if not checkpoints:
        raise ModelError(
            f"None of the {len(request.training.steps)} checkpoints can be used.",
            where=request.training.name,
            hint="; ".join(f"{entry['where'][0]}: {why}" for why, entry in skipped.reasons.items()),
        )
    result = assemble(checkpoints, _provenance(request, checkpoints, skipped))
    store.put(request.key(), result.to_bytes())
    return result


class SubProgress(Progress):
    """Progress of one checkpoint, told as the stage of the whole; a cancel of the whole takes effect here too."""

    def __init__(self, whole: Progress, name: str) -> None:
        super().__init__(cancelled=whole.cancelled)
        self.whole, self.name = whole, name

    def advance(self, count: int) -> None:
        super().advance(count)
        done = f" ({self.done:,} of {self.total:,} {self.unit})" if self.total else ""
        self.whole.stage = f"{self.name}, {self.stage[:1].lower()}{self.stage[1:]}{done}"
        self.whole.advance(0)


def _checkpoint_results(
    request: EmergenceRequest,
    store: Store,
    execution: Execution,
    progress: Progress,
    skipped: Skipped,
    load: Load | None,
) -> Iterator[CheckpointResults]:
    """Every checkpoint that can be used, computed where it is not stored. Only what is computed counts as progress."""
    training = request.training
    progress.start("Looking up stored results", len(training.steps), "checkpoints")
    for step, checkpoint in zip(training.steps, training.checkpoints, strict=True):
        wanted, problem = request.of(checkpoint), None
        results = _stored(wanted, store)
        if len(results) == len(wanted):
            progress.total -= 1
        else:
            problem = _compute(wanted, store, execution, SubProgress(progress, f"Step {step:,}"), load)
            results = _stored(wanted, store)
            progress.advance(1)
        usable = all(name in results for name in ANALYSES)
        if problem and not (usable or isinstance(problem, ModelError)):
            raise problem  # of the text, the treebank or the settings: the next checkpoint would only repeat it
        if problem:
            what = "a masked-word loss that cannot be computed" if usable else "a checkpoint that cannot be used"
            skipped.add(f"{what}: {reason(problem, checkpoint.folder)}", checkpoint.folder.name)
        if usable:
            yield checkpoint_results(step, training.tokens.get(step, -1), results)


def _stored(wanted: dict[str, Request], store: Store) -> dict[str, Any]:
    found = {name: requests.find(store, request) for name, request in wanted.items()}
    return {name: result for name, result in found.items() if result is not None}


def _compute(
    wanted: dict[str, Request], store: Store, execution: Execution, progress: Progress, load: Load | None
) -> BertvizError | None:
    """Try all of it, and say what went wrong."""
    try:
        requests.compute_all(wanted.values(), store, execution, progress, load)
    except (Cancelled, StoreError):
        raise
    except BertvizError as error:
        return error
    return None


def _provenance(request: EmergenceRequest, checkpoints: list[CheckpointResults], skipped: Skipped) -> dict[str, Any]:
    """As an ordinary result has it: the model is the whole training, the corpus its text."""
    training, last = request.training, checkpoints[-1].origins
    text, treebank = last["surface_patterns"], last["dependency_heads"]
    options = checkpoints[-1].dependency.provenance["options"]
    used = {checkpoint_results.step for checkpoint_results in checkpoints}
    known = zip(training.steps, training.checkpoints, strict=True)
    entries = [
        entry | {"reason": f"{entry['reason']}, in the {name}"}
        for name, origin in (("text", text), ("treebank", treebank))
        for entry in origin["left_out"]
    ]
    return {
        **text,
        "analysis": Emergence.analysis,
        "model": text["model"] | {"name": training.name, "revision": None, "fingerprint": training.fingerprint()},
        "checkpoints": [
            {"name": one.folder.name, "step": step, "fingerprint": one.fingerprint()}
            for step, one in known
            if step in used
        ],
        "others": {"treebank": treebank["corpus"]},
        "format": treebank["format"],
        **{name: treebank[name] for name in ("sentences", "words")},
        "left_out": [*skipped.to_json(), *entries],
        "options": {
            "treebank": treebank["corpus"]["name"],
            "treebank_digest": treebank["corpus"]["digest"][:16],
            "view": options["view"],
            "min_count": options["min_count"],
        },
    }
