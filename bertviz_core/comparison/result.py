"""Two runs of one analysis: every quantity of every head in both, and its difference (docs/methods.md, section 13)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Provenance, Result, choosing, head_frame, to_lists
from bertviz_core.analyses.base.statistics import ALPHA, MIN_UNITS, Estimate, units_text
from bertviz_core.comparison.change import CONSERVATIVE, Change, cautions, changes, differences, names
from bertviz_core.emergence.result import REQUIRED, Emergence
from bertviz_core.engine.packing import pack
from bertviz_core.errors import SettingsError
from bertviz_core.heads import highest
from bertviz_core.numbers import number

OFFERED = 5  # checkpoints of a training: the first, the last, and those between at equal distances


@dataclass(frozen=True)
class Comparison(Result):
    """The quantities that both runs have (docs/methods.md, section 13); `provenance` is that of run A.

    Attributes:
        compared: The name of the analysis whose results are compared.
        a: The estimates of run A by quantity, first the one that the page of the analysis opens on.
        b: The estimates of run B, in the same order.
        other: The provenance of run B.
        missing: The quantities that only one run has.
        changes: The differences by quantity; empty where the models have different shapes.
    """

    analysis: ClassVar[str] = "comparison"
    compared: str
    a: dict[str, Estimate]
    b: dict[str, Estimate]
    other: Provenance
    missing: list[str]
    changes: dict[str, Change]

    def on(self, quantity: str | None = None) -> Self:
        """The comparison with a quantity first, of which its sentence, its figure and its files are; by default with
        that in which the most heads differ.

        Raises:
            SettingsError: The runs do not share the quantity.
        """
        quantity = quantity or self.most_changed
        if quantity not in self.a:
            hint = f"Choose one of {', '.join(self.a)}."
            raise SettingsError(f"The two runs share no quantity {quantity!r}.", hint=hint)
        a, b = ({quantity: run[quantity]} | run for run in (self.a, self.b))
        return replace(choosing(self, quantity=quantity), a=a, b=b)

    @property
    def most_changed(self) -> str:
        """The quantity in which the most heads differ, the first of equals; without changes the first."""
        marked = {key: int(change.marked.sum()) for key, change in self.changes.items()}
        return max(self.a, key=lambda key: marked.get(key, 0))

    @property
    def names(self) -> tuple[str, str]:
        """The names of runs A and B, by their differences."""
        return names(self.provenance, self.other)

    @property
    def notes(self) -> list[str]:
        """What a reader must know of the two runs: differences besides the model, what one lacks, and the units."""
        notes = cautions(self.provenance, self.other)
        if not self.changes:
            shapes = " and ".join("{} × {}".format(*run[self.opens_on].values.shape) for run in (self.a, self.b))
            notes.insert(0, f"The models have different shapes ({shapes} heads), so no head has a counterpart.")
        analysis = ANALYSES[self.compared]
        readings = {analysis.reading(run["options"]) for run in (self.provenance, self.other)}
        if len(readings) == 1 and (reading := readings.pop()):
            notes.append(f"{reading[0].upper()}{reading[1:]}.")
        if self.missing:
            notes.append(f"Only one of the runs has: {', '.join(map(self.label, self.missing))}.")
        if self.changes and all(change.untested for change in self.changes.values()):
            notes = [note for note in notes if note != CONSERVATIVE]
            why = " without standard errors of both runs"
            if self._has_too_few_units:
                why = f": {self.units_text}, where at least {MIN_UNITS} in each run are needed"
            notes.append(f"No difference is marked{why}.")
        elif self.changes and self.units_text:
            notes.append(f"Intervals are over {self.units_text}.")
        return notes

    @property
    def _has_too_few_units(self) -> bool:
        return any(0 < (run[self.opens_on].units or 0) < MIN_UNITS for run in (self.a, self.b))

    @property
    def units_text(self) -> str:
        runs = {"A": self.a[self.opens_on], "B": self.b[self.opens_on]}
        known = [f"{units_text(run.units, run.unit)} in {name}" for name, run in runs.items() if run.units is not None]
        return " and ".join(known)

    @property
    def runs(self) -> dict[str, Provenance]:
        return {"the numbers of A": self.provenance, "the numbers of B": self.other}

    def file_parts(self) -> tuple[str, ...]:
        kind, *inputs = super().file_parts()
        return kind, self.compared, *inputs, *self.names

    def arrays(self) -> dict[str, Any]:
        return {}

    def _parts(self) -> dict[str, dict[str, np.ndarray]]:
        """Part -> quantity -> (layer, head): the values of both runs, and the changes."""
        parts = {
            "a": {key: estimate.values for key, estimate in self.a.items()},
            "b": {key: estimate.values for key, estimate in self.b.items()},
        }
        for name in ("difference", "p", "low", "high"):
            parts[name] = {key: getattr(change, name) for key, change in self.changes.items()}
        return parts

    def summary(self) -> dict[str, Any]:
        """The compared values under "a", "b", "difference", "p", "low" and "high", by quantity."""
        values = {name: {key: to_lists(value) for key, value in part.items()} for name, part in self._parts().items()}
        differing = list(differences(self.provenance, self.other))
        about = {"compared": self.compared, "differing": differing, "notes": self.notes}
        return values | about | {"other_provenance": self.other}

    def to_bytes(self) -> bytes:
        """safetensors: an array (layer, head) for each part and quantity, as "difference/to_sep"."""
        arrays = {f"{name}/{key}": value for name, part in self._parts().items() for key, value in part.items()}
        return pack({**arrays, "a": self.provenance, "b": self.other}, analysis=self.analysis)

    def to_frame(self) -> pd.DataFrame:
        """A row for each quantity and head; for models of different shapes also for each run."""
        frames = [head_frame(vars(change)).assign(quantity=key) for key, change in self.changes.items()]
        if not frames:
            for run, estimates in (("A", self.a), ("B", self.b)):
                for key, estimate in estimates.items():
                    frame = head_frame({"value": estimate.values})
                    frames.append(frame.assign(quantity=key, run=run))
        table = pd.concat(frames, ignore_index=True)
        return table.assign(a_is=self.names[0], b_is=self.names[1])

    def tables(self) -> dict[str, pd.DataFrame]:
        """For each quantity the heads with the highest values in A and in B, and the difference of these values."""
        rows = []
        for key in self.a:
            row: dict[str, Any] = {"quantity": key}
            best = []
            for name, run in (("a", self.a[key]), ("b", self.b[key])):
                head = highest(run.values)
                if run.n:
                    row[f"n_{name}"] = run.n
                row[f"head_{name}"] = head.key()
                row[name] = float(run.values[head])
                best.append(run.of(head))
            change = Change.of(*best)
            row["difference"] = change.difference.item()
            row["low"] = change.low.item()
            row["high"] = change.high.item()
            rows.append(row)
        return {"best": pd.DataFrame(rows)}

    def headline(self) -> str:
        """How the runs differ in the quantity on which it opens, in a sentence."""
        return self.change_sentence(self.opens_on) if self.changes else self.notes[0]

    @property
    def opens_on(self) -> str:
        """The quantity that comes first."""
        return next(iter(self.a))

    def label(self, key: str) -> str:
        """The displayed name of a quantity."""
        return ANALYSES[self.compared].label(key)

    def change_sentence(self, key: str) -> str:
        """A sentence on how heads differ in a quantity.

        Args:
            key: One of the quantities of `changes`.
        """
        change = self.changes[key]
        name = self.label(key)
        head = change.by_size()[0]
        if change.difference[head] == 0:
            return f"No head differs in {name}."
        moved = f"{head.label()} changed most, from {number(change.a[head])} to {number(change.b[head])}"
        if change.untested:
            why = "over so few inputs" if self._has_too_few_units else "without standard errors"
            return f"In {name}, head {moved}; {why} no difference is marked."
        marked = f"{int(change.marked.sum())} of {change.a.size} heads differ in {name}"
        return f"{marked} (Holm-adjusted p < {ALPHA}); {moved}."


def _opening(first: Result, shared: Sequence[str]) -> str:
    """The one of the shared quantities on which the page of the analysis opens, else that of its first column; empty
    where that does not matter."""
    analysis = ANALYSES[first.analysis]
    view = analysis.view().resolve(first)
    opened = getattr(view, view.target) if view.target else ""
    columns = (column.quantity for column in analysis.columns)
    return next((name for name in (opened, *columns) if name in shared), "")


def compare(a: Result, b: Result) -> Comparison:
    """Compare two results of one analysis.

    Raises:
        SettingsError: The two have no quantity in common.
    """
    first = a.default_view()
    second = b.default_view()
    estimates = _estimates(first)
    others = _estimates(second)
    shared = [key for key in estimates if key in others]
    if a.analysis != b.analysis or not shared:
        raise SettingsError(
            f"Results of {a.analysis} and {b.analysis} have no number of each head in common.",
            hint="Choose two results of one analysis that says something of each head.",
        )
    opening = _opening(first, shared)
    shared.sort(key=lambda key: key != opening)
    missing = sorted(estimates.keys() ^ others.keys())
    estimates = {key: estimates[key] for key in shared}
    others = {key: others[key] for key in shared}
    is_alike = estimates[shared[0]].values.shape == others[shared[0]].values.shape
    by_quantity = changes(estimates, others) if is_alike else {}
    return Comparison(
        provenance=first.provenance,
        compared=a.analysis,
        a=estimates,
        b=others,
        other=second.provenance,
        missing=missing,
        changes=by_quantity,
    )


def _estimates(result: Result) -> dict[str, Estimate]:
    """By quantity; where an analysis has no estimates its columns, without errors."""
    columns = {column.quantity: column.read(result) for column in ANALYSES[result.analysis].columns}
    return result.estimates() or {name: Estimate(values) for name, values in columns.items() if values is not None}


def checkpoint_names(emergence: Emergence, analysis: str) -> dict[str, str]:
    """Address, such as "step-500" -> name of the checkpoints to offer; empty for an analysis that is not stored."""
    if analysis not in REQUIRED:
        return {}
    chosen = np.unique(np.linspace(0, len(emergence.steps) - 1, OFFERED).round().astype(int))
    steps = emergence.steps[chosen].tolist()
    return {f"step-{step}": f"step {step:,} of {emergence.provenance['model']['name']}" for step in steps}


def checkpoint_result(emergence: Emergence, analysis: str, address: str) -> Result:
    """The result of an analysis at the checkpoint with an address, see `checkpoint_names`."""
    index = emergence.steps.tolist().index(int(address.removeprefix("step-")))
    return emergence.results(index)[analysis]
