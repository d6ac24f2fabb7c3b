"""Dependency heads: which head finds which relation, in which direction (4.2; Table 1). Definitions: methods, 6."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bertviz_core.analyses.guesses import DIRECTIONS, EXAMPLES, OFFSETS, Guesses, Rules
from bertviz_core.analyses.intervals import wilson
from bertviz_core.analyses.results import Result, to_lists
from bertviz_core.corpora.function_heads import POSSESSIVES, function_heads
from bertviz_core.corpora.trees import Sentence
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head

if TYPE_CHECKING:
    import pandas as pd

    from bertviz_core.engine.requests import Request
    from bertviz_core.models.loading import AttentionModel
    from bertviz_core.models.sentences import Sentences

ALL, UAS = "all", "UAS"  # every word, as in the release; every word whose relation is not `punct`
VIEWS = ("as-is", "function-heads")
DEFAULTS: dict[str, Any] = {"view": VIEWS[0], "possessives": False}
RELEASE_OFFSETS = tuple(range(-3, 3))
RELEASE_POSSESSIVES = ("'s", "s'")


@dataclass(frozen=True, slots=True)
class DependencyHeads(Result):
    """Correct guesses for every relation and head. Axes: (fold, direction, relation, layer, head), counted in words.

    relations: names the axis; "all" and "UAS" first, then by falling number of words.   n: (fold, relation) words.
    correct: guesses that are right.   offsets: (offset,) the fixed offsets that compete as baselines.
    offset_correct: (offset, relation) right guesses of each.
    sentences: the first ones of the treebank, as {"number", "where", "words", "governors", "relations"}.
    guesses, weights: (direction, layer, head, word) for their words one after the other: the word guessed, counted
    from 0 within its sentence, and the attention it has.
    """

    analysis: ClassVar[str] = "dependency_heads"
    relations: list[str]
    n: np.ndarray
    correct: np.ndarray
    offsets: np.ndarray
    offset_correct: np.ndarray
    sentences: list[dict[str, Any]]
    guesses: np.ndarray
    weights: np.ndarray

    @property
    def paper(self) -> bool:
        return bool(self.provenance["settings"]["mode"] == "paper")

    @property
    def accuracy(self) -> np.ndarray:
        """(direction, relation, layer, head), fractions."""
        return _share(self.correct.sum(0), self.n.sum(0)[:, None, None])

    @property
    def best(self) -> np.ndarray:
        """(relation, 3): direction, layer and head of the highest accuracy, the first of equals."""
        return _best(self.correct.sum(0))

    @property
    def heldout(self) -> np.ndarray:
        """(relation,) accuracy where each half's best head, picked on it, is scored on the other half; both pooled.
        NaN where a half has no such word."""
        right = sum(_at(self.correct[fold], _best(self.correct[other])) for fold, other in ((0, 1), (1, 0)))
        return np.where((self.n > 0).all(0), _share(right, self.n.sum(0)), np.nan)

    @property
    def offset_accuracy(self) -> np.ndarray:
        """(offset, relation), fractions."""
        return _share(self.offset_correct, self.n.sum(0))

    def chosen(self, min_count: int = 1, offsets: int | None = None, merge_subtypes: bool = False) -> DependencyHeads:
        """The same counts for people: relations of fewer than `min_count` words left away, `nmod:poss` counted as
        `nmod` where subtypes are merged, baselines at most `offsets` words away (the release's own in mode "paper").

        Raises SettingsError for offsets that were not counted.
        """
        wide = 5 if offsets is None else offsets
        if not 1 <= wide <= max(OFFSETS):
            raise SettingsError(f"Offsets up to {wide} were not counted.", hint=f"Choose 1 to {max(OFFSETS)}.")
        wanted = RELEASE_OFFSETS if self.paper else [o for o in self.offsets if 0 < abs(o) <= wide]
        merged = self._merged() if merge_subtypes else self
        keep = [row for row, n in enumerate(merged.n.sum(0)) if row < 2 or n >= min_count]
        shown = {"min_count": min_count, "offsets": wide, "merge_subtypes": merge_subtypes}
        return replace(
            merged,
            provenance=self.provenance | {"options": self.provenance["options"] | shown},
            relations=[merged.relations[row] for row in keep],
            n=merged.n[:, keep],
            correct=merged.correct[:, :, keep],
            offsets=np.array(wanted),
            offset_correct=merged.offset_correct[np.isin(self.offsets, wanted)][:, keep],
        )

    def arrays(self) -> dict[str, Any]:
        return {
            "accuracy": to_lists(self.accuracy),
            "directions": list(DIRECTIONS),
            "relations": self.relations,
            "n": self.n.sum(0).tolist(),
            "offset_accuracy": to_lists(self.offset_accuracy),
            "offsets": self.offsets.tolist(),
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each relation: its best head, the interval and held-out check of that, and the best offset."""
        import pandas as pd

        n, best = self.n.sum(0), self.best
        right = _at(self.correct.sum(0), best)
        low, high = wilson(right, n)
        offset = self.offset_correct.argmax(0)
        columns = {
            "relation": self.relations,
            "n": n,
            "head": [Head(int(layer), int(head)).label() for _, layer, head in best],
            "direction": [DIRECTIONS[direction] for direction in best[:, 0]],
            "accuracy": _share(right, n),
            "low": low,
            "high": high,
            "heldout_accuracy": self.heldout,
            "baseline_offset": self.offsets[offset],
            "baseline_accuracy": self.offset_accuracy.max(0),
        }
        if self.paper:
            del columns["heldout_accuracy"]
        return pd.DataFrame(columns)

    def _merged(self) -> DependencyHeads:
        """Subtypes added up under what stands before the colon."""
        merged = [relation.split(":")[0] for relation in self.relations[2:]]
        names = _by_size(merged, self.n.sum(0)[2:])
        rows = np.array([[name == other for other in merged] for name in names], dtype=np.int64)
        rows = np.block([[np.eye(2, dtype=np.int64), np.zeros((2, len(merged)), dtype=np.int64)],
                         [np.zeros((len(names), 2), dtype=np.int64), rows]])  # fmt: skip
        return replace(
            self,
            relations=[ALL, UAS, *names],
            n=self.n @ rows.T,
            correct=np.einsum("mr,fdrlh->fdmlh", rows, self.correct),
            offset_correct=self.offset_correct @ rows.T,
        )


def view_of(name: str) -> Any:
    """The view, a function from Sentence to Sentence, by its name in VIEWS; raises SettingsError for another name."""
    if name not in VIEWS:
        raise SettingsError(f"There is no view {name!r}.", hint=f"Choose one of {', '.join(VIEWS)}.")
    return function_heads if name == VIEWS[1] else _as_is


def accumulator(model: AttentionModel, request: Request) -> Guesses:
    """The accumulator for one pass; mode "as in the paper" takes first pieces and the release's `poss` rule."""
    options = DEFAULTS | request.options
    words = RELEASE_POSSESSIVES if request.settings.paper else POSSESSIVES if options["possessives"] else ()
    rules = Rules(view_of(options["view"]), words, first_piece=request.settings.paper)
    return Guesses(rules, model.layers, model.heads, model.device)


def finish(accumulator: Guesses, examples: Sentences, provenance: dict[str, Any]) -> DependencyHeads:
    """The result, with the first sentences and the guesses made in them."""
    held = {name: value.cpu().numpy() for name, value in accumulator.counts().items()}
    names = list(accumulator.names)
    order = [names.index(name) for name in _by_size(names, held["n"].sum(1))]
    punctuation = np.array([name.split(":")[0] == "punct" for name in names])

    def rows(counts: np.ndarray) -> np.ndarray:
        return np.concatenate([counts.sum(0)[None], counts[~punctuation].sum(0)[None], counts[order]])

    sentences = [_described(accumulator.rules.view(example.sentence)) for example in _first(examples)]
    kept = [accumulator.kept[sentence["number"]] for sentence in sentences]
    small = np.uint8 if max((len(s["words"]) for s in sentences), default=0) <= 256 else np.uint16
    return DependencyHeads(
        provenance=provenance,
        relations=[ALL, UAS, *(names[row] for row in order)],
        n=rows(held["n"]).T.astype(np.int32),
        correct=rows(held["correct"]).transpose(1, 2, 0, 3, 4).astype(np.int32),
        offsets=OFFSETS,
        offset_correct=rows(held["offsets"]).sum(1).T.astype(np.int32),
        sentences=sentences,
        guesses=np.concatenate([guess for guess, _ in kept], -1).astype(small),
        weights=np.concatenate([weight for _, weight in kept], -1),
    )


def _first(examples: Sentences) -> list[Any]:
    return list(takewhile(lambda example: example.number < EXAMPLES, examples))


def _described(sentence: Sentence) -> dict[str, Any]:
    return {
        "number": sentence.number,
        "where": sentence.where,
        "words": list(sentence.words),
        "governors": list(sentence.governors),
        "relations": list(sentence.relations),
    }


def _by_size(names: Sequence[str], n: np.ndarray) -> list[str]:
    """Different names by falling total, then by name."""
    totals: dict[str, int] = {}
    for name, count in zip(names, n.tolist(), strict=True):
        totals[name] = totals.get(name, 0) + count
    return sorted(totals, key=lambda name: (-totals[name], name))


def _best(correct: np.ndarray) -> np.ndarray:
    """(relation, 3) direction, layer and head of the most in (direction, relation, layer, head)."""
    directions, relations, layers, heads = correct.shape
    flat = correct.transpose(1, 0, 2, 3).reshape(relations, -1).argmax(1)
    return np.stack(np.unravel_index(flat, (directions, layers, heads)), 1)


def _at(correct: np.ndarray, best: np.ndarray) -> np.ndarray:
    """(relation,) the counts of one head for each relation."""
    return correct[best[:, 0], np.arange(len(best)), best[:, 1], best[:, 2]]


def _share(correct: Any, n: np.ndarray) -> np.ndarray:
    """Fractions; NaN where there is nothing to count."""
    return np.asarray(correct / np.where(n > 0, n, np.nan))


def _as_is(sentence: Sentence) -> Sentence:
    return sentence
