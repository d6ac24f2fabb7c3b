"""What a reader chooses of a comparison: on its page, in its address, as an option of its command."""

from dataclasses import dataclass
from typing import Annotated

from typing_extensions import Doc

from bertviz_core.choices import Choices, Formerly
from bertviz_core.comparison.result import Comparison


@dataclass(frozen=True)
class ComparisonView(Choices):
    """The quantity on which two runs are compared; None for the one in which the most heads differ."""

    quantity: Annotated[str | None, Formerly("compared"), Doc("What to report; default: where most heads differ.")] = (
        None
    )

    def quantity_of(self, comparison: Comparison) -> str:
        """The quantity, another one where the runs do not share the chosen one."""
        return self.quantity if self.quantity in comparison.a else comparison.most_changed
