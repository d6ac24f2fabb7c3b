"""A head's behavior, which colors Figure 6 and maps of heads, and the linguistic heads that analyses name."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from bertviz_core.analyses.base.presentation import NamedHead
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result, Results
from bertviz_core.corpora import files
from bertviz_core.heads import Head

OTHER, BROAD, LINGUISTIC = "other", "broad", "linguistic"
INDUCTION, DUPLICATE = "induction", "duplicate"  # by the rule of the analysis of induction
BEHAVIORS = (
    "next",
    "previous",
    BROAD,
    "to_cls",
    "to_sep",
    "to_first",
    "to_punct",
    INDUCTION,
    DUPLICATE,
    OTHER,
    LINGUISTIC,
)
SINKS = ("to_sep", "to_cls", "to_first")  # of the special tokens, of which one is the sink
UNTRAINED = (BROAD, OTHER)  # heads of a randomly initialized network do, too
QUANTITIES = ("next", "previous", "entropy", "to_cls", "to_sep", "to_punct", "to_first")
COREFERENCE = "coreference"  # the name of a head that finds antecedents


@dataclass(frozen=True)
class Thresholds:
    """A head has a behavior where its document average is above the threshold (docs/methods.md, section 9).

    The defaults are the release's, which has no `to_first`.

    Attributes:
        next: Share of attention to the next token.
        previous: Share of attention to the previous token.
        entropy: Entropy in nats; shorter inputs need less.
        to_cls: Share of attention to [CLS].
        to_sep: Share of attention to [SEP].
        to_punct: Share of attention to full stops and commas.
        to_first: Share of attention to the first token.
    """

    next: float = 0.5
    previous: float = 0.5
    entropy: float = 3.8
    to_cls: float = 0.6
    to_sep: float = 0.6
    to_punct: float = 0.6
    to_first: float = 0.6


def by_rank(behaviors: Iterable[str]) -> list[str]:
    """Behaviors of one head, the one that says most first: what it finds, what it repeats, then Figure 6's."""
    first = (LINGUISTIC, INDUCTION, DUPLICATE)
    return sorted(behaviors, key=lambda name: first.index(name) if name in first else len(first))


def with_behavior(labels: np.ndarray) -> int:
    """How many heads of (layer, head) labels have a behavior other than UNTRAINED."""
    return int((~np.isin(labels, UNTRAINED)).sum())


def behavior_metric(labels: np.ndarray) -> tuple[str, str, str]:
    """The key number of (layer, head) labels: name, how many heads have a behavior, and a note on the others."""
    others = ", ".join(f"{(labels == name).sum()} {name}" for name in UNTRAINED)
    return "Heads with a behavior", f"{with_behavior(labels)} of {labels.size}", f"and {others}"


def present(averages: Mapping[str, np.ndarray]) -> list[str]:
    """Those of QUANTITIES that some head has, of (layer, head) averages by quantity; `to_first` only where the first
    token is not [CLS]."""
    known = [name for name in QUANTITIES if name in averages and not np.isnan(averages[name]).all()]
    if "to_cls" in known and "to_first" in known:
        known.remove("to_first")
    return known


def behaviors(
    averages: Mapping[str, np.ndarray], thresholds: Thresholds, linguistic: Iterable[Head] = ()
) -> np.ndarray:
    """Label each head by its behavior (docs/methods.md, section 9).

    Args:
        averages: (layer, head) document averages by quantity.
        thresholds: A behavior applies above its threshold; if several apply, the last in the order of Thresholds wins.
        linguistic: Heads that are labeled LINGUISTIC, whatever their averages.

    Returns:
        (layer, head) names out of BEHAVIORS.
    """
    shape = next(iter(averages.values())).shape
    labels = np.full(shape, OTHER, dtype=f"<U{max(map(len, BEHAVIORS))}")
    known = present(averages)
    for quantity, threshold in vars(thresholds).items():
        if quantity in known:
            labels[averages[quantity] > threshold] = "broad" if quantity == "entropy" else quantity
    for head in linguistic:
        labels[head] = LINGUISTIC
    return labels


def linguistic_heads(request: Request, find: Callable[[Request], Result | None]) -> dict[str, str]:
    """`linguistic` of the stored results on samples that `find` reads, for the request's model and settings."""
    results: dict[str, Result] = {}
    for analysis in ANALYSES.values():
        if not analysis.names_heads:
            continue
        for name in files.SAMPLES[analysis.corpus]:
            if result := find(replace(request.for_analysis(analysis.name), source=files.sample(name))):
                results.setdefault(analysis.name, result)
    return linguistic(results)


def linguistic(results: Results) -> dict[str, str]:
    """Label of a linguistic head -> what it is best at: the heads that Figure 6 marks with crosses, each on
    held-out text above every baseline that needs no model."""
    return {label: ", ".join(names) for label, names in _named(results, lambda head: head.name).items()}


def found_by_heads(results: Results) -> dict[str, str]:
    """Label of a linguistic head -> what it finds, as a plural for the legend of a map."""
    plurals = _named(results, lambda head: head.plural or head.name)
    return {label: " and ".join(words) for label, words in plurals.items()}


def _named(results: Results, word: Callable[[NamedHead], str]) -> dict[str, list[str]]:
    """Label of a linguistic head -> the different words for what it is best at."""
    names: dict[str, list[str]] = {}
    for analysis in ANALYSES.values():
        if analysis.name in results:
            for head in analysis.named_heads(results[analysis.name]):
                names.setdefault(head.label, []).append(word(head))
    return {label: list(dict.fromkeys(each)) for label, each in names.items()}
