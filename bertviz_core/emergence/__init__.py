"""How heads develop during training (beyond the paper): surface patterns, entropy and dependency heads of every
checkpoint."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS
from bertviz_core.analyses.dependency_heads.relations import NO_RELATION, RelationCounts
from bertviz_core.analyses.head_averages import averages_of
from bertviz_core.analyses.proportions import counts_of_best, t_quantile
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Result, tidy, to_lists
from bertviz_core.analyses.surface_patterns import sinks
from bertviz_core.corpora.treebank import UAS
from bertviz_core.heads import Head, all_labels
from bertviz_core.overview import behavior_labels
from bertviz_core.plotting import percent

AVERAGED = ("surface_patterns", "entropy")
REQUIRED = (*AVERAGED, "dependency_heads")  # a checkpoint without one of these is skipped
OF_RELATIONS = ("relations", "n", "offsets", "offset_correct", "visible", "random_correct")  # the same at every step
TABLE_RELATIONS = 2  # relations that have columns in the table


@dataclass(frozen=True)
class Emergence(Result):
    """A training, checkpoint by checkpoint."""

    analysis: ClassVar[str] = "emergence"
    steps: np.ndarray  # (step,) int64
    tokens: np.ndarray  # (step,) int64 trained on so far; -1 where that is not known
    loss: np.ndarray  # (step,) mean of a segment, nats, the same masks at every step; NaN for a model without the head
    masked_accuracy: np.ndarray  # (step,) share of these words that are guessed
    quantities: list[str]  # names of the axis of averages, errors and units
    averages: np.ndarray  # (step, quantity, layer, head) by document; NaN for a quantity that no segment has
    errors: np.ndarray  # their standard errors over units; NaN for under two units, and for the training that ships
    units: np.ndarray  # these three as in HeadAverages, the same at every step
    effective_units: np.ndarray
    unit: str
    uniform: float  # the entropy that uniform attention would have, nats
    relations: list[str]  # names of an axis of n and correct
    n: np.ndarray  # (fold, relation) words
    correct: np.ndarray  # (step, fold, direction, relation, layer, head) guesses that are right
    offsets: np.ndarray  # these four as in RelationCounts
    offset_correct: np.ndarray
    visible: np.ndarray | None = None
    random_correct: np.ndarray | None = None

    def __getitem__(self, quantity: str) -> np.ndarray:
        """(step, layer, head) document averages; raises KeyError for an unknown name."""
        if quantity not in self.quantities:
            raise KeyError(quantity)
        return self.averages[:, self.quantities.index(quantity)]

    def error(self, quantity: str) -> np.ndarray:
        return self.errors[:, self.quantities.index(quantity)]

    @property
    def shape(self) -> tuple[int, int]:
        return self.averages.shape[2], self.averages.shape[3]

    @property
    def present(self) -> list[str]:
        """The quantities that some segment has."""
        return [name for name in self.quantities if not np.isnan(self[name]).all()]

    @property
    def with_errors(self) -> list[str]:
        return [name for name in self.present if not np.isnan(self.error(name)).all()]

    @cached_property
    def dependencies(self) -> list[RelationCounts]:
        """The dependency heads of every step, under the default view."""
        options = {name: self.provenance["options"][name] for name in ("view", "min_count")}
        options |= {"offsets": int(self.offsets.max()), "merge_subtypes": False}
        about = {"corpus": self.provenance["others"]["treebank"], "options": options}
        same = {name: getattr(self, name) for name in OF_RELATIONS}
        origins = (self._origin("dependency_heads", index) | about for index in range(len(self.steps)))
        counts = self.correct.astype(np.int64)  # so that sums have room
        return [RelationCounts(origin, correct=each, **same) for origin, each in zip(origins, counts, strict=True)]

    def results(self, index: int) -> dict[str, Result]:
        """One step's own results by analysis; averages have the standard errors that the training has."""
        results: dict[str, Result] = {"dependency_heads": self.dependencies[index]}
        for analysis in AVERAGED:
            columns = (column.quantity for column in ANALYSES[analysis].columns)
            names = [name for name in columns if name in self.present]
            rows = [self.quantities.index(name) for name in names]
            mean = self.averages[index, rows]
            origin = self._origin(analysis, index)
            counts = np.full(len(rows), origin["segments"]), self.units[rows], self.effective_units[rows], self.unit
            top = np.zeros((*mean.shape, 0))
            averages = names, mean, self.errors[index, rows], *counts, top.astype(int), top
            results[analysis] = averages_of(analysis)(origin, *averages, texts={})
        return results

    def _origin(self, analysis: str, index: int) -> dict[str, Any]:
        """Provenance of one step's own result."""
        origin = {name: value for name, value in self.provenance.items() if name != "others"}
        name = f"{origin['model']['name']}, step {self.steps[index]:,}"
        model = origin["model"] | {"name": name, "fingerprint": origin["checkpoints"][index]["fingerprint"]}
        return origin | {"analysis": analysis, "model": model, "options": {}}

    @property
    def accuracy(self) -> np.ndarray:
        """(step, direction, relation, layer, head), fractions of the words that are counted."""
        return np.stack([each.accuracy for each in self.dependencies])

    @property
    def best_accuracy(self) -> np.ndarray:
        """(step, relation) of each step's own best head, which is picked on the words that it is scored on."""
        return np.stack([each.best_accuracy for each in self.dependencies])

    @property
    def heldout(self) -> np.ndarray:
        """(step, relation) of the best head of each half of the treebank, scored on the other half."""
        return np.stack([each.held_out()[0] for each in self.dependencies])

    def followed(self) -> np.ndarray:
        """(step, relation) accuracy over training of the head that is the best at the last step."""
        return np.stack([counts_of_best(accuracy, self.dependencies[-1].best()) for accuracy in self.accuracy])

    @property
    def baseline(self) -> np.ndarray:
        """(relation,) accuracy of the best fixed offset, the same at every step; of a causal model as for the last
        step's best head."""
        return self.dependencies[-1].baseline

    def behaviors(self) -> np.ndarray:
        """(step, layer, head) names of behaviors, the heads found for relations marked as linguistic."""
        steps = map(self.results, range(len(self.steps)))
        return np.stack([labels for labels in map(behavior_labels, steps) if labels is not None])

    def clearest_relations(self, count: int) -> list[str]:
        """Those whose best head ends the furthest above `RelationCounts.control`, the furthest first."""
        gain = dict(zip(self.relations, self.best_accuracy[-1] - self.dependencies[-1].control, strict=True))
        named = [name for name in self.relations if name not in NO_RELATION]
        return sorted(named, key=lambda name: -gain[name])[:count]

    def tables(self) -> dict[str, pd.DataFrame]:
        """Every head at every step: its behavior, averages and accuracy on each relation, in its better direction; and
        for each step and relation the best head."""
        names = all_labels(*self.shape)
        steps = self.steps.tolist()

        def flat(values: np.ndarray) -> np.ndarray:
            return values.reshape(*values.shape[:-2], -1)

        heads = {"behavior": flat(self.behaviors())} | {name: flat(self[name]) for name in self.present}
        for name in self.with_errors:
            freedom = self.effective_units[self.quantities.index(name)] - 1
            heads[f"{name}_interval"] = flat(np.asarray(t_quantile(freedom) * self.error(name)))
        accuracy = flat(np.stack([each.better[0] for each in self.dependencies]))
        heads |= {f"{name}_accuracy": accuracy[:, row] for row, name in enumerate(self.relations)}
        best = np.array(names)[accuracy.argmax(-1)]
        courses = {"head": best, "accuracy": self.best_accuracy, "heldout_accuracy": self.heldout}
        courses |= {"followed_accuracy": self.followed(), "baseline_accuracy": self.baseline + 0 * self.followed()}
        return {
            "heads": tidy({"step": steps, "head": names}, heads),
            "relations": tidy({"step": steps, "relation": self.relations}, courses),
        }

    @property
    def notes(self) -> list[str]:
        return self.dependencies[0].notes

    @property
    def loss_name(self) -> str:
        return "next-word loss" if self.provenance["model"].get("causal") else "masked-word loss"

    def uas(self, index: int | None = None) -> str:
        """UAS of the best head of one step; of the best fixed offset without a step."""
        row = self.relations.index(UAS)
        accuracy = self.baseline[row] if index is None else self.best_accuracy[index, row]
        return percent(accuracy, int(self.dependencies[-1].best_n[row]))

    def headline(self) -> str:
        loss = ""
        if not np.isnan(self.loss[[0, -1]]).any():
            loss = f"the {self.loss_name} goes from {self.loss[0]:.2f} to {self.loss[-1]:.2f} nats, "
        arcs = " of the arcs that it sees" if self.visible is not None else ""
        return (
            f"Steps {self.steps[0]:,} to {self.steps[-1]:,}: {loss}the best head's UAS{arcs} from {self.uas(0)} to "
            f"{self.uas(-1)} (fixed offset: {self.uas()})."
        )

    def file_parts(self) -> tuple[str, ...]:
        kind, _, corpus = Result.file_parts(self)
        return kind, *Path(self.provenance["model"]["name"]).parts[-2:], corpus

    def arrays(self) -> dict[str, Any]:
        return {
            "steps": self.steps.tolist(),
            "tokens": [tokens if tokens >= 0 else None for tokens in self.tokens.tolist()],
            "loss": to_lists(self.loss),
            "masked_right": to_lists(self.masked_accuracy),
            **{name: to_lists(self[name]) for name in self.present},
            "standard_errors": {name: to_lists(self.error(name)) for name in self.with_errors},
            "uniform_entropy": self.uniform,
            "behaviors": self.behaviors().tolist(),
            "directions": list(DIRECTIONS),
            "relations": self.relations,
            "n": self.n.sum(0).tolist(),
            "accuracy": to_lists(self.accuracy),
            "heldout_accuracy": to_lists(self.heldout),
            "followed_accuracy": to_lists(self.followed()),
            "followed_heads": [Head(layer, head).label() for _, layer, head in self.dependencies[-1].best().tolist()],
            "offset_accuracy": to_lists(self.baseline),
            "best_offsets": self.dependencies[-1].best_offset.tolist(),
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each step: loss, heads by behavior, means over heads, and for UAS and the most telling relations
        the best head's accuracy (picked on these words), the held-out one, and the best fixed offset's."""
        columns: dict[str, Any] = {"step": self.steps}
        if (self.tokens >= 0).all():
            columns["tokens"] = self.tokens
        columns |= {"loss": self.loss, "masked_right": self.masked_accuracy}
        neighbors = [name for name in ("next", "previous") if name in self.present]
        columns |= {f"{name}_heads": (self[name] > 0.5).sum((1, 2)) for name in neighbors}
        columns["other_heads"] = (self.behaviors() == "other").sum((1, 2))
        sink = sinks(dict(zip(self.quantities, self.averages[-1], strict=True)))[:1]
        columns |= {name: self[name].mean((1, 2)) for name in (*sink, "entropy")}
        best = self.best_accuracy
        heldout = self.heldout
        for name in [UAS, *self.clearest_relations(TABLE_RELATIONS)]:
            row = self.relations.index(name)
            columns[name] = best[:, row]
            columns[f"{name}_heldout"] = heldout[:, row]
            columns[f"{name}_offset"] = np.full(len(self.steps), self.baseline[row])
        return pd.DataFrame(columns)
