"""The result of induction: its quantities, their controls and columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn, averaged_column
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
OVERVIEW = ("prefix", "duplicate")  # surface patterns have "previous" on text


def _columns(form: str, label: str, name: str) -> Iterator[HeadColumn]:
    """The column of each of KINDS; the arguments are patterns of its quantity, label and short name."""
    for kind, (where, short, marker) in KINDS.items():
        quantity = form.format(kind)
        title = label.format(where, short)
        overview = quantity in OVERVIEW
        yield averaged_column(quantity, title, name=name.format(short), marker=marker, overview=overview, maximum=1.0)


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
    """

    analysis: ClassVar[str] = "induction"
    length: int
