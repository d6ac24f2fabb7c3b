"""The class that every analysis extends."""

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

from bertviz_core.analyses.base.averages import HeadAverages
from bertviz_core.analyses.base.corpus_run import CorpusRun
from bertviz_core.analyses.base.presentation import Presentation, R, V
from bertviz_core.analyses.base.request import Options, Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.base.view import Find
from bertviz_core.engine.forward_pass import Accumulator
from bertviz_core.engine.progress import Progress
from bertviz_core.inputs.encoding import Batch, Encoded
from bertviz_core.inputs.tensors import Tensor
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.model import AttentionModel
from bertviz_core.settings import Settings


class Analysis(Presentation[R, V]):
    """An analysis with results of class R, of which a reader chooses what is shown by a view of class V. A subclass
    declares how it is computed, and what `Presentation` shows of it.

    An analysis whose numbers are averages over inputs overrides `measure`, and its results are a class of HeadAverages.
    Any other one overrides `accumulator` and `finish`, or `corpus_run` and `finish`. The methods import torch, or the
    module `measure` beside the class, when something is computed: pages of stored results do without.

    Attributes:
        key_version: A number that is raised when its stored results become invalid.
        options: The class of its own settings, which are part of a result's key.
        result_class: The class of its results, a class of its own whose `analysis` is the name.
        quantities: What `measure` returns, in order, if that is more than the columns.
        forward_passes: Its cost; override `cost` if that depends on the model.
        limit: The default maximum number of inputs; None for all.
        shared: Whether it is so cheap that it is always computed with the others that share its forward pass.
        language_model: Whether it needs the head that predicts masked or next words.
        reads_residual: Whether it reads the residual stream of a decoder, which `model.residual` then is.
        has_own_pass: Whether `run` replaces a plain forward pass.
        chunked: Whether it is a sum over inputs, computed chunk by chunk; otherwise `corpus_run` gets all inputs.
        reads_maps: Whether it reads attention maps, so that norms can replace them.
    """

    # What its results are computed from, and what they are
    key_version: int = 1
    options: type[Options] = Options
    result_class: type[R]
    # How it is computed
    quantities: tuple[str, ...] = ()
    forward_passes: float = 1.0
    limit: int | None = None
    shared: bool = False
    language_model: bool = False
    reads_residual: bool = False
    has_own_pass: bool = False
    chunked: bool = True
    reads_maps: bool = True

    def measure(self, batch: Batch, layer: LayerAttention) -> Tensor:
        """Measure one layer's attention in one batch, of an analysis whose numbers are averages over inputs.

        Returns:
            (batch, head, quantity), in the order of `quantities`, else of `columns`; NaN where an input lacks
            a quantity.
        """
        raise self._lacks("measure or accumulator")

    def accumulator(self, model: AttentionModel, request: Request) -> Accumulator:
        """The empty sums that a pass of this request fills; by default the averages of what `measure` returns."""
        from bertviz_core.analyses.base.accumulators import SegmentSums

        quantities = self.quantities or [column.quantity for column in self.columns]
        shares = self.result_class.shares if issubclass(self.result_class, HeadAverages) else ()
        return SegmentSums(quantities, self.measure, model.layers, model.heads, model.device, shares)

    def run(
        self,
        model: AttentionModel,
        settings: Settings,
        examples: Iterable[Encoded],
        accumulators: Sequence[Any],
        progress: Progress,
        batch_tokens: int | None,
    ) -> None:
        """Compute a chunk, of an analysis that `has_own_pass`.

        Args:
            model: The model that `model_of` returned.
            examples: The chunk's inputs.
            accumulators: From `accumulator`, one for each request of the pass; they are to be filled.
            progress: Counts the examples that are done; raises Cancelled.
            batch_tokens: The most tokens of a batch; None for the model's default.
        """
        raise self._lacks("run")

    def corpus_run(self, model: AttentionModel, request: Request, find: Find) -> CorpusRun:
        """The computation over all inputs together, of an analysis that is not `chunked`.

        Args:
            find: Reads the stored result of another request, so that what it has is not computed again.
        """
        raise self._lacks("corpus_run")

    def check_methods(self) -> None:
        """Raise TypeError where its class does not override what an analysis of its kind has to."""
        kind = type(self)
        if not self.chunked:
            if kind.corpus_run is Analysis.corpus_run:
                raise self._lacks("corpus_run")
            return
        if kind.measure is Analysis.measure and kind.accumulator is Analysis.accumulator:
            raise self._lacks("measure or accumulator")
        if self.has_own_pass and kind.run is Analysis.run:
            raise self._lacks("run")

    def _lacks(self, methods: str) -> TypeError:
        return TypeError(f"{type(self).__name__} has to override {methods}")

    def model_of(self, model: AttentionModel, request: Request) -> AttentionModel:
        """The model that a pass of this request runs on: the loaded one, or a variant of it."""
        return model

    def finish(self, accumulator: Any, examples: Any, provenance: Provenance) -> R:
        """Create the result of a finished pass.

        Args:
            accumulator: What `accumulator` returned, filled with all inputs; or the finished `corpus_run`. An override
                names the type of its own.
            examples: The corpus as it was read: Segments, Sentences, Windows or RandomSequences, by `corpus`.
            provenance: What the result was computed from.
        """
        return self.result_class(provenance=provenance, **accumulator.fields(examples))

    @property
    def source(self) -> str:
        """Python code for the page: the function `measure` of measure.py beside the class, all of that file where it
        has no such function; without that file the method `measure`, else the file of the class."""
        own = Path(inspect.getfile(type(self)))
        path = own.with_name("measure.py")
        is_beside = "." in type(self).__module__ and path.exists()
        if not is_beside and type(self).measure is not Analysis.measure:
            return dedent(inspect.getsource(type(self).measure))
        text = (path if is_beside else own).read_text(encoding="utf-8")
        # The text is cut by hand, because ast.parse may fail in several threads at once.
        _, start, rest = text.partition("\ndef measure(")
        if not start:
            return text
        lines = f"{start}{rest}".lstrip().splitlines(keepends=True)
        return "".join(inspect.getblock(lines)).rstrip()

    def reads_predictions(self, checkpoint: Checkpoint) -> bool:
        """Whether a model is loaded with the head that predicts words; an override may do so only where it has one."""
        return self.language_model

    def relevant(self, settings: Settings) -> Settings:
        """The settings that affect it: without norms if it reads no maps, with its limit if they have none."""
        if not self.reads_maps:
            settings = replace(settings, weights="attention")
        if settings.limit is None:
            return replace(settings, limit=self.limit)
        return settings

    def cost(self, checkpoint: Checkpoint) -> float:
        """Number of forward passes that the analysis takes with one model."""
        return self.forward_passes
