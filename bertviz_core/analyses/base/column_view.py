"""How the result of an analysis with columns is shown: which of its quantities, and which head."""

from dataclasses import asdict, dataclass
from typing import Annotated

from typing_extensions import Doc

from bertviz_core.analyses.base.entry_points import REGISTERED
from bertviz_core.analyses.base.request import View
from bertviz_core.analyses.base.result import Result, choosing
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head, highest


@dataclass(frozen=True)
class ColumnView(View):
    """The quantity and the head that are reported; a subclass adds what else its page lets a reader choose."""

    quantity: Annotated[str | None, Doc("The quantity to report; default: the first on the page.")] = None
    head: Annotated[str | None, Doc("The head to report, as 3-1; default: the highest.")] = None

    def choose(self, result: Result) -> Result:
        """The result with these choices, or with those on which its page opens; itself where it has no columns.

        Raises:
            SettingsError: The result has no such quantity, or the model no such head.
        """
        offered = REGISTERED[result.analysis].columns
        columns = {column.quantity: column for column in offered if column.read(result) is not None}
        if not columns:
            return result
        quantity = self.quantity or next(iter(columns))
        if quantity not in columns:
            raise SettingsError(f"There is no quantity {quantity!r}.", hint=f"Choose one of {', '.join(columns)}.")
        values = columns[quantity].values(result)
        head = Head.parse(self.head) if self.head is not None else highest(values)
        head.check(*values.shape)
        return choosing(result, **asdict(self) | {"quantity": quantity, "head": head.key()})
