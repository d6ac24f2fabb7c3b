"""The change of a quantity between two runs (docs/methods.md, section 13), and what differs between the runs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtr

from bertviz_core.analyses.base.findings import Interval, gain_interval
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.base.statistics import ALPHA, Estimate, t_quantile, wilson
from bertviz_core.heads import Head, all_heads
from bertviz_core.models.checkpoint import short_names
from bertviz_core.numbers import column_decimals, fixed, p_value


@dataclass(frozen=True)
class Change:
    """One quantity in two runs of the same shape, and its difference (docs/methods.md, section 13); all (layer, head).

    Attributes:
        a: Values of run A.
        b: Values of run B.
        difference: B minus A.
        low: Lower ends of the 95% intervals, Newcombe's of proportions, else Welch's; NaN where no error is known.
        high: Upper ends.
        p: Two-sided p values, adjusted (see `changes`); NaN for unknown errors or too few units.
    """

    a: np.ndarray
    b: np.ndarray
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray

    @classmethod
    def of(cls, a: Estimate, b: Estimate) -> "Change":
        """The change of one quantity that is looked at alone."""
        return changes({"": a}, {"": b})[""]

    @classmethod
    def unadjusted(cls, a: Estimate, b: Estimate) -> "Change":
        """The change with the p values of each head alone, of the best of several `choices` times their number."""
        difference = b.values - a.values
        freedom = welch(a, b)
        quantile = t_quantile(freedom)
        if a.n and b.n:
            z = newcombe_z(a, b)
            low, high = newcombe(a, b, quantile)
        else:
            error = np.hypot(a.standard_error, b.standard_error)
            z = np.divide(np.abs(difference), error, out=np.full_like(difference, np.inf), where=error != 0)
            low = difference - quantile * error
            high = difference + quantile * error
        z = np.where((difference == 0) & ~np.isnan(z), 0.0, z)
        p = np.full_like(difference, np.nan)
        if a.is_enough and b.is_enough:
            p = np.minimum(2 * stdtr(freedom, -z) * a.choices, 1.0)
        return cls(a.values, b.values, difference, low, high, p)

    @property
    def marked(self) -> np.ndarray:
        """(layer, head) bool: whether the difference is significant."""
        return self.p < ALPHA

    @property
    def untested(self) -> bool:
        """Whether no head could be tested."""
        return bool(np.isnan(self.p).all())

    def by_size(self) -> list[Head]:
        """All heads, the largest difference first; heads without a value are left out."""
        known = [head for head in all_heads(*self.a.shape) if not np.isnan(self.difference[head])]
        return sorted(known, key=lambda head: -abs(self.difference[head]))

    def rows(self, count: int) -> list[dict[str, str]]:
        """Rows of a table of the heads that differ most.

        Args:
            count: The most rows.
        """
        rows = []
        decimals = column_decimals(float(np.nanmax(np.abs([self.a, self.b]), initial=0)))
        for head in self.by_size()[:count]:
            low = self.low[head]
            interval = f"{fixed(low, decimals)} to {fixed(self.high[head], decimals)}"
            row = {
                "head": head.label(),
                "A": fixed(self.a[head], decimals),
                "B": fixed(self.b[head], decimals),
                "B − A": fixed(self.difference[head], decimals),
                "95% interval": "–" if np.isnan(low) else interval,
                "p": p_value(self.p[head]).removeprefix("= "),
                "differs": "✓" if self.marked[head] else "",
            }
            rows.append(row)
        return rows


def changes(a: Mapping[str, Estimate], b: Mapping[str, Estimate]) -> dict[str, Change]:
    """The changes of quantities that are looked at together: p values are adjusted by Holm over all heads of all of
    them."""
    alone = {key: Change.unadjusted(estimate, b[key]) for key, estimate in a.items()}
    adjusted = iter(holm(np.stack([change.p for change in alone.values()])))
    return {key: replace(change, p=next(adjusted)) for key, change in alone.items()}


def welch(a: Estimate, b: Estimate) -> np.ndarray:
    """(layer, head) degrees of freedom of a difference (Welch, 1947; Satterthwaite, 1946)."""
    of_a = a.standard_error**2
    of_b = b.standard_error**2
    with np.errstate(divide="ignore", invalid="ignore"):
        each = of_a**2 / a.freedom + of_b**2 / b.freedom
        joint = (of_a + of_b) ** 2 / each
    without_error = np.where(joint > 0, np.inf, np.minimum(a.freedom, b.freedom))
    return np.where(each == 0, without_error, joint)


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's (1979) adjusted p values: of m sorted ones the running maximum of (m - k + 1) p_k, at most 1."""
    adjusted = np.empty(p.size)
    order = np.argsort(p, axis=None, kind="stable")  # NaN last
    factors = np.count_nonzero(~np.isnan(p)) - np.arange(p.size)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p.flat[order]), 1.0)
    return adjusted.reshape(p.shape)


