"""What an analysis says about itself, once: the commands, pages, overview and exports read it here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    import plotly.graph_objects as go

    from bertviz_core.analyses.request import Request

Kind = Literal["text", "treebank", "coreference"]


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of one analysis, part of a result's key. Subclasses add fields of JSON types with defaults, each as
    `Annotated[type, Doc("Help.")]`; a field of type `Path | None` names a further file that the analysis reads."""

    def check(self) -> None:
        """Raise SettingsError for values that the analysis does not know."""

    def in_mode(self, paper: bool) -> Options:
        """The same options under a mode, without what that mode makes redundant."""
        return self

    def to_json(self) -> dict[str, Any]:
        """The values that differ from the defaults, files left out."""
        default = asdict(type(self)())
        files = {field.name for field in fields(self) if "Path" in str(field.type)}
        return {name: v for name, v in asdict(self).items() if name not in files and v != default[name]}


@dataclass(frozen=True, slots=True)
class View:
    """How a stored result is shown by a command; nothing is computed anew. Subclasses add fields as Options do."""

    def check(self) -> None:
        """Raise SettingsError for values that cannot be shown; called before anything is computed."""

    def show(self, result: Any, request: Request, find: Callable[[Request], Any | None]) -> Any:
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


@dataclass(frozen=True, slots=True)
class HeadColumn:
    """One quantity that an analysis gives every head, in the overview, the head panel and the exports.

    Attributes:
        quantity: Its name in exports.
        label: Its name on the screen, as in "attention to [SEP]".
        read: From a result to its values (layer, head), or None where the result lacks the quantity.
        baseline: From a result to the value reached without a model, and that baseline's name.
        percent: Whether values are shown as percentages.
    """

    quantity: str
    label: str
    read: Callable[[Any], np.ndarray | None]
    baseline: Callable[[Any], tuple[float, str]] | None = None
    percent: bool = False


def averaged_columns(**labels: str) -> tuple[HeadColumn, ...]:
    """Columns of a HeadAverages result, from each quantity's name and its label."""

    def read(quantity: str) -> Callable[[Any], np.ndarray | None]:
        return lambda result: result[quantity] if quantity in result.present else None

    return tuple(HeadColumn(quantity, label, read(quantity)) for quantity, label in labels.items())


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis. Its package has the modules `result`, `measure` (which may import torch) and `figure`:

        measure.accumulator(model, request) -> Accumulator            what one pass feeds
        measure.finish(accumulator, examples, provenance) -> Result   what is stored, shown and exported
        measure.run(model, examples, accumulators, progress, batch_tokens)   in place of the engine's pass; optional
        figure.paper_figure(result) -> plotly figure                  optional: a map of the first column without it

    Attributes:
        name: The stem of its page, its address, and (with hyphens) its command.
        package: Where its modules are, as `__name__` in the package's `__init__`.
        result: Name of the Result class in `package.result`.
        title, section, icon: As the navigation shows them.
        summary: One sentence, the help of its command.
        corpus: Kind of corpus that is read.
        options: Its settings that are part of a result's key.
        view: How its command shows a result.
        columns: What it says of every head.
        prefix: Of its columns in the exports, where their names need one.
        forwards: What it costs, in forward passes.
        shared: Whether it is always computed with the other shared analyses of the same kind, because it is cheap
            beside the forward pass that feeds them all.
        masked_lm: Whether it needs the head that predicts masked words.
    """

    name: str
    package: str
    result: str
    title: str
    section: str
    icon: str
    summary: str
    corpus: Kind = "text"
    options: type[Options] = Options
    view: type[View] = View
    columns: tuple[HeadColumn, ...] = ()
    prefix: str = ""
    forwards: float = 1.0
    shared: bool = False
    masked_lm: bool = False

    @property
    def command(self) -> str:
        """The name of its command."""
        return self.name.replace("_", "-")

    @property
    def measure(self) -> Any:
        """The module that computes."""
        return import_module(f"{self.package}.measure")

    @property
    def result_class(self) -> Any:
        """The class of its results."""
        return getattr(import_module(f"{self.package}.result"), self.result)

    def figure(self, result: Any) -> go.Figure:
        """The paper's figure, or a map of the first column."""
        if find_spec(f"{self.package}.figure"):
            figure: go.Figure = import_module(f"{self.package}.figure").paper_figure(result)
            return figure
        from bertviz_core.plotting.style import head_map

        column = self.columns[0]
        values = column.read(result)
        assert values is not None, f"{self.name} has no {column.quantity}"
        return head_map(values, column.label)
