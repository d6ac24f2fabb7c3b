"""The data of a report: the result of every analysis on a corpus of its kind."""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import FORMAT, Request
from bertviz_core.analyses.base.result import Result, Results
from bertviz_core.analyses.run import compute, run_pass, runtime_estimate
from bertviz_core.analyses.run.run_pass import Load, last_model_loader
from bertviz_core.corpora.source import Source
from bertviz_core.engine.packing import pack, unpack
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import BertvizError, StoreError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.model import with_weights
from bertviz_core.numbers import plural
from bertviz_core.paper_report.lines import AttentionExample, lines_of
from bertviz_core.settings import Execution, Settings


@dataclass(frozen=True)
class Report:
    """The data of a report.

    Attributes:
        results: The results by analysis.
        missing: From each analysis without a result to the reason.
        settings: The settings of all results.
        lines: The attention of the clearest heads, for Figures 1 and 5.
    """

    checkpoint: Checkpoint
    results: Results
    missing: Mapping[str, str]
    settings: Settings
    lines: Sequence[AttentionExample]


@dataclass(frozen=True)
class ReportRequest:
    """A request for a report.

    Attributes:
        corpora: The corpora by kind, each of which may be missing.
        settings: The settings of all results.
        max_cost: The most forward passes; analyses that take more are not computed.
    """

    checkpoint: Checkpoint
    corpora: Mapping[str, Source]
    settings: Settings = field(default_factory=Settings)
    max_cost: float = math.inf

    def requests(self) -> list[Request]:
        """A request for each analysis that has a corpus, in the paper's order."""
        return [
            Request(analysis.name, self.checkpoint, self.corpora[analysis.corpus], analysis.relevant(self.settings))
            for analysis in ANALYSES.values()
            if analysis.corpus in self.corpora
        ]

    def to_compute(self, find: Callable[[Request], Result | None]) -> list[Request]:
        """The requests that are not stored, within `max_cost` and the model's abilities."""
        costs = {name: analysis.cost(self.checkpoint) for name, analysis in ANALYSES.items()}
        affordable = [request for request in self.requests() if costs[request.analysis] <= self.max_cost]
        return [request for request in affordable if run_pass.can_compute(request) and find(request) is None]

    def announcement(self, store: Store) -> str:
        """What is to be computed, and how long that takes; empty where all is stored."""
        find = partial(compute.find, store)
        missing = self.to_compute(find)
        names = ", ".join(ANALYSES[request.analysis].title for request in missing)
        time = runtime_estimate.duration(store, compute.passes(missing))
        listed = f"{plural(len(missing), 'analyses')} ({names})"
        return f"Not stored yet: {', '.join(filter(None, [listed, time]))}." if missing else ""

    def lines_key(self, store: Store) -> str | None:
        """The store's key of the lines, which follows from the results that choose their heads; None without these."""
        keys = [request.key() for request in self.requests() if ANALYSES[request.analysis].has_attention_lines]
        stored = list(filter(store.has, keys))
        if not stored:
            return None
        return hashlib.sha256(json.dumps(["lines", FORMAT, *stored]).encode()).hexdigest()

    def lacks_lines(self, store: Store) -> bool:
        """Whether lines are not stored although their heads are known."""
        key = self.lines_key(store)
        return key is not None and not store.has(key)

    def compute(
        self, store: Store, execution: Execution, progress: Progress | None = None, load: Load | None = None
    ) -> dict[str, str]:
        """Compute and store what is missing; returns by analysis why it could not be computed."""
        load = load or last_model_loader()
        progress = progress or Progress()
        find = partial(compute.find, store)
        missing = self.to_compute(find)
        failed = list[compute.Failure]()
        compute.compute_all(missing, store, execution, progress, load, failed)
        if self.lacks_lines(store):
            progress.start("Drawing attention lines")
            model = load(self.requests()[:1], execution)
            results = self._results(store)
            drawn = lines_of(results, with_weights(model, self.settings.weights), self.settings.paper)
            about = next(result.provenance for name, result in results.items() if ANALYSES[name].has_attention_lines)
            lines = list(map(asdict, drawn))
            weights = {f"weights/{number}": line.pop("weights") for number, line in enumerate(lines)}
            packed = pack({**weights, "lines": lines, "provenance": about}, analysis="report_lines")
            store.put(str(self.lines_key(store)), packed)
        return {request.analysis: str(error) for together, error in failed for request in together}

    def read(self, store: Store, failed: Mapping[str, str] | None = None) -> Report:
        """The report on what is stored; `failed` is what `compute` returned."""
        results = self._results(store)
        missing = {}
        for request in self.requests():
            if request.analysis not in results:
                missing[request.analysis] = (failed or {}).get(request.analysis) or _reason(request)
        for name, analysis in ANALYSES.items():
            if analysis.corpus not in self.corpora:
                missing[name] = f"No {analysis.corpus} was given."
        lines: list[AttentionExample] = []
        with suppress(ValueError, KeyError, TypeError, StoreError):  # Damaged lines are left out.
            key = self.lines_key(store)
            if key and (data := store.get(key)):
                values = unpack(data)
                lines = [
                    AttentionExample(**each, weights=values[f"weights/{i}"]) for i, each in enumerate(values["lines"])
                ]
        return Report(checkpoint=self.checkpoint, results=results, missing=missing, settings=self.settings, lines=lines)

    def _results(self, store: Store) -> Results:
        """The stored results as pages open."""
        find = partial(compute.find, store)
        results: dict[str, Result] = {}
        for request in self.requests():
            result = find(request)
            if result is not None:
                view = ANALYSES[request.analysis].view()
                results[request.analysis] = view.show(result, view.beside(request, find))
        return results


def _reason(request: Request) -> str:
    try:
        run_pass.check_model(request)
    except BertvizError as error:
        return str(error)
    return "Nothing computed yet."
