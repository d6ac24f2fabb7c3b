"""The passes over minimal pairs: the margin of every pair with all heads, and without each of them (docs/methods.md,
section 19)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.base.corpus_run import RunStage
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.base.view import Find
from bertviz_core.analyses.minimal_pairs.head_sets import masks, random_sets, sets_of
from bertviz_core.analyses.minimal_pairs.pair_flips import flips_of, texts_of
from bertviz_core.analyses.minimal_pairs.result import QUANTITIES, MinimalPairs
from bertviz_core.analyses.minimal_pairs.set_changes import changes_of, with_sets
from bertviz_core.analyses.minimal_pairs.unit_averages import averages, independent_pairs
from bertviz_core.corpora import Skipped
from bertviz_core.corpora.pairs import are_aligned
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import InputError
from bertviz_core.inputs.encoded_pairs import EncodedPair, Pairs
from bertviz_core.inputs.encoding import Batch, buckets, collate
from bertviz_core.models.ablation import Restart, mean_outputs, predict_recorded, predict_without
from bertviz_core.models.loss import BATCH_TOKENS, Labels, targets_of
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.pair_scores import (
    Question,
    add_margins,
    labels_of,
    log_probabilities,
    masked_words,
    next_words,
)

IN_TURN = "a pair whose words are not only replaced (every word is scored in turn)"
TOO_SHORT = "a pair with a sentence of one token, of which nothing is predicted"


class PairsRun:
    """The margins of minimal pairs: with s(x) the sum of the log-probabilities that a sentence x is scored by, the
    margin of a pair is s(good) - s(bad), in nats, and the pair is right where it is above 0 (docs/methods.md, section
    19).

    Attributes:
        sets: The sets of heads that are removed together.
        controls: Random sets, where there is a single set.
        stored: A stored result of the same pairs, which has the numbers of single heads; None where these are to be
            computed.
        skipped: The pairs that cannot be scored.
        examples: The pairs. Set by `run`, as are those that follow.
        margins: (pair,) with all heads, nats.
        without: (layer, head, pair) without each head, nats; not used where `stored` has their averages.
        different_sets: The heads of the different sets among `sets` and `controls`.
        without_sets: (set, pair) without each of the `different_sets`, nats.
    """

    def __init__(self, model: AttentionModel, request: Request, find: Find = lambda _: None) -> None:
        self.model = model
        self.replace = request.options.get("replace", "zero")
        self.score = request.options.get("score", "differing")
        self.sets = sets_of(request.options)
        alone = len(self.sets) == 1
        self.controls = random_sets(self.sets[0].heads, model.heads, request.settings.seed) if alone else []
        self.stored = find(without_sets(request)) if self.sets else None
        self.shift = targets_of(model.checkpoint, model.tokens, request.settings.seed).shift
        self.skipped = Skipped()

    def run(
        self, examples: Sequence[EncodedPair], run_stage: RunStage, progress: Progress, batch_tokens: int | None
    ) -> None:
        """Score all pairs with all heads, without each, and without each set.

        Args:
            run_stage: Not used: the layers' inputs are needed again without each head.
            progress: Counts the inputs that are scored without the heads of a layer; raises Cancelled.
            batch_tokens: The most tokens of a batch; None for the model's default.
        """
        layers, heads = self.model.layers, self.model.heads
        self.restart = Restart(self.model)
        self.batch_tokens = min(batch_tokens or self.model.batch_tokens, BATCH_TOKENS)
        self.examples = list(self._scored(examples))
        if not self.examples:
            raise InputError("No pair can be scored.", hint="Give sentences of two words or more.")
        self.margins = np.zeros((1, len(self.examples)), dtype=np.float32)
        singles = layers if self.stored is None else 0
        self.without = np.zeros((singles, heads, len(self.examples)), dtype=np.float32)
        self.different_sets = list(dict.fromkeys([*(each.heads for each in self.sets), *self.controls]))
        self.without_sets = np.zeros((len(self.different_sets), len(self.examples)), dtype=np.float32)
        count = sum(1 for _ in self._questions())
        self.mean = None
        if self.replace == "mean":
            progress.start("Measuring the mean outputs of heads", count, "inputs")
            self.mean = mean_outputs(self.model, (batch for batch, _ in self._batches(progress)))
        parts = list(self._parts(torch.from_numpy(masks(self.different_sets, layers, heads))))
        progress.start("Scoring without heads", count * len(parts), "inputs")
        for batch, questions in self._batches(Progress(cancelled=progress.cancelled)):
            self._measure(batch, questions, parts, progress)

    def _parts(self, different_sets: Tensor) -> Iterator[tuple[Tensor, np.ndarray, Any]]:
        """What is removed in passes that begin at one layer: sets (set, layer, head), the array (all sets, pair) of
        their margins, and their places in it. First every head of a layer, unless a stored result has them, then those
        of the sets `different_sets` whose first layer it is."""
        layers, heads = self.model.layers, self.model.heads
        for layer in range(len(self.without)):
            single = torch.zeros(heads, layers, heads, dtype=torch.bool)
            single[:, layer].fill_diagonal_(True)
            yield single, self.without[layer], slice(None)
        first = different_sets.any(-1).int().argmax(-1)
        for layer in first.unique().tolist():
            places = (first == layer).nonzero().flatten()
            yield different_sets[places], self.without_sets, places.numpy()

    def _scored(self, examples: Sequence[EncodedPair]) -> Iterator[EncodedPair]:
        """The pairs that can be scored; others, and those that are scored in another way, are counted."""
        for example in examples:
            if self.shift and min(map(len, example.sides)) < 2:
                self.skipped.add(TOO_SHORT, example.where, unit="pairs")
                continue
            if not (self.shift or self.score == "pll" or are_aligned(example.pair.good, example.pair.bad)):
                self.skipped.add(IN_TURN, example.where)
            yield example

    def _questions(self) -> Iterator[Question]:
        for place, example in enumerate(self.examples):
            if self.shift:
                yield from next_words(place, example)
            else:
                yield from masked_words(place, example, self.model.tokens, self.score)

    def _batches(self, progress: Progress) -> Iterator[tuple[Batch, list[Question]]]:
        """The questions in batches of similar length; counts them, and raises Cancelled."""
        for rows in buckets(self._questions(), self.batch_tokens, self.model.length_limit):
            questions = [each for each in rows if isinstance(each, Question)]
            yield collate(questions, self.model.tokens, self.model.device), questions
            progress.advance(len(questions))

    def _measure(
        self,
        batch: Batch,
        questions: list[Question],
        parts: Sequence[tuple[Tensor, np.ndarray, Any]],
        progress: Progress,
    ) -> None:
        labels = labels_of(questions, self.model.device)
        whole, inputs = predict_recorded(self.restart, batch, labels)
        add_margins(self.margins, questions, log_probabilities(whole)[None])
        for heads, margins, places in parts:
            sums = margins[places]
            add_margins(sums, questions, self._scores(batch, labels, inputs, heads))
            margins[places] = sums
            progress.advance(len(questions))

    def _scores(self, batch: Batch, labels: Labels, inputs: Sequence[Tensor], heads: Tensor) -> np.ndarray:
        """(set, asked token) the log-probabilities without each of several sets (set, layer, head) with one first
        layer."""
        without = predict_without(
            self.restart,
            batch,
            labels,
            inputs,
            heads,
            mean=self.mean,
            uniform=self.replace == "uniform",
            batch_tokens=self.batch_tokens,
        )
        return np.stack([log_probabilities(each) for each in without])


def without_sets(request: Request) -> Request:
    """The request for single heads alone."""
    names = ("heads", "sets", "above_baseline")
    options = {name: value for name, value in request.options.items() if name not in names}
    return replace(request, options=options, others={})


def finish(run: PairsRun, corpus: Pairs, provenance: Provenance) -> MinimalPairs:
    """Create the result: averages over all pairs and by phenomenon, and the pairs that flip.

    Args:
        run: A finished run.
        corpus: The corpus as it was read.
        provenance: What the result was computed from.
    """
    margins = run.margins[0].astype(float)
    names = [example.pair.phenomenon for example in run.examples]
    members = {name: np.array([each == name for each in names]) for name in dict.fromkeys(names)}
    if isinstance(run.stored, MinimalPairs):
        result = replace(run.stored, provenance=provenance)
    else:
        result = _single_heads(run, margins, members, provenance)
    if not run.sets:
        return result
    return with_sets(
        result,
        run.sets,
        run.controls,
        run.without_sets[
            [run.different_sets.index(heads) for heads in (*(each.heads for each in run.sets), *run.controls)]
        ],
        margins=margins,
        members=[*members.values()],
        examples=run.examples,
    )


def _single_heads(
    run: PairsRun, margins: np.ndarray, members: dict[str, np.ndarray], provenance: Provenance
) -> MinimalPairs:
    """The result of single heads, of the margins (pair,) with all heads, and by phenomenon of the pairs (pair,) that it
    has."""
    without = np.moveaxis(run.without, -1, 0).astype(float)  # (pair, layer, head)
    right = margins > 0
    values = changes_of(margins, without)  # (pair, quantity, layer, head)
    units = np.array([example.document_number for example in run.examples])
    overall = averages(values, units)
    by_phenomenon = [averages(values[member], units[member]) for member in members.values()]
    whole = [averages(margins[member], units[member]) for member in members.values()]
    flips = [flips_of(margins, without, member) for member in members.values()]
    places = np.stack([each.places for each in flips])
    both = np.ones(len(QUANTITIES))
    return MinimalPairs(
        provenance=provenance,
        quantities=list(QUANTITIES),
        mean=overall.mean,
        error=overall.error,
        segments=(len(margins) * both).astype(np.int64),
        units=(overall.units * both).astype(np.int64),
        effective_units=overall.effective_units * both,
        unit=provenance["unit"],
        top=np.zeros((*overall.mean.shape, 0), dtype=np.int64),
        top_values=np.zeros((*overall.mean.shape, 0), dtype=np.float32),
        texts={},
        phenomenon="",
        phenomena=list(members),
        pairs=np.array([int(member.sum()) for member in members.values()]),
        accuracy=np.array([right[member].mean() for member in members.values()]),
        independent_pairs=np.array([independent_pairs(right[member], units[member]) for member in members.values()]),
        margin=np.array([float(each.mean) for each in whole]),
        margin_error=np.array([float(each.error) for each in whole]),
        changes=np.stack([part.mean for part in by_phenomenon]),
        errors=np.stack([part.error for part in by_phenomenon]),
        units_of=np.array([part.units for part in by_phenomenon]),
        effective_units_of=np.array([part.effective_units for part in by_phenomenon]),
        flipped=places,
        flipped_margins=np.stack([each.margins for each in flips]),
        flips=np.stack([each.total for each in flips]),
        pair_texts=texts_of(run.examples, margins, places),
    )
