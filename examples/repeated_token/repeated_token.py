"""Repeated token: which heads attend to earlier occurrences of the query token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadAverages, averaged_column, name_heads_over
from bertviz_core.analyses.base.blocks import Block, Control, Numbers, Say
from bertviz_core.analyses.base.column_blocks import column_cards
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.choices import Between, Label
from bertviz_core.inputs.encoding import mean_over
from bertviz_core.plotting import add_reference, layer_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure
    from torch import Tensor

    from bertviz_core.inputs.encoding import Batch
    from bertviz_core.models.attention import LayerAttention


def _uniform(result: HeadAverages) -> tuple[np.ndarray, str]:
    return result["uniform"], "uniform attention"


@dataclass(frozen=True)
class RepeatedTokenAverages(HeadAverages):
    """The averages of RepeatedToken over inputs; what uniform attention would give is no quantity of heads."""

    analysis: ClassVar[str] = "repeated_token"
    baselines: ClassVar[tuple[str, ...]] = ("uniform",)


@dataclass(frozen=True)
class RepeatedTokenView(ColumnView[HeadAverages]):
    """The quantity and the head, as in every view of columns, and the share above which heads are named."""

    over: Annotated[
        float,
        Between(0.0, 1.0, step=0.05),
        Label("Name heads above"),
        Doc("Name the heads that give more than this share to earlier occurrences."),
    ] = 0.5


def paper_figure(result: HeadAverages) -> Figure:
    """The share by layer, a dot for each head; dashed, that of uniform attention."""
    figure = layer_figure([[RepeatedToken.columns[0].series(result)]], height=380)
    uniform, name = _uniform(result)
    add_reference(figure, uniform[:, 0], row=1)
    corner = {"x": 1, "xref": "x domain", "y": uniform[0, 0], "xanchor": "right", "yanchor": "bottom"}
    return figure.add_annotation(text=f"{name}: {uniform[0, 0]:.2f}", showarrow=False, **corner)


class RepeatedToken(Analysis):
    """Attention to earlier occurrences, and what uniform attention would give them."""

    name = "repeated_token"
    title = "Repeated token"
    summary = "Attention of every head to earlier occurrences of the query token."
    result_class = RepeatedTokenAverages
    view = RepeatedTokenView
    main_figure = staticmethod(paper_figure)
    columns = (
        averaged_column("earlier", "attention to earlier occurrences", name="earlier occurrences", baseline=_uniform),
    )
    quantities = ("earlier", "uniform")
    formula = r"\frac{1}{|R|}\sum_{i \in R}\ \sum_{j < i,\ x_j = x_i} A_{ij} \qquad R = \{i : \exists j<i,\ x_j=x_i\}"

    def blocks(self, result: HeadAverages, view: RepeatedTokenView) -> Iterator[Block]:
        """The claim, the figure beside the map, key numbers, the slider with what follows it, inputs, and all heads."""
        yield from self.opening(result, view)
        if self.is_empty(result):
            return
        yield Numbers(tuple(column_cards(result, self.columns[0])))
        yield Control(("over",))
        named = name_heads_over(result["earlier"], view.over, f"More than {view.over:.0%} to earlier occurrences")
        yield Say(named, chosen=True)
        yield from self.ending(result, view)

    def measure(self, batch: Batch, layer: LayerAttention) -> Tensor:
        """Averages over the rows whose token occurs earlier in the same input; CLS, SEP and padding have no such row.

        Returns:
            Shares of attention, (batch, head, quantity); NaN for inputs in which no token occurs twice.
        """
        import torch

        word = batch.mask & ~(batch.cls | batch.sep)
        same = (batch.ids[:, :, None] == batch.ids[:, None, :]) & word[:, :, None]  # (batch, query, key)
        earlier = same.tril(-1)
        received = (layer.weights * earlier[:, None]).sum(-1)  # (batch, head, query)
        visible = layer.visible(batch)  # (batch, query, key)
        shares = (earlier & visible).sum(-1) / visible.sum(-1).clamp(min=1)
        uniform = shares[:, None].expand_as(received)
        rows = mean_over(earlier.any(-1))  # (batch, query)
        return (torch.stack([received, uniform], -1) * rows[:, None, :, None]).sum(2)
