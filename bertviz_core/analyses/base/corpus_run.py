"""The computation of an analysis that is no sum over inputs, and so gets all inputs of a corpus together."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from bertviz_core.corpora import Skipped
from bertviz_core.engine.progress import Progress
from bertviz_core.inputs.encoding import Encoded

# One pass over examples, for the accumulator and the model that the analysis has with these options. Its arguments are
# the options, the examples, a function that gets the sums over each part of the examples, and the name of the stage.
# The parts may be computed by other processes.
RunStage = Callable[[dict[str, Any], Sequence[Encoded], Callable[..., None], str], None]


class CorpusRun(Protocol):
    """All that one request computes of a corpus."""

    @property
    def skipped(self) -> Skipped:
        """Inputs that it leaves out, besides those that the reading of the corpus left out."""

    def run(
        self, examples: Sequence[Any], run_stage: RunStage, progress: Progress, batch_tokens: int | None, /
    ) -> None:
        """Compute everything from all inputs (Encoded, or the subclass that the corpus reads); `batch_tokens` is the
        most tokens of a batch, None for the model's default."""
