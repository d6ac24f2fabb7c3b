"""What is registered as an analysis, by the project itself or by an installed package: found by name, loaded on first
use. A request asks here for its analysis's version; `Analysis` imports requests, so this module imports neither."""

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from threading import RLock
from typing import TYPE_CHECKING, Any

from bertviz_core.analyses.base.result import Result

if TYPE_CHECKING:
    from bertviz_core.analyses.base.averages import HeadColumn

GROUP = "bertviz_core.analyses"
BUILT_IN = (
    EntryPoint("surface_patterns", "bertviz_core.analyses.surface_patterns.analysis:SurfacePatternsAnalysis", GROUP),
    EntryPoint("entropy", "bertviz_core.analyses.entropy.analysis:EntropyAnalysis", GROUP),
    EntryPoint("reach", "bertviz_core.analyses.reach.analysis:ReachAnalysis", GROUP),
    EntryPoint("sep_gradients", "bertviz_core.analyses.sep_gradients.analysis:SepGradientsAnalysis", GROUP),
    EntryPoint("dependency_heads", "bertviz_core.analyses.dependency_heads.analysis:DependencyAnalysis", GROUP),
    EntryPoint("coreference_heads", "bertviz_core.analyses.coreference_heads.analysis:CoreferenceAnalysis", GROUP),
    EntryPoint("probes", "bertviz_core.analyses.probes.analysis:ProbesAnalysis", GROUP),
    EntryPoint("clustering", "bertviz_core.analyses.clustering.analysis:ClusteringAnalysis", GROUP),
    EntryPoint("ablation", "bertviz_core.analyses.ablation.analysis:AblationAnalysis", GROUP),
    EntryPoint("next_token", "bertviz_core.analyses.next_token.analysis:NextTokenAnalysis", GROUP),
    EntryPoint("minimal_pairs", "bertviz_core.analyses.minimal_pairs.analysis:MinimalPairsAnalysis", GROUP),
    EntryPoint("induction", "bertviz_core.analyses.induction.analysis:InductionAnalysis", GROUP),
    EntryPoint("weights", "bertviz_core.analyses.weights.analysis:WeightsAnalysis", GROUP),
)
# Names that an installed analysis cannot have
PAGES = ("overview", "head", "attention_viewer", "compare", "emergence", "tour")
COMMANDS = (
    *("overview", "head", "compare", "emergence", "report", "atlas", "headvis"),
    *("attention", "segments", "extract", "treebank", "store"),
)
log = logging.getLogger(__name__)


class Registered:
    """What is known of an analysis where it is registered; the class `Analysis` extends this one.

    Attributes:
        name: The stem of its page, its address, and (with hyphens) its command.
        key_version: Part of its results' keys; raised when those that are stored become invalid.
        result_class: The class of its results, whose `analysis` is the name.
        columns: Its quantities of every head.
    """

    name: str
    key_version: int = 1
    result_class: type[Result]
    columns: "tuple[HeadColumn, ...]" = ()

    def default_column(self, result: Any) -> "HeadColumn | None":
        """The column that the page's map shows first; None where the result has none."""
        return next((column for column in self.columns if column.read(result) is not None), None)

    @property
    def command(self) -> str:
        """The name of its command, with hyphens."""
        return self.name.replace("_", "-")

    def check_methods(self) -> None:
        """Raise TypeError where its class lacks a method that it has to have."""


class Registry(Mapping[str, Registered]):
    """Analyses by name, in the order of their entry points. They are loaded when the first one is asked for; one that
    cannot be loaded, or whose name is taken, is logged and left out."""

    _lock = RLock()  # One lock for all registries: loading imports modules, and several threads may cause it.

    def __init__(self, find: Callable[[], Iterable[EntryPoint]]) -> None:
        """`find` returns the entry points."""
        self._find = find
        self._loaded: dict[str, Registered] | None = None

    def __getitem__(self, name: str) -> Registered:
        return self._load()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._load())

    def __len__(self) -> int:
        return len(self._load())

    def _load(self) -> dict[str, Registered]:
        with self._lock:
            if self._loaded is None:
                self._loaded = {}
                for entry in self._find():
                    self._add(self._loaded, entry)
            return self._loaded

    @staticmethod
    def _add(analyses: dict[str, Registered], entry: EntryPoint) -> None:
        try:
            analysis = _loaded(entry)
            is_taken = analysis.name in (*analyses, *PAGES) or analysis.command in COMMANDS
            if is_taken or not re.fullmatch(r"[a-z][a-z0-9_]*", analysis.name):
                raise ValueError(f"choose another name than {analysis.name!r}, of a-z, 0-9 and _")
            if analysis.result_class.analysis != analysis.name:
                raise ValueError(f"give its result_class a class attribute analysis = {analysis.name!r}")
            analysis.check_methods()
            analyses[analysis.name] = analysis
        except Exception:
            log.exception("The analysis %s of %s cannot be used.", entry.name, entry.value)


@cache
def _loaded(entry: EntryPoint) -> Registered:
    """The analysis of an entry point, one object wherever it is listed; raises TypeError for another object."""
    analysis = entry.load()()
    if not isinstance(analysis, Registered):
        raise TypeError("not a class of Analysis")
    return analysis


REGISTERED = Registry(lambda: (*BUILT_IN, *entry_points(group=GROUP)))
REGISTERED_BUILT_IN = Registry(lambda: BUILT_IN)
