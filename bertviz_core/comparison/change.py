"""One quantity in two runs, head by head: the difference, its interval and its test (docs/methods.md, section 13); and
what differs between two runs, which may make their numbers hard to compare.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtr

from bertviz_core.analyses.findings import Interval, gain_interval
from bertviz_core.analyses.proportions import ALPHA, Estimate, t_quantile, wilson
from bertviz_core.analyses.request import ONE_SIDED
from bertviz_core.heads import Head, all_heads
from bertviz_core.models.checkpoint import short_names

HALVINGS = 60


@dataclass(frozen=True)
class Change:
    """One quantity in both runs, of the same shape. All (layer, head).

    Attributes:
        a, b: The quantity in each run.
        difference: b - a.
        low, high: 95% interval of the difference: Newcombe's for proportions, Welch's for averages; NaN where no error
            is known.
        p: Two-sided, adjusted over all heads by Holm; NaN where the error is not known, or rests on too few units.
    """

    a: np.ndarray
    b: np.ndarray
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray

    @classmethod
    def of(cls, a: Estimate, b: Estimate) -> Change:
        """The change of one quantity between the two runs' estimates."""
        difference = b.values - a.values
        freedom = welch(a, b)
        quantile = t_quantile(freedom)
        if a.n and b.n:
            z = newcombe_errors(a, b)
            interval = newcombe(a, b, quantile)
        else:
            error = np.hypot(a.standard_error, b.standard_error)
            z = np.divide(np.abs(difference), error, out=np.full_like(difference, np.inf), where=error != 0)
            interval = difference - quantile * error, difference + quantile * error
        p = two_sided(np.where((difference == 0) & ~np.isnan(z), 0.0, z), freedom)
        if not (a.is_enough and b.is_enough):
            p = np.full_like(p, np.nan)
        return cls(a.values, b.values, difference, *interval, holm(p))

    @property
    def marked(self) -> np.ndarray:
        """(layer, head) bool: whether the head's adjusted p is under ALPHA."""
        return np.nan_to_num(self.p, nan=1.0) < ALPHA

    @property
    def untested(self) -> bool:
        """Whether no head has a p: no errors are known, or they rest on too few units."""
        return bool(np.isnan(self.p).all())

    def by_size(self) -> list[Head]:
        """All heads, the largest difference first; heads without a value are left out."""
        heads, known = all_heads(*self.a.shape), int((~np.isnan(self.difference)).sum())
        order = np.argsort(-np.abs(self.difference), axis=None, kind="stable")  # NaN last
        return [heads[index] for index in order[:known]]


