"""The result of induction: its quantities, their controls and columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn, averaged_column
from bertviz_core.analyses.base.findings import SHOWN, decide_worth, head_intervals
from bertviz_core.analyses.base.result import to_lists
from bertviz_core.analyses.base.statistics import t_quantile
from bertviz_core.analyses.behaviors import DUPLICATE, INDUCTION
from bertviz_core.numbers import measured
from bertviz_core.plotting import BROAD, PREVIOUS, SEP

KINDS = {  # quantity -> what is attended to, name and marker
    "prefix": ("to the token after the first occurrence", "prefix matching", SEP),
    "duplicate": ("to the first occurrence of the same token", "duplicate token", BROAD),
    "previous": ("to the previous token", "previous token", PREVIOUS),
}
CONTROL_QUANTITY = "{}_control"  # the same positions in sequences that repeat nothing
# A head attends to the previous token whether anything is repeated or not: it is compared with another position.
CONTROLS = {
    "prefix": ("prefix", "to the same position where nothing is repeated"),
    "duplicate": ("duplicate", "to the same position where nothing is repeated"),
    "previous": ("duplicate", "to the token one sequence before where nothing is repeated"),
}
BEHAVIORS = {"prefix": INDUCTION, "duplicate": DUPLICATE}  # surface patterns have "previous" on text
LEAST = 0.1  # the smallest difference that is worth the name, as a share of the attention
MUCH = 0.3  # the share of attention above which a head has the behavior


def repeats(result: HeadAverages, quantity: str) -> np.ndarray:
    """Which heads give a repetition much of their attention, and because of it (docs/methods.md, section 15).

    Args:
        quantity: One of BEHAVIORS.

    Returns:
        (layer, head) bool: above MUCH, and above their own control by LEAST and by intervals corrected for the number
        of heads; no head where no input without a repetition was read.
    """
    control = CONTROL_QUANTITY.format(quantity)
    if quantity not in result or control not in result:
        return np.zeros(result.mean.shape[1:], dtype=bool)
    gain = head_intervals(result, quantity).minus(head_intervals(result, control))
    states = decide_worth(gain, result[quantity] - result[control], LEAST)
    return (result[quantity] > MUCH) & (states == SHOWN)


def _columns(form: str, label: str, name: str) -> Iterator[HeadColumn]:
    """The column of each of KINDS; the arguments are patterns of its quantity, label and short name."""
    for kind, (where, short, marker) in KINDS.items():
        quantity = form.format(kind)
        title = label.format(where, short)
        yield averaged_column(
            quantity,
            title,
            name=name.format(short),
            marker=marker,
            overview=quantity in BEHAVIORS,
            maximum=1.0,
            behavior=BEHAVIORS.get(quantity, ""),
            rule=partial(repeats, quantity=quantity) if quantity in BEHAVIORS else None,
            is_followed=quantity == "prefix",
        )


COLUMNS = (
    *_columns("{}", "attention {} ({})", "{}"),
    *_columns(CONTROL_QUANTITY, "without repetition, attention {}", "{}, control"),
)


@dataclass(frozen=True)
class Induction(HeadAverages):
    """Attention of each head from the second half of a repeated sequence of random tokens, and its controls.

    Quantities, each (layer, head), 0 to 1:
        prefix, duplicate, previous: To the positions that KINDS describes.
        prefix_control, duplicate_control, previous_control: To the same positions in sequences that repeat nothing.

    Attributes:
        length: Of the sequence that is repeated, in tokens.
        copy_losses: (copy, place) mean loss of tokens 2 to `length` of both copies, nats; None of a model that does not
            predict the next word.
        saving_error: The standard error of the mean loss of the first copy minus that of the second, over inputs.
    """

    analysis: ClassVar[str] = "induction"
    length: int
    copy_losses: np.ndarray | None = None
    saving_error: float = 0.0

    @property
    def repeat_length(self) -> int:
        return self.length

    @property
    def has_losses(self) -> bool:
        """Whether the model predicts the next word."""
        return self.copy_losses is not None

    @property
    def losses(self) -> tuple[float, float]:
        """The mean loss of a token of the first copy and of the second, nats; raises KeyError without losses."""
        if self.copy_losses is None:
            raise KeyError("a loss")
        first, second = self.copy_losses.mean(1).tolist()
        return first, second

    @property
    def saving_half(self) -> float:
        """Half the width of the 95% interval of their difference, nats; NaN of a single input."""
        return float(t_quantile(self.units[0] - 1)) * self.saving_error

    @property
    def saving_text(self) -> str:
        """How much less the second copy costs, or more, with half the width of the interval where it is known."""
        first, second = self.losses
        saving, half = abs(first - second), self.saving_half
        size = f"{saving:.2f} nats" if np.isnan(half) else measured(saving, half, unit=" nats")
        return f"{size} {'less' if first > second else 'more'}"

    def summary(self) -> dict[str, Any]:
        """The losses, in JSON exports."""
        return {} if self.copy_losses is None else {"copy_losses": to_lists(self.copy_losses)}
