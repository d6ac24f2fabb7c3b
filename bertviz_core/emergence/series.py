"""The requests for all checkpoints of a training, and the emergence from their results."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bertviz_core.analyses.base.averages import HeadAverages
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance, Result
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.entropy.result import Entropy
from bertviz_core.analyses.induction.result import Induction
from bertviz_core.analyses.run.run_pass import can_compute
from bertviz_core.analyses.sep_gradients.result import SepGradients
from bertviz_core.analyses.surface_patterns.result import SurfacePatterns
from bertviz_core.corpora import Skipped
from bertviz_core.corpora.files import sample
from bertviz_core.corpora.source import Source
from bertviz_core.emergence.result import AVERAGED, OF_RELATIONS, REQUIRED, Emergence
from bertviz_core.emergence.training import Training, name_of, reasons
from bertviz_core.errors import ModelError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.settings import Settings

SHIPPED = Path(__file__).parent.parent / "assets" / "emergence" / "demo-decoder.safetensors"
LOSS = SepGradients.analysis  # the analysis whose masked-word loss is shown, where a checkpoint has the head for it
RELATIONS = RelationCounts.analysis
UNKNOWN_TOKENS = -1  # a checkpoint does not say how many they were trained on


def shipped() -> Emergence:
    """The emergence that ships, of the training of the demo decoder."""
    return Emergence.from_bytes(SHIPPED.read_bytes())


@dataclass(frozen=True)
class CheckpointRequests:
    """The requests for all checkpoints of a training, and the emergence from their results.

    Attributes:
        text: The text for surface patterns, entropy, the loss, and what other analyses follow on text.
        treebank: The treebank for dependency heads.
    """

    training: Training
    text: Source
    treebank: Source
    settings: Settings

    def requests(self) -> list[Request]:
        """The requests of all checkpoints, without those beside REQUIRED for which a checkpoint has no head."""
        requests: list[Request] = []
        for checkpoint in self.training.checkpoints:
            requests += self.requests_of(checkpoint).values()
        return [each for each in requests if each.analysis in REQUIRED or can_compute(each)]

    def requests_of(self, checkpoint: Checkpoint) -> dict[str, Request]:
        """The requests of one checkpoint by analysis, first the one that needs the most of the model."""
        corpora = {"text": self.text, "treebank": self.treebank, "random": sample("random")}
        return {
            name: Request(name, checkpoint, corpora[ANALYSES[name].corpus], ANALYSES[name].relevant(self.settings))
            for name in analyses()
        }

    def assemble(self, find: Callable[[Request], Result | None]) -> Emergence:
        """Build the emergence from stored results.

        Raises:
            ModelError: Every checkpoint lacks one of REQUIRED.
        """
        training = self.training
        skipped = deepcopy(training.skipped)
        rows: list[dict[str, Any]] = []
        checkpoints = []
        followed: list[Mapping[str, Any]] = []  # results by analysis, of each step
        notices: dict[str, None] = {}  # The notices of all checkpoints, each of them once.
        for step, checkpoint in zip(training.steps, training.checkpoints, strict=True):
            name = name_of(checkpoint)
            results: dict[str, Any] = {each: find(request) for each, request in self.requests_of(checkpoint).items()}
            if any(results[each] is None for each in REQUIRED):
                skipped.add("a checkpoint without stored results", name)
                continue
            if results[LOSS] is None:
                skipped.add("no masked-word loss", name)
            relations = results[RELATIONS].default_view()
            rows.append(_row(step, results, relations))
            checkpoints.append({"name": name, "step": step, "fingerprint": checkpoint.fingerprint()})
            notices |= dict.fromkeys(each for name in REQUIRED for each in results[name].provenance.get("notices", ()))
            last = results | {RELATIONS: relations}
            followed.append(results)
        if not rows:
            what = f"None of the {len(training.steps)} checkpoints has stored results."
            raise ModelError(what, where=training.name, hint=reasons(skipped))
        arrays: dict[str, Any] = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
        for name in ("correct", "head_moments"):
            arrays[name] = arrays[name].astype(np.min_scalar_type(int(arrays[name].max())))
        return Emergence(
            provenance=self._provenance(last, checkpoints, skipped) | ({"notices": [*notices]} if notices else {}),
            **arrays,
            **{name: getattr(relations, name) for name in OF_RELATIONS},
            quantities=_averaged(last, "quantities").tolist(),
            units=_averaged(last, "units"),
            effective_units=_averaged(last, "effective_units"),
            unit=last[Entropy.analysis].unit,
            uniform=last[Entropy.analysis].uniform,
            **_curves(followed),
            **_induction(followed),
        )

    def _provenance(self, results: Mapping[str, Any], checkpoints: list[Any], skipped: Skipped) -> Provenance:
        """The provenance, in which the training stands for the model, and the text for the corpus."""
        text = results[SurfacePatterns.analysis].provenance
        treebank = results[RELATIONS].provenance
        model = {"name": self.training.name, "revision": None, "fingerprint": self.training.fingerprint()}
        return {
            **text,
            "analysis": Emergence.analysis,
            "model": text["model"] | model,
            "checkpoints": checkpoints,
            "others": {"treebank": treebank["corpus"]},
            **{name: treebank[name] for name in ("format", "sentences", "words", "unit")},
            "read": [_what_was_read(each) for each in (text, treebank)],
            "skipped": [*skipped.to_json(), *text["skipped"], *treebank["skipped"]],
            "options": {name: treebank["options"][name] for name in ("view", "min_count")},
        }


def analyses() -> list[str]:
    """What is computed of each checkpoint, first the analysis that needs the most of the model."""
    others = (name for name, each in ANALYSES.items() if _followed(name) and each.corpus != "coreference")
    return list(dict.fromkeys([LOSS, *REQUIRED, *others]))


def _followed(name: str) -> list[str]:
    """The quantities of an analysis whose course over a training is kept."""
    return [column.quantity for column in ANALYSES[name].columns if column.is_followed]


def _row(step: int, results: Mapping[str, Any], relations: RelationCounts) -> dict[str, Any]:
    """The fields of one step that have an axis `step`."""
    gradients = results[LOSS]
    return {
        "steps": step,
        "tokens": UNKNOWN_TOKENS,
        "loss": gradients.loss if gradients else np.nan,
        "masked_accuracy": gradients.accuracy if gradients else np.nan,
        "averages": _averaged(results, "mean").astype(np.float32),
        "errors": _averaged(results, "error").astype(np.float32),
        "correct": relations.correct,
        "head_moments": relations.head_moments,
    }


def _curves(steps: Sequence[Mapping[str, Result | None]]) -> dict[str, Any]:
    """The fields of the quantities that analyses let a training follow; empty where no step has one.

    Args:
        steps: The results of each step, by analysis.
    """
    names = list[str]()
    curves = list[np.ndarray]()
    for name in analyses():
        found = [step[name] for step in steps]
        known = [each for each in found if isinstance(each, HeadAverages)]
        for quantity in _followed(name):
            if not any(quantity in each for each in known):
                continue
            none = np.full((3, *known[-1].mean.shape[1:]), np.nan)
            names.append(ANALYSES[name].export_name(quantity))
            curves.append(np.stack([none if each is None else _with_limits(each, quantity) for each in found]))
    if not names:
        return {}
    means, low, high = np.stack(curves, axis=2).swapaxes(0, 1).astype(np.float32)
    return {"curves": names, "curve_means": means, "curve_low": low, "curve_high": high}


def _induction(steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The fields of induction, NaN at a step without a result; empty where no step has one."""
    found: list[Induction | None] = [step[Induction.analysis] for step in steps]
    known = [each for each in found if each is not None]
    if not known:
        return {}
    none = np.full((2, *known[-1].mean.shape), np.nan)
    repeats = [none if each is None else np.stack([each.mean, each.error]) for each in found]
    losses = [(np.nan, np.nan) if each is None or not each.has_losses else each.losses for each in found]
    fields = {"repeats": np.stack(repeats).astype(np.float32), "sequences": int(known[-1].units.max())}
    return fields if np.isnan(losses).all() else fields | {"copy_losses": np.array(losses, dtype=np.float32)}


def _with_limits(result: Result, quantity: str) -> np.ndarray:
    """(3, layer, head) averages and the ends of their 95% intervals; NaN where the result lacks the quantity."""
    assert isinstance(result, HeadAverages)
    return np.stack([result.mean[result.quantities.index(quantity)], *result.limits(quantity)])


def _what_was_read(provenance: Provenance) -> dict[str, Any]:
    """A corpus, what was skipped of it, and the counts of what was read."""
    counts = {name: value for name, value in provenance.items() if type(value) is int}
    return {"corpus": provenance["corpus"], "skipped": provenance["skipped"], **counts}


def _averaged(results: Mapping[str, Any], field: str) -> np.ndarray:
    """(quantity, ...) of a field of surface patterns and entropy, without "uniform", the same for all heads."""
    both = [results[name] for name in AVERAGED]
    names = np.concatenate([each.quantities for each in both])
    values = np.concatenate([getattr(each, field) for each in both])
    return values[names != "uniform"]
