"""The result of ablation."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypedDict

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.averages import averaged_column
from bertviz_core.analyses.base.loss_averages import LossAverages
from bertviz_core.analyses.base.result import to_lists
from bertviz_core.heads import Head, all_heads, highest
from bertviz_core.plotting import BROAD, SEP

QUANTITIES = ("loss_change", "right_change", "to_sink_loss_change", "to_sink_right_change", "gradient_estimate")
NO_OP = 0.01  # share of the whole model's loss: a smaller change is none, a larger one matters


def _least(result: LossAverages) -> float:
    return NO_OP * result.loss


_change = partial(averaged_column, signed=True)
_right_change = partial(_change, percent=True, overview=False)
COLUMNS = (
    _change("loss_change", "loss change, head removed, nats", least=_least),
    _right_change("right_change", "change in right guesses, head removed"),
    _change("to_sink_loss_change", "loss change, sink attention removed, nats", marker=SEP, least=_least),
    _right_change("to_sink_right_change", "change in right guesses, sink attention removed"),
    averaged_column("gradient_estimate", "gradient estimate, nats", marker=BROAD),
)


class GroupRecord(TypedDict):
    """The change when all heads of a group are ablated: those of a behavior, or of a layer.

    Attributes:
        name: The behavior or the layer.
        heads: Labels of the heads, from 1.
        loss_change: The change of the loss, in nats.
        interval: Half the width of its 95% interval, in nats; None for a single unit.
        random_loss_change: The mean of `random_draws`; None where such a draw could only be the group itself.
        random_draws: The changes for as many heads drawn from the same layers, in nats.
    """

    name: str
    heads: list[str]
    loss_change: float
    interval: float | None
    random_loss_change: float | None
    random_draws: list[float]


class WordContext(TypedDict):
    """What the model sees around a word that it predicts.

    Attributes:
        left: The tokens before the word.
        shown: What stands in place of the word.
        right: The tokens after the word; empty where a next word is predicted.
    """

    where: str
    left: str
    shown: str
    right: str


class WordRecord(WordContext):
    """A word that the model predicts worse without a head.

    Attributes:
        number: The number of its segment, from 0.
        position: The position of its token in the segment, from 0.
        original: The word's token.
        before: The guess of the whole model.
        after: The guess without the head.
        loss_before: The loss of the whole model at this word, in nats.
        loss_after: The loss without the head, in nats.
    """

    number: int
    position: int
    original: str
    before: str
    after: str
    loss_before: float
    loss_after: float


@dataclass(frozen=True)
class Ablation(LossAverages):
    """Changes when a head is ablated: without it minus with it, so that an increase of the loss is positive.

    Quantities, each (layer, head) (docs/methods.md, section 12):
        loss_change, right_change: The change of the loss, nats per predicted word, and of the share of right guesses,
            -1 to 1.
        to_sink_loss_change, to_sink_right_change: The same where only the head's attention to the sink is set to 0.
        gradient_estimate: The mean over tokens of |o . dL/do| of the head's output o, in nats.

    Attributes:
        sink: What receives the most attention: "sep", "cls" or "first" (token); empty where no input has one.
        groups: The change for each behavior's heads and for each layer's.
        removed: (point,) how many heads are ablated together, the least important first.
        removed_loss: (point,) the loss without them, nats.
        word_numbers: (layer, head, rank) numbers of the segments of the words whose loss rises most; -1 for none.
        word_positions: (layer, head, rank) positions of these words in their segments, in tokens from 0.
        word_ids: (layer, head, rank, 3) tokens of these words: the original, the guess before and that after.
        word_losses: (layer, head, rank, 2) losses of these words before and after, nats.
        names: The name of each token in `word_ids`, by its number as text.
        contexts: From "segment:position" of each of these words to what the model sees around it.
    """

    analysis: ClassVar[str] = "ablation"
    sink: str
    groups: list[GroupRecord]
    removed: np.ndarray
    removed_loss: np.ndarray
    word_numbers: np.ndarray
    word_positions: np.ndarray
    word_ids: np.ndarray
    word_losses: np.ndarray
    names: dict[str, str]
    contexts: dict[str, WordContext]

    def largest(self, quantity: str) -> Head:
        """The largest change of either sign."""
        return highest(np.abs(self[quantity]))

    def correlation(self) -> float:
        """Spearman's rank correlation of the gradient estimate with the measured change, over heads."""
        # Pearson's correlation of the ranks; scipy.stats cannot be imported by two threads of a server at once.
        both = pd.DataFrame({name: self[name].reshape(-1) for name in ("gradient_estimate", "loss_change")})
        return float(both.rank().corr().iloc[0, 1])

    def words(self, head: Head) -> Iterator[WordRecord]:
        """The words that the model predicts worse without a head, the largest rise of the loss first."""
        fields = (self.word_numbers, self.word_positions, self.word_ids, self.word_losses)
        for number, position, ids, (before, after) in zip(*(each[head].tolist() for each in fields), strict=True):
            if number >= 0 and after > before:
                original, guess_before, guess_after = (self.names[str(token)] for token in ids)
                yield {
                    "number": number,
                    "position": position,
                    **self.contexts[f"{number}:{position}"],
                    "original": original,
                    "before": guess_before,
                    "after": guess_after,
                    "loss_before": before,
                    "loss_after": after,
                }

    def arrays(self) -> dict[str, Any]:
        intervals = {f"{name}_interval": to_lists(self.interval(name)) for name in self.present}
        correlation = to_lists(np.array(self.correlation()))
        return super().arrays() | intervals | self.counts() | {"gradient_correlation": correlation}

    def tables(self) -> dict[str, pd.DataFrame]:
        groups = pd.DataFrame(self.groups).drop(columns="random_draws")
        heads = all_heads(*self["loss_change"].shape)
        words = [{"head": head.key()} | word for head in heads for word in self.words(head)]
        return {
            "groups": groups.assign(heads=[" ".join(group["heads"]) for group in self.groups]),
            "curve": pd.DataFrame({"removed": self.removed, "loss": self.removed_loss}),
            "words": pd.DataFrame(words),
        }

    def summary(self) -> dict[str, Any]:
        curve = {"removed": self.removed.tolist(), "loss": self.removed_loss.tolist()}
        return {"loss": self.loss, "sink": self.sink, "groups": self.groups, "curve": curve}
