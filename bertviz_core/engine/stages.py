"""What an analysis of several passes asks for: each pass over encoded examples, computed part by part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bertviz_core.engine.progress import Progress
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.model import AttentionModel


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass of a model.

    Attributes:
        options: What it computes: `measure.accumulator` and `measure.model_of` are given them in a request.
        examples: Its inputs.
        take: Given the accumulator of each part.
        stage: What its progress is called.
        unit: What the examples are, in the plural.
        shares: Shares of the whole work that are done before the pass and after it.
    """

    options: dict[str, Any]
    examples: Sequence[Encoded]
    take: Callable[[Any], None]
    stage: str
    unit: str
    shares: tuple[float, float] = (0.0, 1.0)


class Stages(Protocol):
    """What computes the passes of one request: this process, or workers.

    Attributes:
        batch_tokens: Tokens of a batch; the model's own number where it is None.
    """

    batch_tokens: int | None

    def run(self, pass_over: Pass, model: AttentionModel, progress: Progress) -> None:
        """One pass; `model` is the request's, of which the pass may run on another form."""
