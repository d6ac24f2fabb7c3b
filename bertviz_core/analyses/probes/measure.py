"""The probes' interface to the passes over a corpus. Definitions: docs/methods.md, section 8."""

import re
from typing import Any

import numpy as np
import torch

from bertviz_core.analyses.probes.features import WordMaps
from bertviz_core.analyses.probes.probe_run import ProbeRun
from bertviz_core.analyses.probes.result import MAX_SENTENCES, Probes
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.results import with_skipped
from bertviz_core.models.loading import prepare
from bertviz_core.models.model import AttentionModel, observing

NUMBERED = re.compile(r"(^|\.)\d+\.")  # a parameter of a layer among layers


def accumulator(model: AttentionModel, request: Request) -> ProbeRun | WordMaps:
    """The run of all probes, not yet started; or the maps of a part, if the option `maps` is the seed of a network."""
    return WordMaps(model, request.settings.paper) if "maps" in request.options else ProbeRun(model, request)


def model_of(model: AttentionModel, request: Request) -> AttentionModel:
    """The model that computes the maps of a part: the given one, or one with randomly re-initialized layers."""
    return model if request.options["maps"] is None else reinitialized(model, request.options["maps"])


def finish(probe_run: ProbeRun, examples: Any, provenance: dict[str, Any]) -> Probes:
    """The result of all probes."""
    gold, outcomes = probe_run.gold, probe_run.outcomes
    relations, by_relation = np.unique(gold.relation, return_inverse=True)
    order = np.argsort(-np.bincount(by_relation), kind="stable")
    distances, by_distance = np.unique(gold.distance, return_inverse=True)
    intervals = np.array([outcome.interval(gold, probe_run.settings.seed) for outcome in outcomes]).reshape(-1, 2)
    columns = ("score", "with_punctuation", "parameters", "seconds")

    def counts(of: np.ndarray, right: bool) -> np.ndarray:
        """(probe, class)."""
        weights = [outcome.counted * (outcome.right if right else 1.0) for outcome in outcomes]
        return np.array([np.bincount(of, weight, of.max() + 1) for weight in weights])

    return Probes(
        provenance=with_skipped(provenance, probe_run.skipped),
        probes=[outcome.name for outcome in outcomes],
        metrics=[outcome.metric for outcome in outcomes],
        **{name: np.array([getattr(outcome, name) for outcome in outcomes]) for name in columns},
        low=intervals[:, 0],
        high=intervals[:, 1],
        relations=relations[order].tolist(),
        relation_n=counts(by_relation, False)[:, order].astype(np.int64),
        relation_right=counts(by_relation, True)[:, order],
        distances=distances,
        distance_n=counts(by_distance, False).astype(np.int64),
        distance_right=counts(by_distance, True),
        **probe_run.weights,
        about=probe_run.about,
        sentences=[
            {
                "where": sentence.where,
                "words": list(sentence.words),
                "governors": list(sentence.governors),
                "relations": list(sentence.relations),
                "guesses": {outcome.name: np.asarray(outcome.guessed[i]).tolist() for outcome in outcomes},
            }
            for i, sentence in ((i, probe_run.sentences[i]) for i in gold.indices[:MAX_SENTENCES].tolist())
        ],
    )


def reinitialized(model: AttentionModel, seed: int) -> AttentionModel:
    """The model with its layers' weights drawn at random by its own initializer; all else, above all the embeddings,
    stays trained."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = type(model.encoder)(model.encoder.config)
    selected = {name: value for name, value in model.encoder.state_dict().items() if not NUMBERED.search(name)}
    encoder.load_state_dict(selected, strict=False)
    encoder = encoder.to(next(model.encoder.parameters()).dtype)
    drawn = prepare(encoder, model.tokens, model.checkpoint, model.device)
    return observing(drawn, "attention" if model.factors is None else "norms")
