"""The result of weights: its quantities and columns, and the composition of pairs of heads."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn, averaged_column
from bertviz_core.analyses.base.result import cached_on_result, head_frame, to_lists
from bertviz_core.heads import Head
from bertviz_core.plotting import BROAD, PREVIOUS, SEP

QUANTITIES = ("copy", "suppression")  # shares of a sample of the vocabulary
TOP_WORDS = 5  # Wang et al. 2023
LOOKED_AT = 5  # sampled tokens that a head looks at most, of which is stored what it writes
WRITTEN = 10  # tokens that it writes most for each of these
PARTS = ("query", "key", "value")  # of a head's input, what another head's output goes into
LISTED = 100  # pairs of a table


def path_name(part: str, offset: int, offsets: Collection[int]) -> str:
    """The name of a path: the part, and the offset where the result depends on it, as "key_1"."""
    return part if len(offsets) == 1 else f"{part}_{offset}"


def path_text(path: str) -> str:
    """A path as a reader sees it: "by key, at offset 1"."""
    part, _, offset = path.partition("_")
    return f"by {part}" + (f", at offset {offset}" if offset else "")


class Pair(NamedTuple):
    """Two heads, of which the later one reads what the earlier one writes.

    Attributes:
        path: What it goes into, one of the result's `paths`.
        value: Their composition.
    """

    reader: Head
    writer: Head
    path: str
    value: float


@dataclass(frozen=True)
class HeadWeights(HeadAverages):
    """What follows from the weights of each head (docs/methods.md, section 21).

    Quantities, each (layer, head), 0 to 1, over a sample of the vocabulary; absent where no next words are predicted:
        copy: The share of tokens that are among the TOP_WORDS that the head writes most where it attends to them.
        suppression: The same of the head with the other sign.

    Attributes:
        eigenvalues: (layer, head) the sum of the eigenvalues of what the head makes of the vocabulary, or of the
            residual stream, over that of their absolute values, -1 to 1.
        eigenvalues_random: (2,) mean and standard deviation of the same of random matrices.
        paths: The names of the paths: the parts, of models with rotary positions each with its offset.
        composition: (path, layer, head, earlier layer, earlier head), 0 to 1; NaN where the second layer is not
            earlier.
        composition_random: (2,) mean and standard deviation over random pairs.
        names: Labels of the tokens that the next two are about.
        looked_at: (layer, head, rank) the sampled tokens that the head looks at most, the first of which most, as
            numbers of `names`; of ranks there are LOOKED_AT, or as many as the sample has tokens, or none where no next
            words are predicted.
        written: (layer, head, rank, rank of the word) the words that it writes most where it looks at each, likewise;
            -1 where it writes nothing.
    """

    analysis: ClassVar[str] = "weights"
    shares: ClassVar[tuple[str, ...]] = QUANTITIES
    eigenvalues: np.ndarray
    eigenvalues_random: np.ndarray
    paths: list[str]
    composition: np.ndarray
    composition_random: np.ndarray
    names: list[str]
    looked_at: np.ndarray
    written: np.ndarray

    @property
    def of_vocabulary(self) -> bool:
        """Whether the model predicts next words, so that heads write words."""
        return "copy" in self

    @property
    def absence(self) -> str:
        if self.of_vocabulary:
            return ""
        return (
            "This model predicts no next words from what its heads write: copying of tokens does not exist, and is not "
            "shown; eigenvalues are those of the residual stream."
        )

    @property
    def units_text(self) -> str:
        return super().units_text if self.of_vocabulary else ""

    @property
    def random_mean(self) -> float:
        """The composition of random pairs."""
        return float(self.composition_random[0])

    def above_random(self, path: str) -> np.ndarray:
        """(layer, head, earlier layer, earlier head) composition minus that of random pairs; NaN as there."""
        return np.asarray(self.composition[self.paths.index(path)] - self.random_mean)

    def strongest(self, part: str) -> np.ndarray:
        """(layer, head) the highest composition above random pairs with an earlier head, on the paths of a part; NaN in
        the first layer."""
        chosen = [number for number, path in enumerate(self.paths) if path.partition("_")[0] == part]
        values = self.composition[chosen].max(0, initial=-np.inf, where=~np.isnan(self.composition[chosen]))
        best = values.max((2, 3))
        return np.where(np.isinf(best), np.nan, best - self.random_mean)

    def with_head(self, path: str, head: Head) -> np.ndarray:
        """(layer, head) composition above random pairs of each head with this one: of earlier heads as it reads them,
        of later ones as they read it; NaN in its own layer."""
        values = self.above_random(path)
        return np.where(np.isnan(values[head]), values[:, :, head.layer, head.head], values[head])

    def words(self, head: Head) -> list[tuple[str, list[str]]]:
        """The tokens that a head looks at most, each with the words that it writes most where it looks at it."""
        looked_at, written = self.looked_at[head].tolist(), self.written[head].tolist()
        named = [[self.names[word] for word in words if word >= 0] for words in written]
        return list(zip([self.names[token] for token in looked_at], named, strict=True))

    def arrays(self) -> dict[str, Any]:
        more = {column.quantity: column.read(self) for column in COLUMNS if column.quantity not in QUANTITIES}
        return super().arrays() | {name: to_lists(values) for name, values in more.items() if values is not None}

    def to_frame(self) -> pd.DataFrame:
        columns = {column.quantity: column.read(self) for column in COLUMNS}
        return head_frame(
            {name: values for name, values in columns.items() if values is not None} | self.interval_columns()
        )

    def tables(self) -> dict[str, pd.DataFrame]:
        return {"pairs": pair_frame(self, LISTED)}


@cached_on_result
def pairs(result: HeadWeights, count: int, head: Head | None = None) -> tuple[Pair, ...]:
    """The pairs with the highest composition by query, key or value, the highest first, each at its best offset: of all
    heads, or of those with one head."""
    values = np.nan_to_num(result.composition, nan=-1.0)
    for part in PARTS:  # Only the best offset of each pair stays.
        chosen = [number for number, path in enumerate(result.paths) if path.partition("_")[0] == part]
        is_best = np.arange(len(chosen))[:, None, None, None, None] == values[chosen].argmax(0)
        values[chosen] = np.where(is_best, values[chosen], -1.0)
    if head is not None:
        own = np.full_like(values, -1.0)
        own[:, head.layer, head.head] = values[:, head.layer, head.head]
        own[:, :, :, head.layer, head.head] = values[:, :, :, head.layer, head.head]
        values = own
    order = np.argsort(-values, axis=None, kind="stable")[:count]
    return tuple(_pair(result, values, int(index)) for index in order if values.flat[index] >= 0)


def _pair(result: HeadWeights, values: np.ndarray, index: int) -> Pair:
    path, layer, head, earlier, other = map(int, np.unravel_index(index, values.shape))
    return Pair(Head(layer, head), Head(earlier, other), result.paths[path], float(values.flat[index]))


def pair_frame(result: HeadWeights, count: int) -> pd.DataFrame:
    """The pairs with the highest composition, a row for each."""
    columns = ["reader", "writer", "path", "composition", "above_random"]
    rows = [
        (each.reader.key(), each.writer.key(), each.path, each.value, each.value - result.random_mean)
        for each in pairs(result, count)
    ]
    return pd.DataFrame(rows, columns=columns)


def _known(values: np.ndarray) -> np.ndarray | None:
    """(layer, head) values; None where no head has one, as of matrices that are 0."""
    return None if np.isnan(values).all() else values


def _eigenvalues(result: HeadWeights) -> np.ndarray | None:
    return _known(result.eigenvalues)


def _random_eigenvalues(result: HeadWeights) -> tuple[float, str]:
    return float(result.eigenvalues_random[0]), "random matrices"


def _strongest(result: HeadWeights, part: str) -> np.ndarray | None:
    return _known(result.strongest(part)) if len(result.eigenvalues) > 1 else None


def _composition_columns() -> Iterator[HeadColumn]:
    for part in PARTS:
        yield HeadColumn(
            f"{part}_composition",
            f"composition with an earlier head by {part}, above random pairs",
            partial(_strongest, part=part),
            name=f"composition by {part}",
        )


COLUMNS = (
    averaged_column(
        "copy",
        "tokens that are among the five it writes most for them (copying score)",
        name="copying score",
        marker=SEP,
        maximum=1.0,
        percent=True,
    ),
    averaged_column(
        "suppression",
        "tokens that are among the five it suppresses most for them (suppression)",
        name="suppression",
        marker=BROAD,
        maximum=1.0,
        percent=True,
    ),
    HeadColumn(
        "eigenvalue_copying",
        "copying by eigenvalues",
        _eigenvalues,
        marker=PREVIOUS,
        baseline=_random_eigenvalues,
        maximum=1.0,
        signed=True,
    ),
    *_composition_columns(),
)