def two_sided(z: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """p of differences of so many standard errors, by Student's t."""
    return np.asarray(2 * stdtr(freedom, -z))


def welch(a: Estimate, b: Estimate) -> np.ndarray:
    """(layer, head) degrees of freedom of a difference (Welch, 1947; Satterthwaite, 1946)."""
    variances = a.standard_error**2, b.standard_error**2
    with np.errstate(divide="ignore", invalid="ignore"):
        each = sum(v**2 / freedom for v, freedom in zip(variances, (a.freedom, b.freedom), strict=True))
        joint = (variances[0] + variances[1]) ** 2 / each
    return np.where(each == 0, np.where(joint > 0, np.inf, np.minimum(a.freedom, b.freedom)), joint)


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's (1979) adjusted p values of a family of tests, in the same shape: with p sorted, the running maximum of
    (m - k + 1) p_k, at most 1. NaN is left out of the family."""
    adjusted = np.array(p, dtype=float)
    tested = ~np.isnan(adjusted)
    values = adjusted[tested]
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(order), 0, -1)
    values[order] = np.minimum(np.maximum.accumulate(factors * values[order]), 1.0)
    adjusted[tested] = values
    return adjusted


def newcombe(a: Estimate, b: Estimate, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Interval of b - a, two independent proportions (Newcombe 1998, method 10): (low, high), from the Wilson intervals
    of z standard errors of both."""
    of_a, of_b = (Interval(*wilson(each.values * each.size, each.size, z)) for each in (a, b))
    gain = gain_interval(b.values, of_b, a.values, of_a)
    return gain.low, gain.high


def newcombe_errors(a: Estimate, b: Estimate) -> np.ndarray:
    """The z with which an end of Newcombe's interval is 0: a difference is significant where its interval excludes 0.
    Found by doubling and halving, for the interval widens with z."""
    rises = b.values > a.values

    def excludes(z: np.ndarray) -> np.ndarray:
        low, high = newcombe(a, b, z)
        return np.where(rises, low > 0, high < 0)

    below, above = np.zeros_like(a.values), np.ones_like(a.values)
    while (wide := excludes(above)).any():
        below, above = np.where(wide, above, below), np.where(wide, 2 * above, above)
    for _ in range(HALVINGS):
        middle = (below + above) / 2
        wide = excludes(middle)
        below, above = np.where(wide, middle, below), np.where(wide, above, middle)
    return np.where(np.isnan(a.values + b.values + a.size + b.size), np.nan, below)


SETTINGS = ("mode", "weights", "seed", "max_length", "limit", "dtype")
INPUTS = {"max_length": "maximum length", "limit": "limit of inputs", "dtype": "precision"}
FEWER_TOKENS = "each of its tokens divides its attention among fewer"
ONE_CAUSAL = {
    **dict.fromkeys(ONE_SIDED, "its accuracies are of arcs to earlier words"),
    **dict.fromkeys(("sep_gradients", "ablation"), "its loss is of next words, the other's of masked words"),
}
CONSERVATIVE = (
    "The errors of A and B are combined as if the runs were independent. On one corpus they are not, and the test is "
    "conservative: it marks too few heads rather than too many."
)


def values_of(provenance: dict[str, Any]) -> dict[str, Any]:
    """Model, corpus, settings and options that a run was computed with, by name."""
    settings = {"weights": "attention"} | provenance["settings"]
    corpora = {role: other["digest"] for role, other in provenance.get("others", {}).items()}
    return {
        "model": provenance["model"]["fingerprint"],
        "corpus": provenance["corpus"]["digest"],
        **{name: settings[name] for name in SETTINGS},
        **provenance["options"],
        **corpora,
    }


def differing(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """Names of what differs between two provenances."""
    first, second = values_of(a), values_of(b)
    return [name for name in first | second if first.get(name) != second.get(name)]


def cautions(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """Sentences about what makes two runs hard to compare, then on how errors are combined."""
    first, second, notes = _readable(a), _readable(b), []
    for name in differing(a, b):
        pair = "({} and {})".format(*("none" if run.get(name) is None else run[name] for run in (first, second)))
        if name in INPUTS:
            notes.append(f"The runs differ in {INPUTS[name]} {pair}: they did not read the same inputs alike.")
        elif name == "mode":
            notes.append("The runs differ in mode, which changes definitions: token types, smoothing, skipped inputs.")
        elif name == "weights":
            notes.append("One run read attention weights, the other norms: the same quantities of other maps.")
        elif name == "corpus":
            notes.append("The runs read different corpora, so a difference may be one of the texts.")
        elif name not in ("model", "seed"):
            notes.append(f"The runs differ in {name.replace('_', ' ')} {pair}: their numbers count different things.")
    causal = [bool(run["model"].get("causal")) for run in (a, b)]
    if all(causal) and a["analysis"] in ONE_SIDED:
        notes.append("Both models see only what comes earlier: their accuracies are of arcs to earlier words.")
    elif any(causal) and not all(causal):
        notes.append(f"One of the models sees only what comes earlier: {ONE_CAUSAL.get(a['analysis'], FEWER_TOKENS)}.")
    return [*notes, CONSERVATIVE] if "corpus" not in differing(a, b) else notes


def _readable(provenance: dict[str, Any]) -> dict[str, Any]:
    """As `values_of`, with the names of further files in place of their digests."""
    return values_of(provenance) | {role: other["name"] for role, other in provenance.get("others", {}).items()}


def names(a: dict[str, Any], b: dict[str, Any]) -> tuple[str, str]:
    """Names of the two runs: what differs between them, in a few words each."""
    if not (different := differing(a, b)):
        return "A", "B"
    models = short_names([run["model"]["name"] for run in (a, b)])
    first, second = (_name(run, different, models) for run in (a, b))
    if first != second:
        return first, second
    digests = (
        ", ".join(values_of(run)[name][:8] for name in ("model", "corpus") if name in different) for run in (a, b)
    )
    return f"{first} ({next(digests)})", f"{second} ({next(digests)})"  # files of one name


def _name(provenance: dict[str, Any], different: list[str], models: dict[str, str]) -> str:
    shown = _readable(provenance) | {
        "model": models[provenance["model"]["name"]],
        "corpus": provenance["corpus"]["name"],
        "limit": provenance["settings"]["limit"] or "none",
    }
    words = {"mode": "mode ", "seed": "seed ", "max_length": "at most ", "limit": "limit "}
    return ", ".join(f"{words.get(name, '')}{shown.get(name, f'no {name}')}" for name in different)
