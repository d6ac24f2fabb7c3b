"""Probes: how much syntax the maps of all heads together encode (section 5; Table 3).

Definitions: docs/methods.md, section 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bertviz_core.analyses.probes.options import options_of
from bertviz_core.analyses.probes.result import EXAMPLES, Probes
from bertviz_core.analyses.probes.sentences import described
from bertviz_core.analyses.results import with_skipped

if TYPE_CHECKING:
    from bertviz_core.analyses.probes.probe_run import ProbeRun
    from bertviz_core.analyses.probes.word_maps import WordMaps
    from bertviz_core.analyses.request import Request
    from bertviz_core.engine.progress import Progress
    from bertviz_core.engine.stream import StageFunction
    from bertviz_core.models.model import AttentionModel
    from bertviz_core.models.sentences import Sentences


def accumulator(model: AttentionModel, request: Request) -> ProbeRun | WordMaps:
    """The whole work, not yet begun; or the maps of a part, where the option `maps` is the seed of a network."""
    from bertviz_core.analyses.probes.probe_run import ProbeRun
    from bertviz_core.analyses.probes.word_maps import WordMaps

    if "maps" in request.options:
        return WordMaps(model, request.settings.paper)
    return ProbeRun(model, request.settings, options_of(request.options), request.others)


def model_of(model: AttentionModel, request: Request) -> AttentionModel:
    """What the maps of a part are computed by: the model, or its layers re-initialized at random by a seed."""
    from bertviz_core.analyses.probes.controls import redrawn

    return model if request.options["maps"] is None else redrawn(model, request.options["maps"])


def run_stages(
    examples: Sentences,
    probe_run: ProbeRun,
    progress: Progress,
    run_stage: StageFunction,
    batch_tokens: int | None,
) -> None:
    """A pass for each network, and the trainings between them."""
    probe_run.run(examples, progress, run_stage, batch_tokens)


def finish(probe_run: ProbeRun, examples: Sentences, provenance: dict[str, Any]) -> Probes:
    gold, outcomes, seed = probe_run.gold, probe_run.outcomes, probe_run.settings.seed
    relations, by_relation = np.unique(gold.relation, return_inverse=True)
    order = np.argsort(-np.bincount(by_relation), kind="stable")
    distances, by_distance = np.unique(gold.distance, return_inverse=True)
    heads = (probe_run.model.layers, probe_run.model.heads)
    intervals = np.array([outcome.interval(gold, seed) for outcome in outcomes]).reshape(-1, 2)

    def counts(of: np.ndarray, right: bool) -> np.ndarray:
        """(probe, class)."""
        weights = [outcome.counted * (outcome.right if right else 1.0) for outcome in outcomes]
        return np.array([np.bincount(of, weight, of.max() + 1) for weight in weights])

    return Probes(
        provenance=with_skipped(provenance, probe_run.skipped),
        probes=[outcome.name for outcome in outcomes],
        metrics=[outcome.metric for outcome in outcomes],
        score=np.array([outcome.score for outcome in outcomes]),
        low=intervals[:, 0],
        high=intervals[:, 1],
        with_punctuation=np.array([outcome.with_punctuation for outcome in outcomes]),
        parameters=np.array([outcome.parameters for outcome in outcomes]),
        seconds=np.array([outcome.seconds for outcome in outcomes]),
        relations=relations[order].tolist(),
        relation_n=counts(by_relation, False)[:, order].astype(np.int64),
        relation_right=counts(by_relation, True)[:, order],
        distances=distances,
        distance_n=counts(by_distance, False).astype(np.int64),
        distance_right=counts(by_distance, True),
        attention=probe_run.attention,
        root=probe_run.root,
        layers=probe_run.layers,
        words=probe_run.pairs.names,
        vectors=probe_run.pairs.vectors,
        pair_weights=probe_run.pairs.weights.reshape(
            len(probe_run.pairs.weights), 2, *heads, probe_run.pairs.vectors.shape[1]
        ),
        pair_bias=probe_run.pairs.bias.reshape(-1, *heads),
        curves={outcome.name: outcome.curve for outcome in outcomes if outcome.curve},
        about=probe_run.about,
        sentences=[_example(probe_run, i) for i in gold.indices[:EXAMPLES].tolist()],
    )


def take_details(probe_run: ProbeRun) -> Iterator[dict[str, Any]]:
    """The guesses in every sentence of the test part, in parts of EXAMPLES, without words: `sentences.find` reads these
    from the corpus, so that one that is deleted is gone."""
    indices = probe_run.gold.indices.tolist()
    for start in range(0, len(indices), EXAMPLES):
        chosen = indices[start : start + EXAMPLES]
        numbers = [probe_run.sentences[i].number for i in chosen]
        guesses = [_example(probe_run, i)["guesses"] for i in chosen]
        yield {"sentences": [{"number": n, "guesses": g} for n, g in zip(numbers, guesses, strict=True)]}


def _example(probe_run: ProbeRun, index: int) -> dict[str, Any]:
    sentence = probe_run.sentences[index]
    guesses = {outcome.name: np.asarray(outcome.guessed[index]).tolist() for outcome in probe_run.outcomes}
    return described(sentence, guesses)
