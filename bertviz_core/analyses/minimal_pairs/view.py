"""What a reader chooses of a result of minimal pairs: the phenomenon, the quantity and the head."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

from typing_extensions import Doc

from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.minimal_pairs.result import ALL, MinimalPairs
from bertviz_core.choices import Label
from bertviz_core.heads import Head


@dataclass(frozen=True)
class MinimalPairsView(ColumnView[MinimalPairs]):
    """The phenomenon, beside the quantity and the head."""

    phenomenon: Annotated[
        str | None,
        Label("Phenomenon"),
        Doc(f"The phenomenon to report, or {ALL!r}; default: where the accuracy falls most without some head."),
    ] = None

    head: Annotated[
        str | None, Doc("The head to report, as 3-1; default: the one without which the quantity falls most.")
    ] = None

    def show(self, result: Any, beside: Any = None) -> MinimalPairs:
        """The result with the quantities of the phenomenon."""
        shown: MinimalPairs = result
        if len(shown.phenomena) == 1 or (self.phenomenon == ALL and ALL not in shown.phenomena):
            return shown
        name = self.phenomenon if self.phenomenon in shown.phenomena else shown.clearest()
        return shown.of(name)

    def showing(self) -> Self:
        return type(self)(phenomenon=self.phenomenon)

    def offered(self, shown: MinimalPairs) -> dict[str, Sequence[str]]:
        names = shown.phenomena if len(shown.phenomena) == 1 else list(dict.fromkeys([*shown.phenomena, ALL]))
        return {"phenomenon": names, **super().offered(shown)}

    def resolve(self, shown: MinimalPairs) -> Self:
        column = self.column(shown)
        assert column is not None, "every result has both quantities"
        head = self.head_of() or shown.needed(column.quantity)
        return replace(self, quantity=column.quantity, head=head.key(), phenomenon=shown.shown_name)

    def opening_head(self, result: Any) -> Head | None:
        """The head that is needed most for the phenomenon."""
        column = self.column(result)
        return None if column is None else self.show(result).needed(column.quantity)
