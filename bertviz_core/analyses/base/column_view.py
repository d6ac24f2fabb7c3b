"""How the result of an analysis with columns is shown: which of its quantities, and which head."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Self

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.entry_points import REGISTERED
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.base.view import R, View
from bertviz_core.choices import Label
from bertviz_core.heads import Head, highest


@dataclass(frozen=True)
class ColumnView(View[R]):
    """The quantity and the head that are reported; a subclass adds what else its page lets a reader choose."""

    target: ClassVar[str] = "quantity"
    quantity: Annotated[
        str | None, Label("Color heads by"), Doc("The quantity to report; default: the first on the page.")
    ] = None
    head: Annotated[str | None, Doc("The head to report, as 3-1; default: the highest.")] = None

    def offered(self, shown: R) -> dict[str, Sequence[str]]:
        return {"quantity": [column.quantity for column in _columns(shown)]}

    def option_text(self, shown: R, field: str, option: str) -> str:
        """The short label of a quantity."""
        return next((each.short for each in _columns(shown) if each.quantity == option), option)

    def shape(self, shown: R) -> tuple[int, int] | None:
        column = self.column(shown)
        return None if column is None else column.values(shown).shape  # type: ignore[return-value]

    def column(self, shown: Result) -> HeadColumn | None:
        """The chosen column, or the one on which the page opens; None where the result has none."""
        columns = {column.quantity: column for column in _columns(shown)}
        return columns.get(self.quantity or "") or REGISTERED[shown.analysis].default_column(shown)

    def resolve(self, shown: R) -> Self:
        column = self.column(shown)
        if column is None:
            return self
        head = self.head_of() or highest(column.values(shown))
        return replace(self, quantity=column.quantity, head=head.key())

    def opening_head(self, result: Result) -> Head | None:
        """The highest head of the column."""
        column = self.column(result)
        values = None if column is None else column.values(result)
        return None if values is None or np.isnan(values).all() else highest(values)


def _columns(shown: Result) -> list[HeadColumn]:
    """The columns that a result has."""
    return [column for column in REGISTERED[shown.analysis].columns if column.read(shown) is not None]
