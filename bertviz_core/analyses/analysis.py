"""What an analysis says about itself, once: the commands, pages, overview and exports read it here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import plotly.graph_objects as go

from bertviz_core.analyses.findings import DECIDED, Finding, column_finding
from bertviz_core.analyses.head_column import HeadColumn
from bertviz_core.analyses.results import Result
from bertviz_core.settings import Settings, Weights

if TYPE_CHECKING:
    from bertviz_core.analyses.request import Request
    from bertviz_core.models.checkpoint import Checkpoint
    from bertviz_core.models.model import AttentionModel

Kind = Literal["text", "treebank", "coreference", "random"]


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of one analysis, part of a result's key. Subclasses add fields of JSON types with defaults, each as
    `Annotated[type, Doc("Help.")]`; a field of type `Path | None` names a further file that the analysis reads."""

    def check(self) -> None:
        """Raise SettingsError for values that the analysis does not know."""

    def to_json(self) -> dict[str, Any]:
        """The values that differ from the defaults, files left out."""
        default = asdict(type(self)())
        files = {field.name for field in fields(self) if "Path" in str(field.type)}
        return {name: v for name, v in asdict(self).items() if name not in files and v != default[name]}


@dataclass(frozen=True, slots=True)
class View:
    """How a stored result is shown by a command; nothing is computed again. Subclasses add fields as Options do."""

    def check(self) -> None:
        """Raise SettingsError for values that cannot be shown; called before anything is computed."""

    def show(self, result: Result, request: Request, find: Callable[[Request], Result | None]) -> Result:
        """The result as it is printed and written.

        Args:
            result: What the analysis computed.
            request: The Request that it answers.
            find: Reads the stored result of another request, or gives None.
        """
        return result

    def extra_files(self, request: Request) -> dict[Path, Callable[[], Iterable[Any]]]:
        """Further JSON lists that the command writes: path -> records."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """One analysis. Its package has the modules `measure` (which may import torch), `figure` and, where it has a Result
    class of its own, `result`; or it is a single module with all that it needs of these:

        measure.measure(batch, attention) -> (batch, head, quantity)  averaged over the inputs of the corpus
        figure.paper_figure(result) -> plotly figure                  optional: a map of the first column without it
        figure.latex(result) -> LaTeX table                           optional
        findings.STATEMENTS: tuple[Statement, ...]                    optional: the highest heads without them

    An analysis that is not an average of a measure over the inputs has, in place of `measure.measure`:

        measure.accumulator(model, request) -> Accumulator            what one pass feeds
        measure.finish(accumulator, examples, provenance) -> Result   what is stored, shown and exported
        measure.run(model, settings, examples, accumulators, progress, batch_tokens)   in place of the engine's pass
                                                                      over the examples of a chunk; optional
        measure.run_stages(examples, accumulator, progress, run_stage, batch_tokens)   in its place, for several passes,
                                                                      each of which `run_stage` computes in parts
        measure.take_details(accumulator) -> details                  what they keep beside the result
        measure.model_of(model, request) -> AttentionModel            what such a pass runs on

    Attributes:
        name: The stem of its page, its address, and (with hyphens) its command.
        package: Where its modules are, as `__name__` in the package's `__init__`.
        title: Name in the navigation.
        summary: One sentence, the help of its command.
        section: Section of the paper, shown beside the title.
        icon: In the navigation.
        result: Name of the Result class in `package.result`; HeadAverages without it.
        corpus: Kind of corpus that is read; "random" for sequences that are drawn, of which the settings say how many.
        options: Its settings that are part of a result's key.
        view: How its command shows a result.
        columns: What it says of every head.
        quantities: What `measure.measure` gives, in its order, where that is more than the columns.
        prefix: Of its columns in the exports; its name and an underscore where it is None.
        control: Name of the control (`control_key`), where that is not derived from the analysis's name.
        formula: In LaTeX, for its page.
        forwards: What it costs, in forward passes; a function of the checkpoint where that depends on the model.
        overhead: Seconds that it takes beside them whatever the size of the corpus.
        limit: How many inputs it reads where the settings give no limit; None for all.
        shared: Whether it is always computed with the other shared analyses of the same kind, because it is cheap
            beside the forward pass that feeds them all.
        language_model: Whether the analysis needs the head that predicts masked or next words.
        chunked: Whether it is a sum over the inputs, computed chunk by chunk; `measure.run` or `measure.run_stages` is
            given the whole corpus where it is not.
        reads_maps: Whether the analysis reads attention maps, so that norms can stand in for them.
    """

    name: str
    package: str
    title: str
    summary: str
    section: str = ""
    icon: str = ":material/extension:"
    result: str = ""
    corpus: Kind = "text"
    options: type[Options] = Options
    view: type[View] = View
    columns: tuple[HeadColumn, ...] = ()
    quantities: tuple[str, ...] = ()
    prefix: str | None = None
    control: str = ""
    formula: str = ""
    forwards: float | Callable[[Checkpoint], float] = 1.0
    overhead: float = 0.0
    limit: int | None = None
    shared: bool = False
    language_model: bool = False
    chunked: bool = True
    reads_maps: bool = True

    @property
    def command(self) -> str:
        """Name of the analysis's command."""
        return self.name.replace("_", "-")

    def relevant(self, settings: Settings) -> Settings:
        """The settings without what makes no difference to it: norms, where it reads no maps; with its own limit, where
        they have none."""
        weights: Weights = settings.weights if self.reads_maps else "attention"
        limit = self.limit if settings.limit is None else settings.limit
        return replace(settings, weights=weights, limit=limit)

    @property
    def measure(self) -> ModuleType:
        """Module that computes the analysis."""
        return self._module("measure")

    @property
    def result_class(self) -> type[Result]:
        """Class of the analysis's results."""
        if self.result:
            return getattr(self._module("result"), self.result)
        from bertviz_core.analyses.head_averages import averages_of

        return averages_of(self.name)

    def accumulator(self, model: AttentionModel, request: Request) -> Any:
        """A new accumulator of the analysis, which one pass feeds."""
        if hasattr(self.measure, "accumulator"):
            return self.measure.accumulator(model, request)
        from bertviz_core.analyses.averages import SegmentAverages

        quantities = self.quantities or [column.quantity for column in self.columns]
        return SegmentAverages(quantities, self.measure.measure, model.layers, model.heads, model.device)

    def finish(self, accumulator: Any, examples: Any, provenance: dict[str, Any]) -> Result:
        """The result of a pass."""
        if hasattr(self.measure, "finish"):
            return self.measure.finish(accumulator, examples, provenance)
        values = accumulator.result() | {"texts": accumulator.texts(examples.tokens)}
        return self.result_class(provenance=provenance, **values)

    def cost(self, checkpoint: Checkpoint) -> float:
        """Number of forward passes that the analysis takes with one model."""
        return self.forwards(checkpoint) if callable(self.forwards) else self.forwards

    def column(self, quantity: str) -> HeadColumn:
        """The column of one quantity."""
        return next(column for column in self.columns if column.quantity == quantity)

    def map_of(self, quantity: str) -> dict[str, str]:
        """Address parameters that show the map of one quantity on the analysis's page."""
        return {self.control_key: quantity}

    @property
    def control_key(self) -> str:
        """Address parameter of the quantity that the page's map shows."""
        return self.control or f"{self.name}_quantity"

    def export_name(self, quantity: str) -> str:
        """The name of a column in exports of several analyses."""
        return (f"{self.name}_" if self.prefix is None else self.prefix) + quantity

    @property
    def own_figure(self) -> Callable[..., go.Figure] | None:
        """The paper's figure, from a result and the number that heads are counted from."""
        return getattr(self._module("figure"), "paper_figure", None)

    def figure(self, result: Result) -> go.Figure:
        """The paper's figure, or a map of the first column."""
        from bertviz_core.plotting.style import map_figure

        return self.own_figure(result.default_view()) if self.own_figure else map_figure(self.columns[0].map(result))

    def figures(self, result: Result) -> dict[str, go.Figure]:
        """Every figure of a finished page by its title, the paper's first."""
        own = getattr(self._module("figure"), "more_figures", None)
        return {self.title: self.figure(result)} | (own(result.default_view()) if own else {})

    def findings(self, result: Result | None, base: int = 1) -> list[Finding]:
        """What a result says to each of the analysis's statements, or of each column where there are none.

        Args:
            result: None where none is stored.
            base: Number of the first layer and head.
        """
        statements = getattr(self._module("findings"), "STATEMENTS", ())
        if statements or result is None:
            return [statement.finding(self.name, self.title, result, base) for statement in statements]
        return [self.column_finding(column, result, base) for column in self.columns if column.read(result) is not None]

    def column_finding(self, column: HeadColumn, result: Result, base: int = 1) -> Finding:
        """The finding that a page shows beside a column: of the statement about it, or of the column itself."""
        statements = getattr(self._module("findings"), "STATEMENTS", ())
        found = [statement.finding(self.name, self.title, result, base) for statement in statements]
        about = (each for each in found if each.quantity == column.quantity and each.state in DECIDED)
        return next(about, None) or column_finding(self.name, column, result, base)

    @property
    def latex(self) -> Callable[..., str] | None:
        """The paper's table as LaTeX, from a result, where the analysis has one."""
        return getattr(self._module("figure"), "latex", None)

    def _module(self, name: str) -> ModuleType:
        """A module of the package; the package itself where it is a single module, or has none of that name."""
        package = import_module(self.package)
        inside = hasattr(package, "__path__") and find_spec(f"{self.package}.{name}")
        return import_module(f"{self.package}.{name}") if inside else package
