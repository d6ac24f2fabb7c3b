"""What heads do at every checkpoint of a training: surface patterns, entropy and dependency heads, and the quantities
that other analyses let it follow (beyond the paper)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Provenance, Result, cached_on_result, choosing, tidy, to_lists
from bertviz_core.analyses.base.statistics import counts_of_best, t_quantile
from bertviz_core.analyses.dependency_heads.guess_counts import NO_RELATION
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.entropy.result import Entropy
from bertviz_core.analyses.induction.result import Induction
from bertviz_core.analyses.surface_patterns.result import SurfacePatterns, sinks
from bertviz_core.corpora.treebank import UAS
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head, all_keys
from bertviz_core.overview.head_columns import behavior_labels
from bertviz_core.plotting import percent

AVERAGED: dict[str, type[HeadAverages]] = {each.analysis: each for each in (SurfacePatterns, Entropy)}
REQUIRED = (*AVERAGED, RelationCounts.analysis)  # a checkpoint without one of these is skipped
OF_RELATIONS = (  # fields that are the same at every step
    *("relations", "n", "offsets", "offset_correct", "visible", "random_correct"),
    *("unit_moments", "offset_moments"),
)
MAX_RELATIONS = 6  # relations that are shown at a time
TABLE_RELATIONS = 2  # relations that have columns in the table


def followed() -> dict[str, HeadColumn]:
    """The columns of the quantities that analyses let it follow, by their names in exports."""
    return {
        analysis.export_name(column.quantity): column
        for analysis in ANALYSES.values()
        for column in analysis.columns
        if column.is_followed
    }


@dataclass(frozen=True)
class Emergence(Result):
    """A training, checkpoint by checkpoint (docs/methods.md, section 16).

    `offsets` and the fields after it are as in RelationCounts; those without an axis `step` are the same at every step.

    Attributes:
        steps: (step,) int64 the steps of the training.
        tokens: (step,) int64 tokens trained on so far; -1 where that is not known.
        loss: (step,) the mean over segments of the loss, nats, with the same masks at every step; NaN for a model
            without the head that predicts words.
        masked_accuracy: (step,) share of the masked (or next) words that are guessed, 0 to 1.
        quantities: Names along the axis `quantity`.
        averages: (step, quantity, layer, head) document averages; NaN for a quantity that no segment has.
        errors: (step, quantity, layer, head) standard errors of these over units; NaN for under two units.
        units: (quantity,) how many units have the quantity, at every step.
        effective_units: (quantity,) how many units of equal size carry the same information.
        unit: What the units are, in the plural.
        uniform: The entropy of uniform attention, nats.
        relations: "all" and "UAS" first, then relations by falling number of words.
        n: (fold, relation) words.
        correct: (step, fold, direction, relation, layer, head) right guesses.
        offsets: (offset,) the fixed offsets, in words to the right.
        offset_correct: (offset, relation) right guesses of fixed offsets.
        visible: (fold, direction, relation) words that count, of a causal model; None of others.
        random_correct: (direction, relation) mean right guesses of a random word, of a causal model; None of others.
        unit_moments: (2, fold, relation) sums over units of 1 and n^2; None where they are not known.
        offset_moments: (2, offset, relation) sums over units for fixed offsets; None where they are not known.
        head_moments: (step, ...) sums over units for heads; None where they are not known.
        curves: Names of the further quantities that are followed, see `followed`, without those that no step has.
        curve_means: (step, curve, layer, head) document averages, NaN at a step without a result; None without curves.
        curve_low: (step, curve, layer, head) lower ends of their 95% intervals over units.
        curve_high: (step, curve, layer, head) upper ends.
        repeated: Names of the quantities of induction; empty where no step has it.
        repeats: (step, 2, quantity, layer, head) averages and standard errors of these, NaN at a step without; None
            where no step has it.
        sequences: How many inputs each of these rests on.
        copy_losses: (step, copy) mean loss of a token of the first and of the second copy of repeated random tokens,
            nats; NaN at a step without, None where no step has it.
    """

    analysis: ClassVar[str] = "emergence"
    steps: np.ndarray
    tokens: np.ndarray
    loss: np.ndarray
    masked_accuracy: np.ndarray
    quantities: list[str]
    averages: np.ndarray
    errors: np.ndarray
    units: np.ndarray
    effective_units: np.ndarray
    unit: str
    uniform: float
    relations: list[str]
    n: np.ndarray
    correct: np.ndarray
    offsets: np.ndarray
    offset_correct: np.ndarray
    visible: np.ndarray | None = None
    random_correct: np.ndarray | None = None
    unit_moments: np.ndarray | None = None
    offset_moments: np.ndarray | None = None
    head_moments: np.ndarray | None = None
    curves: list[str] = field(default_factory=list)
    curve_means: np.ndarray | None = None
    curve_low: np.ndarray | None = None
    curve_high: np.ndarray | None = None
    repeated: list[str] = field(default_factory=list)
    repeats: np.ndarray | None = None
    sequences: int = 0
    copy_losses: np.ndarray | None = None

    def __getitem__(self, quantity: str) -> np.ndarray:
        """(step, layer, head) document averages; raises KeyError for an unknown name."""
        if quantity not in self.quantities:
            raise KeyError(quantity)
        return self.averages[:, self.quantities.index(quantity)]

    def error(self, quantity: str) -> np.ndarray:
        """(step, layer, head) standard errors of a quantity."""
        return self.errors[:, self.quantities.index(quantity)]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of layers, and of heads of a layer."""
        return self.averages.shape[2], self.averages.shape[3]

    @property
    def present(self) -> list[str]:
        """Quantities that some segment has."""
        return [name for name in self.quantities if not np.isnan(self[name]).all()]

    @property
    def with_errors(self) -> list[str]:
        """The quantities whose standard errors are known."""
        return [name for name in self.present if not np.isnan(self.error(name)).all()]

    @cached_property
    def dependencies(self) -> list[RelationCounts]:
        """The dependency heads of every step, under the default view; counts are int64, so that sums have room."""
        options = {name: self.provenance["options"][name] for name in ("view", "min_count")}
        options |= {"offsets": int(self.offsets.max()), "merge_subtypes": False}
        about = {"corpus": self.provenance["others"]["treebank"], "options": options}
        moments = self.head_moments
        shared = {name: getattr(self, name) for name in OF_RELATIONS}
        counts = self.correct.astype(np.int64)
        return [
            RelationCounts(
                self._origin(RelationCounts.analysis, index) | about,
                correct=correct,
                head_moments=None if moments is None else moments[index],
                **shared,
            )
            for index, correct in enumerate(counts)
        ]

    def results(self, index: int) -> dict[str, Result]:
        """The results of one step by analysis, without segments of high values."""
        results: dict[str, Result] = {RelationCounts.analysis: self.dependencies[index]}
        for analysis, result_class in AVERAGED.items():
            origin = self._origin(analysis, index)
            columns = (column.quantity for column in ANALYSES[analysis].columns)
            names = [name for name in columns if name in self.present]
            rows = [self.quantities.index(name) for name in names]
            results[analysis] = result_class(
                origin,
                quantities=names,
                mean=self.averages[index, rows],
                error=self.errors[index, rows],
                segments=np.full(len(rows), origin["segments"]),
                units=self.units[rows],
                effective_units=self.effective_units[rows],
                unit=self.unit,
                **self._no_segments(len(rows)),
            )
        if self.repeats is not None and not np.isnan(self.repeats[index]).all():
            results[Induction.analysis] = self._induction(self.repeats[index], self._origin(Induction.analysis, index))
        return results

    def _induction(self, values: np.ndarray, origin: Provenance) -> Induction:
        """The induction of one step, without its losses, from (2, quantity, layer, head) averages and errors."""
        mean, error = values
        count = np.full(len(mean), self.sequences)
        return Induction(
            origin,
            quantities=self.repeated,
            mean=mean,
            error=error,
            segments=count,
            units=count,
            effective_units=count.astype(float),
            unit="sequences",
            length=0,
            **self._no_segments(len(mean)),
        )

    def _no_segments(self, quantities: int) -> dict[str, Any]:
        """The fields of HeadAverages that keep segments of high values: none are kept."""
        none = np.zeros((quantities, *self.shape, 0))
        return {"top": none.astype(int), "top_values": none, "texts": {}}

    def origin_at(self, index: int) -> Provenance:
        """Where the numbers of a step come from."""
        return self._origin(SurfacePatterns.analysis, index)

    def _origin(self, analysis: str, index: int) -> dict[str, Any]:
        origin = {name: value for name, value in self.provenance.items() if name != "others"}
        name = f"{origin['model']['name']}, step {self.steps[index]:,}"
        model = origin["model"] | {"name": name, "fingerprint": origin["checkpoints"][index]["fingerprint"]}
        return origin | {"analysis": analysis, "model": model, "options": {}}

    def curve(self, name: str) -> np.ndarray:
        """(step, layer, head) document averages of one of `curves`."""
        assert self.curve_means is not None, "a result with curves"
        return self.curve_means[:, self.curves.index(name)]

    def curve_limits(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """(low, high), each (step, layer, head): the ends of the 95% intervals of one of `curves`."""
        assert self.curve_low is not None and self.curve_high is not None, "a result with curves"
        index = self.curves.index(name)
        return self.curve_low[:, index], self.curve_high[:, index]

    @property
    def best_accuracy(self) -> np.ndarray:
        """(step, relation) of each step's best head, selected on the words that it is scored on."""
        return np.stack([each.best_accuracy for each in self.dependencies])

    @property
    def heldout(self) -> np.ndarray:
        """(step, relation) of the best head of each half of the treebank, scored on the other half."""
        return np.stack([each.held_out()[0] for each in self.dependencies])

    def followed(self) -> np.ndarray:
        """(step, relation) accuracy over training of the head that is the best at the last step."""
        best = self.dependencies[-1].best()
        return np.stack([counts_of_best(each.accuracy, best) for each in self.dependencies])

    @property
    def baseline(self) -> np.ndarray:
        """(relation,) accuracy of the best fixed offset; of a causal model in the direction of the final best head."""
        return self.dependencies[-1].baseline

    @cached_on_result
    def behaviors(self) -> np.ndarray:
        """(step, layer, head) names of behaviors; linguistic heads are those that find relations."""
        steps = map(self.results, range(len(self.steps)))
        return np.stack([labels for labels in map(behavior_labels, steps) if labels is not None])

    @cached_on_result
    def clearest_relations(self, count: int) -> list[str]:
        """The relations whose final best head is the furthest above `RelationCounts.control`, the furthest first."""
        gain = dict(zip(self.relations, self.best_accuracy[-1] - self.dependencies[-1].control, strict=True))
        named = [name for name in self.relations if name not in NO_RELATION]
        return sorted(named, key=lambda name: -gain[name])[:count]

    def on(self, step: int | None = None, relations: Sequence[str] | None = None, head: str | None = None) -> Self:
        """The training with what is reported of it: a step, by default the last, relations, by default the clearest and
        UAS, and a head, by default none.

        Raises:
            SettingsError: The training has no such step, relation or head.
        """
        chosen = int(self.steps[-1]) if step is None else step
        if chosen not in self.steps:
            hint = f"Choose one of {', '.join(map(str, self.steps.tolist()))}."
            raise SettingsError(f"There is no checkpoint of step {chosen:,}.", hint=hint)
        if unknown := [name for name in relations or () if name not in self.relations]:
            hint = f"Choose from {', '.join(self.relations)}."
            raise SettingsError(f"There is no relation {unknown[0]!r} with enough words.", hint=hint)
        names = self.opening_relations if relations is None else list(relations)
        choices: dict[str, Any] = {"step": chosen, "relations": names}
        if head is not None:
            Head.parse(head).check(*self.shape)
            choices["head"] = Head.parse(head).key()
        return choosing(self, **choices)

    @property
    def opening_relations(self) -> list[str]:
        """The relations that are shown first."""
        return [*self.clearest_relations(MAX_RELATIONS - 1), UAS]

    @property
    def step_index(self) -> int:
        """The index of the chosen step."""
        return self.steps.tolist().index(self.choices["step"])

    def tables(self) -> dict[str, pd.DataFrame]:
        """For every head and step behavior, averages and accuracies; for every relation and step the best head."""
        names = all_keys(*self.shape)
        steps = self.steps.tolist()

        def flat(values: np.ndarray) -> np.ndarray:
            return values.reshape(*values.shape[:-2], -1)

        heads = {"behavior": flat(self.behaviors())} | {name: flat(self[name]) for name in self.present}
        for name in self.with_errors:
            freedom = self.effective_units[self.quantities.index(name)] - 1
            heads[f"{name}_interval"] = flat(np.asarray(t_quantile(freedom) * self.error(name)))
        for name in self.curves:
            low, high = self.curve_limits(name)
            heads |= {name: flat(self.curve(name)), f"{name}_low": flat(low), f"{name}_high": flat(high)}
        accuracy = flat(np.stack([each.better[0] for each in self.dependencies]))
        heads |= {f"{name}_accuracy": accuracy[:, row] for row, name in enumerate(self.relations)}
        followed = self.followed()
        relations = {
            "head": np.array(names)[accuracy.argmax(-1)],
            "accuracy": self.best_accuracy,
            "heldout_accuracy": self.heldout,
            "followed_accuracy": followed,
            "baseline_accuracy": np.broadcast_to(self.baseline, followed.shape),
        }
        return {
            "heads": tidy({"step": steps, "head": names}, heads),
            "relations": tidy({"step": steps, "relation": self.relations}, relations),
        }

    @property
    def notes(self) -> list[str]:
        return self.dependencies[0].notes

    @property
    def loss_name(self) -> str:
        """What the loss is of: next words, or masked ones."""
        return "next-word loss" if self.provenance["model"].get("causal") else "masked-word loss"

    def uas(self, index: int | None = None) -> str:
        """UAS of the best head of one step; of the best fixed offset without a step."""
        row = self.relations.index(UAS)
        accuracy = self.baseline[row] if index is None else self.dependencies[index].best_accuracy[row]
        return percent(accuracy, int(self.dependencies[-1].best_n[row]))

    def headline(self) -> str:
        """What the training comes to, in a sentence."""
        loss = ""
        first, last = self.loss[[0, -1]]
        if not np.isnan(first + last):
            loss = f"the {self.loss_name} goes from {first:.2f} to {last:.2f} nats, "
        arcs = " of the arcs that it sees" if self.visible is not None else ""
        steps = f"Steps {self.steps[0]:,} to {self.steps[-1]:,}"
        uas = f"from {self.uas(0)} to {self.uas(-1)}"
        return f"{steps}: {loss}the best head's UAS{arcs} {uas} (fixed offset: {self.uas()})."

    def file_parts(self) -> tuple[str, ...]:
        kind, _, corpus = super().file_parts()
        return kind, *Path(self.provenance["model"]["name"]).parts[-2:], corpus

    def arrays(self) -> dict[str, Any]:
        """Loss, averages, behaviors and accuracies, with the axis `step` first."""
        return {
            "steps": self.steps.tolist(),
            "tokens": [tokens if tokens >= 0 else None for tokens in self.tokens.tolist()],
            "loss": to_lists(self.loss),
            "masked_right": to_lists(self.masked_accuracy),
            **{name: to_lists(self[name]) for name in self.present},
            "standard_errors": {name: to_lists(self.error(name)) for name in self.with_errors},
            "curves": {name: to_lists(self.curve(name)) for name in self.curves},
            **({} if self.copy_losses is None else {"copy_losses": to_lists(self.copy_losses)}),
            "uniform_entropy": self.uniform,
            "behaviors": self.behaviors().tolist(),
            "directions": list(DIRECTIONS),
            "relations": self.relations,
            "n": self.n.sum(0).tolist(),
            "accuracy": [to_lists(each.accuracy) for each in self.dependencies],
            "heldout_accuracy": to_lists(self.heldout),
            "followed_accuracy": to_lists(self.followed()),
            "followed_heads": [Head(layer, head).key() for _, layer, head in self.dependencies[-1].best().tolist()],
            "offset_accuracy": to_lists(self.baseline),
            "best_offsets": self.dependencies[-1].best_offset.tolist(),
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each step: loss, heads by behavior, means over heads, and accuracies for some relations."""
        columns: dict[str, Any] = {"step": self.steps}
        if (self.tokens >= 0).all():
            columns["tokens"] = self.tokens
        columns |= {"loss": self.loss, "masked_right": self.masked_accuracy}
        neighbors = [name for name in ("next", "previous") if name in self.present]
        columns |= {f"{name}_heads": (self[name] > 0.5).sum((1, 2)) for name in neighbors}
        columns["other_heads"] = (self.behaviors() == "other").sum((1, 2))
        sink = sinks(dict(zip(self.quantities, self.averages[-1], strict=True)))[:1]
        columns |= {name: self[name].mean((1, 2)) for name in (*sink, "entropy")}
        columns |= {f"highest_{name}": np.nanmax(self.curve(name), axis=(1, 2)) for name in self.curves}
        if self.copy_losses is not None:
            columns |= {"first_copy_loss": self.copy_losses[:, 0], "second_copy_loss": self.copy_losses[:, 1]}
        best = self.best_accuracy
        heldout = self.heldout
        for name in [UAS, *self.clearest_relations(TABLE_RELATIONS)]:
            row = self.relations.index(name)
            columns |= {name: best[:, row], f"{name}_heldout": heldout[:, row], f"{name}_offset": self.baseline[row]}
        return pd.DataFrame(columns)