def newcombe(a: Estimate, b: Estimate, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of b - a, independent proportions, from Wilson intervals of z errors (Newcombe, 1998, method 10)."""
    of_a, of_b = (Interval(*wilson(each.values * each.size, each.size, z)) for each in (a, b))
    gain = gain_interval(b.values, of_b, a.values, of_a)
    return gain.low, gain.high


def newcombe_z(a: Estimate, b: Estimate) -> np.ndarray:
    """(layer, head) the largest z whose Newcombe interval excludes 0.

    It is found by doubling and halving, since the interval widens with z.
    """

    def excludes(z: np.ndarray) -> np.ndarray:
        low, high = newcombe(a, b, z)
        return np.where(b.values > a.values, low > 0, high < 0)

    below = np.zeros_like(a.values)
    above = np.ones_like(a.values)
    while (wide := excludes(above)).any():
        below = np.where(wide, above, below)
        above = np.where(wide, 2 * above, above)
    for _ in range(60):  # Each round halves the interval that contains z.
        middle = (below + above) / 2
        wide = excludes(middle)
        below = np.where(wide, middle, below)
        above = np.where(wide, above, middle)
    return np.where(np.isnan(a.values + b.values + a.size + b.size), np.nan, below)


SETTINGS = ("mode", "weights", "seed", "max_length", "limit", "dtype")
INPUTS = {"max_length": "maximum length", "limit": "limit of inputs", "dtype": "precision"}
WARNINGS = {  # sentences on differences whose two values are not named
    "mode": "The runs differ in mode, which changes definitions: token types, smoothing, skipped inputs.",
    "weights": "One run read attention weights, the other norms, so the quantities were measured on different maps.",
    "corpus": "The runs read different corpora, so a difference may be due to the texts.",
}
CONSERVATIVE = (
    "The errors of A and B are combined as if the runs were independent. On one corpus they are not, and the test is "
    "conservative: it marks too few heads rather than too many."
)
VALUES = {  # the words of the app's header
    ("mode", "corrected"): "corrected",
    ("mode", "paper"): "as published",
    ("weights", "attention"): "weights",
    ("weights", "norms"): "vector lengths",
}
WORDS = {  # words for values in names; other values follow the name of their part
    **dict.fromkeys(("model", "corpus", "weights", "dtype"), "{}"),
    "max_length": "at most {} tokens",
    "limit": "{} inputs",
}


def differences(a: Provenance, b: Provenance) -> dict[str, list[tuple[Any, Any]]]:
    """Parts of two provenances that differ -> (identity, name) in each run; (None, None) where a run lacks the part."""
    first = _parts(a)
    second = _parts(b)
    pairs = {name: [run.get(name, (None, None)) for run in (first, second)] for name in first | second}
    return {name: pair for name, pair in pairs.items() if pair[0][0] != pair[1][0]}


def _parts(run: Provenance) -> dict[str, tuple[Any, Any]]:
    """(identity, name) of the model, the files, the settings and the options."""
    values = {name: run["settings"][name] for name in SETTINGS} | run["options"]
    files = {"corpus": run["corpus"]} | run.get("others", {})
    parts = {"model": (run["model"]["fingerprint"], run["model"]["name"])}
    parts |= {role: (file["digest"], file["name"]) for role, file in files.items()}
    return parts | {name: (value, value) for name, value in values.items()}


def cautions(a: Provenance, b: Provenance) -> list[str]:
    """What makes two runs hard to compare, and how errors are combined, in sentences."""
    notes = []
    different = differences(a, b)
    for name, parts in different.items():
        pair = "({} and {})".format(*("none" if value is None else value for _, value in parts))
        if name in INPUTS:
            notes.append(f"The runs differ in {INPUTS[name]} {pair}, so they read the inputs differently.")
        elif name in WARNINGS:
            notes.append(WARNINGS[name])
        elif name not in ("model", "seed"):
            notes.append(f"The runs differ in {name.replace('_', ' ')} {pair}: their numbers count different things.")
    causal = [bool(run["model"].get("causal")) for run in (a, b)]
    analysis = ANALYSES[a["analysis"]]
    if all(causal) and analysis.both_causal:
        notes.append(f"Both models see only what comes earlier: {analysis.both_causal}.")
    elif any(causal) and not all(causal):
        notes.append(f"One of the models sees only what comes earlier: {analysis.one_causal}.")
    return notes if "corpus" in different else [*notes, CONSERVATIVE]


def names(a: Provenance, b: Provenance) -> tuple[str, str]:
    """Two runs' names, by their differences."""
    different = differences(a, b)
    if not different:
        return "A", "B"
    models = short_names([run["model"]["name"] for run in (a, b)])
    named = []
    digests = []
    for run in (0, 1):
        parts = {name: pair[run] for name, pair in different.items()}
        named.append(", ".join(worded(name, models.get(value, value)) for name, (_, value) in parts.items()))
        digests.append(", ".join(identity[:8] for identity, value in parts.values() if identity != value))
    if named[0] == named[1]:  # The names are equal, so digests tell them apart.
        named = [f"{name} ({digest})" for name, digest in zip(named, digests, strict=True)]
    return named[0], named[1]


def worded(part: str, value: object) -> str:
    """A part of a provenance in a few words, as "seed 3"."""
    if known := VALUES.get((part, str(value))):
        return known
    name = part.replace("_", " ")
    return f"no {name}" if value is None else WORDS.get(part, f"{name} {{}}").format(value)
