"""What the pages of a model are made of: its stored results, its report, and its attention on a few inputs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results
from bertviz_core.analyses.run import compute
from bertviz_core.engine.store import Store
from bertviz_core.errors import InputError
from bertviz_core.exports import slug
from bertviz_core.heads import Head, all_heads
from bertviz_core.inputs.labels import spaced
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.model import AttentionModel, with_weights
from bertviz_core.one_head.clear_input import (
    CaptionedSvg,
    ClearInput,
    clear_input_of,
    highest_inputs,
    lines,
    observe,
)
from bertviz_core.one_head.description import OfModel, OneHead, of_model, one_head
from bertviz_core.one_head.training import Step, stored_steps, with_training
from bertviz_core.overview.head_columns import columns, in_order
from bertviz_core.overview.stored_results import results_of
from bertviz_core.paper_report.lines import lines_of
from bertviz_core.paper_report.report import Report, ReportRequest
from bertviz_core.settings import Settings

INPUTS = 2  # of a head, with its attention
NOT_STORED = "Nothing is stored for this model."
LoadModel = Callable[[str], AttentionModel]  # with parameters of a type, one of DTYPES


@dataclass(frozen=True)
class ModelContents:
    """What is known of a model.

    Attributes:
        results: Its results, each analysis on one corpus.
        report: The report on them; its lines may be missing.
        load: Loads the model; None where it must not run, so that pages have no attention lines.
        home: The address of a page above the site, to which every page leads; empty for none.
    """

    checkpoint: Checkpoint
    results: Results
    report: Report
    store: Store
    load: LoadModel | None
    home: str = ""

    @property
    def name(self) -> str:
        """The name of its folder in the site."""
        return slug(self.checkpoint.label)

    @property
    def heads(self) -> tuple[Head, ...]:
        """Its heads, layer by layer."""
        return all_heads(self.checkpoint.layers, self.checkpoint.heads)

    @cached_property
    def _known(self) -> OfModel:
        return of_model(self.results)

    @cached_property
    def _steps(self) -> dict[str, Sequence[Step]]:
        return {}

    def describe(self, head: Head) -> OneHead:
        """What the results say of one head, as `bertviz_core.head` does."""
        shown = one_head(self.results, head, self._known)
        if not shown.facts:
            return shown
        first = shown.facts[0].analysis
        if first not in self._steps:
            self._steps[first] = stored_steps(self.store, self.checkpoint, self.results[first])
        return with_training(shown, self._steps[first])

    def lines(self, shown: OneHead) -> CaptionedSvg | None:
        """The lines of a head on the input in which it is clearest, where no stored input shows what it finds."""
        clear = clear_input_of(self.results, shown)
        return lines(self.load(clear.settings.dtype), clear) if clear and self.load else None

    def observations(self, head: Head) -> Iterator[tuple[ClearInput, tuple[str, ...], np.ndarray]]:
        """The inputs in which the head has the most of the quantities that set it apart, each with its labels, with
        the spaces before them, and the head's (query, key) weights; none where the model must not run."""
        if self.load:
            for each in self._inputs(head):
                model = self.load(each.settings.dtype)
                labels, weights = observe(model, each)
                yield each, spaced(labels, each.segment.tokens, model.tokens), weights

    def _inputs(self, head: Head) -> list[ClearInput]:
        found = sorted(
            (each for _, each in highest_inputs(self.results, head)), key=lambda each: each.row.salience, reverse=True
        )
        return list({tuple(each.segment.tokens): each for each in reversed(found)}.values())[::-1][:INPUTS]


def stored_contents(store: Store, checkpoint: Checkpoint, settings: Settings, load: LoadModel | None) -> ModelContents:
    """A model's largest stored results; nothing is computed but attention on a few inputs.

    Raises:
        InputError: No result of the model is stored.
    """
    results = results_of(store, checkpoint, settings)
    missing = {name: NOT_STORED for name in ANALYSES if name not in results}
    shown = {name: result.default_view() for name, result in in_order(results)}
    drawn = tuple(lines_of(shown, with_weights(load(settings.dtype), settings.weights), settings.paper)) if load else ()
    return ModelContents(checkpoint, results, Report(checkpoint, shown, missing, settings, drawn), store, load)


def requested_contents(
    request: ReportRequest, store: Store, load: LoadModel | None, failed: dict[str, str] | None = None
) -> ModelContents:
    """The stored results of a request for a report; `failed` is what its `compute` returned.

    Raises:
        InputError: None of them has a number of heads.
    """
    found = {each.analysis: compute.find(store, each) for each in request.requests()}
    results = {name: result for name, result in found.items() if result is not None}
    if not columns(results):
        hint = "Run an analysis such as surface patterns on them first."
        raise InputError(
            "Nothing is stored of this model's heads on these corpora.", where=request.checkpoint.name, hint=hint
        )
    return ModelContents(request.checkpoint, results, request.read(store, failed), store, load)
