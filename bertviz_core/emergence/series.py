"""A training as ordinary requests, what their stored results add up to, and its checkpoints as runs to compare."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bertviz_core.analyses.head_averages import HeadAverages, averages_of
from bertviz_core.analyses.model_pass import can_compute
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.results import Result
from bertviz_core.corpora import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.emergence import Emergence
from bertviz_core.emergence.training_folder import Training
from bertviz_core.errors import ModelError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.settings import Settings

SHIPPED = Path(__file__).parent.parent / "assets" / "emergence" / "small-bert.safetensors"
AVERAGED = ("surface_patterns", "entropy")
REQUIRED = (*AVERAGED, "dependency_heads")  # a checkpoint without one of these is skipped
LOSS = "sep_gradients"  # whose masked-word loss is shown, where a checkpoint has the head for it
CONSTANT = "uniform"  # of the entropy's quantities: the same for every head
UNKNOWN_TOKENS = -1  # trained on so far: a folder of checkpoints does not say
NAMED = 5  # checkpoints that are offered: the first, the last, and those between at equal distances


def shipped() -> Emergence:
    """The shipped emergence of a small BERT's training from random weights. It is not the demo model."""
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
        sources = {LOSS: self.text, **dict.fromkeys(REQUIRED, self.text), "dependency_heads": self.treebank}
        return {
            name: Request(name, checkpoint, source, ANALYSES[name].relevant(self.settings))
            for name, source in sources.items()
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
            results["dependency_heads"] = results["dependency_heads"].default_view()
            rows, relations, gradients = list(_quantities(results)), results["dependency_heads"], results[LOSS]
            numbers = {
                "steps": step,
                "tokens": UNKNOWN_TOKENS,
                "loss": gradients.loss if gradients else np.nan,
                "masked_accuracy": gradients.accuracy if gradients else np.nan,
                "averages": np.array([result.mean[row] for result, row in rows], np.float32),
                "errors": np.array([result.error[row] for result, row in rows], np.float32),
                "correct": relations.correct,
            }
            steps.append(numbers)
            checkpoints.append({"name": checkpoint.folder.name, "step": step, "fingerprint": checkpoint.fingerprint()})
            last = results
        if not steps:
            raise ModelError(
                f"None of the {len(training.steps)} checkpoints has stored results.",
                where=training.name,
                hint="; ".join(f"{entry['where'][0]}: {why}" for why, entry in skipped.reasons.items()),
            )
        arrays: dict[str, Any] = {name: np.stack([row[name] for row in steps]) for name in steps[0]}
        arrays["correct"] = arrays["correct"].astype(np.min_scalar_type(int(arrays["correct"].max())))
        of_relations = ("relations", "n", "offsets", "offset_correct", "visible", "random_correct")
        return Emergence(
            provenance=self._provenance(last, checkpoints, skipped),
            **arrays,
            **{name: getattr(relations, name) for name in of_relations},
            quantities=[result.quantities[row] for result, row in rows],
            units=np.array([result.units[row] for result, row in rows]),
            effective_units=np.array([result.effective_units[row] for result, row in rows]),
            unit=last["entropy"].unit,
            uniform=last["entropy"].uniform,
        )

    def _provenance(self, results: Mapping[str, Any], checkpoints: list[Any], skipped: Skipped) -> dict[str, Any]:
        """The provenance in the form of an ordinary result's: the model is the whole training, the corpus its text."""
        text, treebank = (results[name].provenance for name in ("surface_patterns", "dependency_heads"))
        model = {"name": self.training.name, "revision": None, "fingerprint": self.training.fingerprint()}
        entries = [
            entry | {"reason": f"{entry['reason']}, in the {name}"}
            for name, origin in (("text", text), ("treebank", treebank))
            for entry in origin["skipped"]
        ]
        return {
            **text,
            "analysis": Emergence.analysis,
            "model": text["model"] | model,
            "checkpoints": checkpoints,
            "others": {"treebank": treebank["corpus"]},
            **{name: treebank[name] for name in ("format", "sentences", "words")},
            "skipped": [*skipped.to_json(), *entries],
            "options": {
                "treebank": treebank["corpus"]["name"],
                "treebank_digest": treebank["corpus"]["digest"][:16],
                "view": treebank["options"]["view"],
                "min_count": treebank["options"]["min_count"],
            },
        }


def _quantities(results: Mapping[str, Any]) -> Iterator[tuple[HeadAverages, int]]:
    """(result, row in it) of each quantity of surface patterns and of entropy."""
    for result in (results[name] for name in AVERAGED):
        yield from ((result, row) for row, name in enumerate(result.quantities) if name != CONSTANT)


def checkpoint_names(emergence: Emergence, analysis: str) -> dict[str, str]:
    """Address, as "step-500" -> name of the checkpoints to offer; empty for an analysis that the emergence does not
    store."""
    if analysis not in REQUIRED:
        return {}
    chosen = np.unique(np.linspace(0, len(emergence.steps) - 1, NAMED).round().astype(int))
    steps = emergence.steps[chosen].tolist()
    return {f"step-{step}": f"step {step:,} of {emergence.provenance['model']['name']}" for step in steps}


def checkpoint_result(emergence: Emergence, analysis: str, address: str) -> Result:
    """One checkpoint's result. Averages have the standard errors that the emergence has."""
    index = emergence.steps.tolist().index(int(address.removeprefix("step-")))
    origin = {name: value for name, value in emergence.provenance.items() if name != "others"}
    model = origin["model"] | {
        "name": f"{origin['model']['name']}, step {emergence.steps[index]:,}",
        "fingerprint": origin["checkpoints"][index]["fingerprint"],
    }
    provenance = origin | {"analysis": analysis, "model": model, "options": {}}
    if analysis == "dependency_heads":
        shown = {name: origin["options"][name] for name in ("view", "min_count")}
        shown |= {"offsets": int(emergence.offsets.max()), "merge_subtypes": False}  # the default view's
        corpus = emergence.provenance["others"]["treebank"]
        return replace(emergence.dependency(index), provenance=provenance | {"corpus": corpus, "options": shown})
    known = (column.quantity for column in ANALYSES[analysis].columns)  # an emergence names quantities, not analyses
    quantities = [name for name in known if name in emergence.present]
    rows = [emergence.quantities.index(name) for name in quantities]
    mean, error = emergence.averages[index, rows], emergence.errors[index, rows]
    segments, top = np.full(len(rows), provenance["segments"]), np.zeros((*mean.shape, 0))
    over = emergence.units[rows], emergence.effective_units[rows], emergence.unit
    return averages_of(analysis)(provenance, quantities, mean, error, segments, *over, top.astype(int), top, {})
