"""Loading models, and computing the chunks of a corpus one after another in this process."""

import gc
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from bertviz_core.analyses.chunks import Chunks, Parts, compute_chunk
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.engine.progress import Progress
from bertviz_core.models.model import AttentionModel, observing
from bertviz_core.settings import Execution

Load = Callable[[Sequence[Request], Execution], AttentionModel]


def needs_language_model(together: Sequence[Request]) -> bool:
    """Whether one of the requests needs the model with the head that predicts words."""
    return any(ANALYSES[request.analysis].language_model for request in together)


def load_model(together: Sequence[Request], execution: Execution) -> AttentionModel:
    """The model that requests of one pass run on, read from its files."""
    from bertviz_core.models.loading import load

    first = together[0]
    return load(first.checkpoint, execution.device, first.settings.dtype, language_model=needs_language_model(together))


class LastModel:
    """Loads models and keeps the last one: another pass of the same model does not load it again."""

    def __init__(self) -> None:
        self._last: tuple[Any, AttentionModel] | None = None

    def load(self, together: Sequence[Request], execution: Execution) -> AttentionModel:
        """The model that these requests need; the last one where it will do, and never two at once."""
        first = together[0]
        key = (first.checkpoint.fingerprint(), execution.device, first.settings.dtype)
        if self._last and self._last[0] == key and (self._last[1].language_model or not needs_language_model(together)):
            return self._last[1]
        self._last = None
        gc.collect()  # modules refer to one another in circles
        model = load_model(together, execution)
        self._last = key, model
        return model


class LocalRunner(AbstractContextManager["LocalRunner"]):
    """Computes one pass after another in this process.

    Args:
        execution: How.
        load: Loads the model of a pass; the last one is kept where this is not given.
    """

    def __init__(self, execution: Execution, load: Load | None = None) -> None:
        self.execution, self._load = execution, load or LastModel().load

    def __exit__(self, *error: object) -> None:
        """There is nothing to end."""

    def start(self, together: Sequence[Request], progress: Progress) -> AttentionModel:
        """Begin a pass; returns its model."""
        progress.start("Loading the model")
        vars(self).pop("model", None)  # never two at once
        self.model = observing(self._load(together, self.execution), together[0].settings.weights)
        return self.model

    def map(self, requests: Sequence[Request], chunks: Chunks, progress: Progress) -> Parts:
        """Compute chunks one after another, see `chunks.Runner`."""
        model, batch_tokens = network_of(self.model, requests[0]), self.execution.batch_tokens
        compute = partial(compute_chunk, model=model, requests=requests, progress=progress, batch_tokens=batch_tokens)
        return map(compute, chunks)


def network_of(model: AttentionModel, request: Request) -> AttentionModel:
    """What chunks are computed with: the model, or what an analysis of several passes derives from it."""
    return ANALYSES[request.analysis].model_of(model, request)
