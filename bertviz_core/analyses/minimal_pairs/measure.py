"""The passes over minimal pairs: the margin of every pair with all heads, and without each of them (docs/methods.md,
section 19)."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.base.corpus_run import RunStage
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.minimal_pairs.options import MinimalPairsOptions
from bertviz_core.analyses.minimal_pairs.result import KEPT, QUANTITIES, MinimalPairs, PairText
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
        options: The settings of the analysis.
        skipped: The pairs that cannot be scored.
        examples: The pairs. Set by `run`, as are those that follow.
        margins: (pair,) with all heads, nats.
        without: (layer, head, pair) without each head, nats.
    """

    def __init__(self, model: AttentionModel, request: Request) -> None:
        self.model = model
        self.options = MinimalPairsOptions(**request.options)
        self.shift = targets_of(model.checkpoint, model.tokens, request.settings.seed).shift
        self.skipped = Skipped()

    def run(
        self, examples: Sequence[EncodedPair], run_stage: RunStage, progress: Progress, batch_tokens: int | None
    ) -> None:
        """Score all pairs with all heads, and without each.

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
        self.without = np.zeros((layers, heads, len(self.examples)), dtype=np.float32)
        count = sum(1 for _ in self._questions())
        self.mean = None
        if self.options.replace == "mean":
            progress.start("Measuring the mean outputs of heads", count, "inputs")
            self.mean = mean_outputs(self.model, (batch for batch, _ in self._batches(progress)))
        progress.start("Scoring without each head", count * layers, "inputs")
        for batch, questions in self._batches(Progress(cancelled=progress.cancelled)):
            self._measure(batch, questions, progress)

    def _scored(self, examples: Sequence[EncodedPair]) -> Iterator[EncodedPair]:
        """The pairs that can be scored; others, and those that are scored in another way, are counted."""
        for example in examples:
            if self.shift and min(map(len, example.sides)) < 2:
                self.skipped.add(TOO_SHORT, example.where, unit="pairs")
                continue
            if not (self.shift or self.options.score == "pll" or are_aligned(example.pair.good, example.pair.bad)):
                self.skipped.add(IN_TURN, example.where)
            yield example

    def _questions(self) -> Iterator[Question]:
        for place, example in enumerate(self.examples):
            if self.shift:
                yield from next_words(place, example)
            else:
                yield from masked_words(place, example, self.model.tokens, self.options.score)

    def _batches(self, progress: Progress) -> Iterator[tuple[Batch, list[Question]]]:
        """The questions in batches of similar length; counts them, and raises Cancelled."""
        for rows in buckets(self._questions(), self.batch_tokens, self.model.length_limit):
            questions = [each for each in rows if isinstance(each, Question)]
            yield collate(questions, self.model.tokens, self.model.device), questions
            progress.advance(len(questions))

    def _measure(self, batch: Batch, questions: list[Question], progress: Progress) -> None:
        labels = labels_of(questions, self.model.device)
        whole, inputs = predict_recorded(self.restart, batch, labels)
        add_margins(self.margins, questions, log_probabilities(whole)[None])
        for layer in range(self.model.layers):
            heads = torch.zeros(self.model.heads, self.model.layers, self.model.heads, dtype=torch.bool)
            heads[:, layer].fill_diagonal_(True)
            add_margins(self.without[layer], questions, self._scores(batch, labels, inputs, heads))
            progress.advance(len(questions))

    def _scores(self, batch: Batch, labels: Labels, inputs: Sequence[Tensor], heads: Tensor) -> np.ndarray:
        """(set, asked token) the log-probabilities without each of several sets (set, layer, head) of one layer."""
        without = predict_without(
            self.restart,
            batch,
            labels,
            inputs,
            heads,
            mean=self.mean,
            uniform=self.options.replace == "uniform",
            batch_tokens=self.batch_tokens,
        )
        return np.stack([log_probabilities(each) for each in without])


def finish(run: PairsRun, corpus: Pairs, provenance: Provenance) -> MinimalPairs:
    """Create the result: averages over all pairs and by phenomenon, and the pairs that flip.

    Args:
        run: A finished run.
        corpus: The corpus as it was read.
        provenance: What the result was computed from.
    """
    margins = run.margins[0].astype(float)
    without = np.moveaxis(run.without, -1, 0).astype(float)  # (pair, layer, head)
    right = margins > 0
    accuracy_change = (without > 0).astype(float) - right[:, None, None]
    values = np.stack([accuracy_change, without - margins[:, None, None]], 1)  # (pair, quantity, layer, head)
    units = np.array([example.document_number for example in run.examples])
    names = [example.pair.phenomenon for example in run.examples]
    phenomena = list(dict.fromkeys(names))
    members = [np.array([name == phenomenon for name in names]) for phenomenon in phenomena]
    overall = averages(values, units)
    by_phenomenon = [averages(values[member], units[member]) for member in members]
    whole = [averages(margins[member], units[member]) for member in members]
    flips = [_flips(margins, without, member) for member in members]
    places = np.stack([numbers for numbers, _, _ in flips])
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
        phenomena=phenomena,
        pairs=np.array([int(member.sum()) for member in members]),
        accuracy=np.array([right[member].mean() for member in members]),
        independent_pairs=np.array([independent_pairs(right[member], units[member]) for member in members]),
        margin=np.array([float(each.mean) for each in whole]),
        margin_error=np.array([float(each.error) for each in whole]),
        changes=np.stack([part.mean for part in by_phenomenon]),
        errors=np.stack([part.error for part in by_phenomenon]),
        units_of=np.array([part.units for part in by_phenomenon]),
        effective_units_of=np.array([part.effective_units for part in by_phenomenon]),
        flipped=places,
        flipped_margins=np.stack([margin for _, margin, _ in flips]),
        flips=np.stack([count for _, _, count in flips]),
        pair_texts=_texts(run.examples, margins, places),
    )


def _flips(margins: np.ndarray, without: np.ndarray, member: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each head the KEPT pairs that flip and whose margin falls most: their places and margins, (layer, head, rank),
    -1 and NaN for none; and (layer, head) how many flip."""
    flips = (member & (margins > 0))[:, None, None] & (without <= 0)
    fall = np.where(flips, without - margins[:, None, None], np.inf)
    fall = np.concatenate([fall, np.full((KEPT, *fall.shape[1:]), np.inf)])  # so that there are KEPT
    order = np.argsort(fall, axis=0, kind="stable")[:KEPT]
    is_pair = np.isfinite(np.take_along_axis(fall, order, 0))
    places = np.where(is_pair, order, -1)
    without_and_nan = np.concatenate([without, np.full((KEPT, *without.shape[1:]), np.nan)])
    margins_without = np.where(is_pair, np.take_along_axis(without_and_nan, order, 0), np.nan)
    return np.moveaxis(places, 0, -1), np.moveaxis(margins_without, 0, -1).astype(np.float32), flips.sum(0)


def _texts(examples: Sequence[EncodedPair], margins: np.ndarray, flipped: np.ndarray) -> dict[str, PairText]:
    """The texts of the pairs that are stored, by their numbers."""
    texts: dict[str, PairText] = {}
    for place in np.unique(flipped[flipped >= 0]).tolist():
        example: Any = examples[place]
        pair = example.pair
        texts[str(place)] = {
            "where": example.where,
            "good": pair.good,
            "bad": pair.bad,
            "margin": float(margins[place]),
        }
    return texts
