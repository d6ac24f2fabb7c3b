"""What a reader chooses of a result of weights: the quantity, the head, and the path of composition."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Self

from typing_extensions import Doc

from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.weights.result import HeadWeights, pairs, path_text
from bertviz_core.choices import Label


@dataclass(frozen=True)
class WeightsView(ColumnView[HeadWeights]):
    """The path of composition, beside the quantity and the head."""

    path: Annotated[
        str | None,
        Label("Composition"),
        Doc("What of a head another one's output goes into, as key, or key_1 at an offset; default: where most goes."),
    ] = None

    def offered(self, shown: HeadWeights) -> dict[str, Sequence[str]]:
        return {"path": shown.paths, **super().offered(shown)}

    def option_text(self, shown: HeadWeights, field: str, option: str) -> str:
        if field == "path":
            return {path: path_text(path) for path in shown.paths}.get(option, option)
        return super().option_text(shown, field, option)

    def resolve(self, shown: HeadWeights) -> Self:
        best = pairs(shown, 1)
        path = self.path or (best[0].path if best else shown.paths[0])
        return replace(super().resolve(shown), path=path)
