"""What a report needs: a result of every analysis, on the corpus of its kind; what is missing is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from bertviz_core.analyses import requests
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.source import Source
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import BertvizError, Cancelled, StoreError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.settings import Execution, Settings

if TYPE_CHECKING:
    from bertviz_core.analyses.requests import Load


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a report is written from.

    Attributes:
        checkpoint: The model.
        results: Analysis -> its result.
        missing: Analysis -> why it has no result.
        settings: That the results share.
    """

    checkpoint: Checkpoint
    results: Mapping[str, Any]
    missing: Mapping[str, str]
    settings: Settings


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """A report that is asked for. `corpora`: kind of corpus -> the corpus; a kind may be missing."""

    checkpoint: Checkpoint
    corpora: Mapping[str, Source]
    settings: Settings = field(default_factory=Settings)

    def requests(self) -> list[Request]:
        """A request for each analysis that has a corpus, in the paper's order."""
        return [
            Request(one.name, self.checkpoint, self.corpora[one.corpus], one.relevant(self.settings))
            for one in ANALYSES.values()
            if one.corpus in self.corpora
        ]

    def to_compute(self, store: Store) -> list[Request]:
        """What is not stored yet, and this model has all that is needed for."""
        return [one for one in self.requests() if requests.can_compute(one) and requests.find(store, one) is None]

    def compute(
        self, store: Store, execution: Execution, progress: Progress | None = None, load: Load | None = None
    ) -> dict[str, str]:
        """Compute and store what is missing, in as few passes as can be; a pass that fails does not stop the others.

        Returns:
            Analysis -> why it could not be computed.
        """
        failed: dict[str, str] = {}
        load = load or requests.LastModel().load
        for together in requests.passes(self.to_compute(store)):
            try:
                requests.compute_all(together, store, execution, progress, load)
            except (Cancelled, StoreError):
                raise
            except BertvizError as error:
                failed |= {request.analysis: str(error) for request in together}
        return failed

    def read(self, store: Store, failed: Mapping[str, str] | None = None) -> Report:
        """The report on what is stored.

        Args:
            store: Where the results are.
            failed: What `compute` gave.
        """
        results, missing = {}, {}
        for request in self.requests():
            result = requests.find(store, request)
            if result is None:
                missing[request.analysis] = (failed or {}).get(request.analysis) or _reason(request)
            else:
                results[request.analysis] = shown_result(result, request, partial(requests.find, store))
        for analysis in ANALYSES.values():
            if analysis.corpus not in self.corpora:
                missing[analysis.name] = f"No {analysis.corpus} was given."
        return Report(self.checkpoint, results, missing, self.settings)


def seconds(wanted: list[Request]) -> float:
    """A guess at how long these requests take on a laptop: two operations for each weight and token of a pass."""
    total = 0.0
    for together in requests.passes(wanted):
        first = together[0]
        tokens = min(first.source.size / 5, (first.settings.limit or 10**9) * first.settings.max_length)
        cost = max(ANALYSES[request.analysis].cost(first.checkpoint) for request in together)
        total += 6 + cost * 2 * first.checkpoint.parameters() * tokens / 6e10
    return total


def shown_result(result: Any, request: Request, find: Callable[[Request], Any | None]) -> Any:
    """A stored result as its page shows it at first; `find` reads other results, or gives None."""
    if request.analysis == "dependency_heads":
        return result.show_default()
    return ANALYSES[request.analysis].view().show(result, request, find)


def _reason(request: Request) -> str:
    try:
        requests.check_model(request)
    except BertvizError as error:
        return str(error)
    return "It is not stored."


def announcement(wanted: list[Request]) -> str:
    """What is about to be computed, and for about how long."""
    length = seconds(wanted)
    about = f"{length:,.0f} s" if length < 100 else f"{length / 60:,.0f} min"
    names = ", ".join(ANALYSES[request.analysis].title for request in wanted)
    return f"{len(wanted)} analyses are not stored yet ({names}): about {about}."
