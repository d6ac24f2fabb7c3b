"""The class that every analysis extends."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.corpus_run import CorpusRun
from bertviz_core.analyses.base.drawn_inputs import DrawnInput
from bertviz_core.analyses.base.entry_points import Registered
from bertviz_core.analyses.base.findings import DECIDED, Finding, Statement, column_finding
from bertviz_core.analyses.base.head_facts import HeadExamples, HeadFacts
from bertviz_core.analyses.base.head_figures import HeadFigure, HeadRow, column_row
from bertviz_core.analyses.base.paper_table import PaperTable
from bertviz_core.analyses.base.request import Options, Request, View
from bertviz_core.analyses.base.result import Result
from bertviz_core.engine.forward_pass import Accumulator
from bertviz_core.engine.progress import Progress
from bertviz_core.heads import Head, highest, ranks
from bertviz_core.inputs.encoding import Batch, Encoded
from bertviz_core.inputs.tensors import Tensor
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.model import AttentionModel
from bertviz_core.plotting import head_map
from bertviz_core.settings import Settings

CorpusKind = Literal["text", "treebank", "coreference", "random"]
HeadInFigure = Literal["point", "subject", "absent"]  # each head is a point; the figure is about one head; neither


class Analysis(Registered):
    """An analysis. A subclass declares all that pages, commands, overview and exports show of it.

    An analysis whose numbers are averages over inputs overrides `measure`, and its results are a class of HeadAverages.
    Any other one overrides `accumulator` and `finish`, or `corpus_run` and `finish`. The methods import torch, or the
    module `measure` beside the class, when something is computed: pages of stored results do without.

    Attributes:
        name: The stem of its page, its address, and (with hyphens) its command.
        key_version: A number that is raised when its stored results become invalid.
        title: The title of its page, also in the navigation.
        summary: One sentence, the help of its command.
        section: The section of the paper, or a question beyond it; shown beside the title.
        icon: Its icon in the navigation.
        corpus: The kind of corpus that it reads; "random" for sequences that are drawn, of which the settings say how
            many.
        options: The class of its own settings, which are part of a result's key.
        result_class: The class of its results, a class of its own whose `analysis` is the name.
        view: What can be chosen of a result, on its page and as options of its command.
        columns: Its quantities of every head.
        quantities: What `measure` returns, in order, if that is more than the columns.
        labels: Displayed names of quantities that have no column.
        statements: What the paper says of it, and how a result decides that; without any, the highest head of each
            column is reported.
        main_figure: Draws the paper's figure from a result; without it a map of the first column is drawn.
        more_figures: Draws the further figures of its page, by title.
        latex: Writes the paper's table as LaTeX.
        paper_table: The same table for a report, with the paper's numbers.
        has_paper_means: Whether a report shows the means of BERT-base (paper.LAYER_MEANS) beside its columns.
        has_attention_lines: Whether a report draws the attention of its clearest heads (Figures 1 and 5).
        prefix: The prefix of its columns in the exports; None for its name and an underscore.
        control: The address parameter of the quantity on the page's map; formed from its name if empty.
        formula: A formula in LaTeX, for the page of an analysis that docs/methods.md does not describe.
        names_heads: Whether `named_heads` finds some, which other figures mark.
        marks_named_heads: Whether its figures mark those of other analyses.
        one_causal: What a comparison cautions where the tokens of one of the models see only what comes earlier, as the
            end of a sentence.
        both_causal: The same where those of both models do; empty for no caution.
        head_in_tour: How `tour_figure` shows the chosen head.
        followed: Quantities of its averages whose course over a training Emergence draws.
        behaviors: From each quantity of its averages that has a threshold (docs/methods.md, section 9) to the behavior.
        forward_passes: Its cost; override `cost` if that depends on the model.
        limit: The default maximum number of inputs; None for all.
        shared: Whether it is so cheap that it is always computed with the others that share its forward pass.
        language_model: Whether it needs the head that predicts masked or next words.
        has_own_pass: Whether `run` replaces a plain forward pass.
        chunked: Whether it is a sum over inputs, computed chunk by chunk; otherwise `corpus_run` gets all inputs.
        reads_maps: Whether it reads attention maps, so that norms can replace them.
    """

    # Its name and its corpus
    name: str
    key_version: int = 1
    title: str
    summary: str
    section: str = ""
    icon: str = ":material/extension:"
    corpus: CorpusKind = "text"
    options: type[Options] = Options
    result_class: type[Result]
    # What is shown of a result
    view: type[View] = ColumnView
    columns: tuple[HeadColumn, ...] = ()
    quantities: tuple[str, ...] = ()
    labels: Mapping[str, str] = {}
    statements: tuple[Statement, ...] = ()
    main_figure: Callable[..., go.Figure] | None = None
    more_figures: Callable[..., dict[str, go.Figure]] | None = None
    latex: Callable[..., str] | None = None
    paper_table: Callable[..., PaperTable] | None = None
    has_paper_means: bool = False
    has_attention_lines: bool = False
    prefix: str | None = None
    control: str = ""
    formula: str = ""
    names_heads: bool = False
    marks_named_heads: bool = False
    # What a comparison cautions where models see only what comes earlier, as the end of a sentence
    one_causal: str = "its tokens divide their attention among fewer tokens"
    both_causal: str = ""
    head_in_tour: HeadInFigure = "point"
    followed: tuple[str, ...] = ()
    behaviors: Mapping[str, str] = {}
    # How it is computed
    forward_passes: float = 1.0
    limit: int | None = None
    shared: bool = False
    language_model: bool = False
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
        from bertviz_core.analyses.base.accumulators import SegmentAverages

        quantities = self.quantities or [column.quantity for column in self.columns]
        return SegmentAverages(quantities, self.measure, model.layers, model.heads, model.device)

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
            settings: Those of the request.
            examples: The chunk's inputs.
            accumulators: From `accumulator`, one for each request of the pass; they are to be filled.
            progress: Counts the examples that are done; raises Cancelled.
            batch_tokens: The most tokens of a batch; None for the model's default.
        """
        raise self._lacks("run")

    def corpus_run(self, model: AttentionModel, request: Request) -> CorpusRun:
        """The computation over all inputs together, of an analysis that is not `chunked`."""
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

    def finish(self, accumulator: Any, examples: Any, provenance: dict[str, Any]) -> Result:
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
        _, start, rest = text.partition("\ndef measure(")  # ast.parse may fail in several threads at once
        if not start:
            return text
        lines = f"{start}{rest}".lstrip().splitlines(keepends=True)
        return "".join(inspect.getblock(lines)).rstrip()

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

    def column(self, quantity: str) -> HeadColumn:
        return next(column for column in self.columns if column.quantity == quantity)

    def label(self, quantity: str) -> str:
        """Displayed name of a quantity: its column's, or that in `labels`; otherwise its name itself."""
        names = {column.quantity: column.label for column in self.columns} | dict(self.labels)
        return names.get(quantity, quantity)

    def default_column(self, result: Result) -> HeadColumn | None:
        """The column that the page's map shows first; None where the result has none."""
        return next((column for column in self.columns if column.read(result) is not None), None)

    def chosen_column(self, result: Result) -> HeadColumn | None:
        """The column that is chosen of a result, by default that of `default_column`."""
        quantity = result.choices.get("quantity")
        return self.column(quantity) if quantity else self.default_column(result)

    def reading(self, options: Mapping[str, Any]) -> str:
        """How the corpus was read where that is a choice, as "trees: as annotated"; empty where it is none.

        Args:
            options: Those in the provenance of a shown result.
        """
        return ""

    def opening_quantity(self, result: Result, quantities: Sequence[str]) -> str:
        """The quantity that a comparison opens on, as the page does: by default that of the first column.

        Args:
            result: The default view of run A.
            quantities: Those that both runs have.

        Returns:
            One of `quantities`; empty where that does not matter.
        """
        return next((column.quantity for column in self.columns if column.quantity in quantities), "")

    def drawn_inputs(self, result: Result, tokens: Tokens) -> Iterable[DrawnInput]:
        """Inputs on which a report draws its clearest heads, of an analysis that `has_attention_lines`.

        Args:
            result: As the report shows it.
            tokens: Of the model's tokenizer.
        """
        return ()

    def clear_head_rows(self, result: Result) -> list[tuple[str, str, str, str]]:
        """Rows of a report's table of the clearest heads.

        Args:
            result: As the report shows it.

        Returns:
            For each head its label, what it does, this run's number, and that of a baseline.
        """
        return []

    def named_heads(self, result: Result) -> list[tuple[str, str]]:
        """The heads that are shown to find something, on held-out text above every baseline that needs no model; maps
        of behaviors and Figure 6 mark them. Only of an analysis that `names_heads`.

        Returns:
            The label of each head, and what it finds; the clearest first.
        """
        return []

    def found_by(self, name: str) -> str:
        """What a head that `named_heads` has under this name finds, as a plural for the legend of a map."""
        return name

    @property
    def control_key(self) -> str:
        return self.control or f"{self.name}_quantity"

    def export_name(self, quantity: str) -> str:
        """The name of a column in exports of several analyses."""
        prefix = f"{self.name}_" if self.prefix is None else self.prefix
        return prefix + quantity

    def figure(self, result: Result) -> go.Figure:
        """The paper's figure, or a map of the chosen column."""
        if self.main_figure:
            return self.main_figure(result.default_view())
        return head_map.map_figure((self.chosen_column(result) or self.columns[0]).map(result))

    def figures(self, result: Result) -> dict[str, go.Figure]:
        """Every figure of a finished page by its title: the paper's, the map of the chosen column, further ones."""
        figures = {self.title: self.figure(result)}
        if self.main_figure and "quantity" in result.choices and (column := self.chosen_column(result)):
            figures[f"Head map: {column.label}"] = head_map.map_figure(column.map(result))
        return figures | (self.more_figures(result.default_view()) if self.more_figures else {})

    def chosen_finding(self, result: Result) -> Finding | None:
        """What the page of a result says first, where a reader has chosen something of it; by default of the column."""
        quantity = result.choices.get("quantity")
        return self.column_finding(self.column(quantity), result) if quantity else None

    def chosen_notes(self, result: Result) -> list[str]:
        """What the page says of the chosen head, and what else follows choices, in sentences."""
        column = self.chosen_column(result)
        if "head" not in result.choices or column is None:
            return []
        head = Head.parse(result.choices["head"])
        rank = ranks(column.values(result))
        text = f"Head {head.label()}: {column.with_interval(result, head)}, rank {rank[head]} of {rank.size}"
        return [f"{text} in {column.label}."]

    def findings(self, result: Result | None) -> list[Finding]:
        """The finding of each statement, else of each column; NOT_COMPUTED without a result."""
        if self.statements or result is None:
            return [statement.finding(self.name, self.title, result) for statement in self.statements]
        present = [column for column in self.columns if column.read(result) is not None]
        return [column_finding(self.name, column, result) for column in present]

    def column_finding(self, column: HeadColumn, result: Result) -> Finding:
        """The finding that a page shows beside a column: of the statement about it, or of the column itself."""
        for each in self.findings(result):
            if each.quantity == column.quantity and each.state in DECIDED:
                return each
        return column_finding(self.name, column, result)

    # What pages of several analyses show of a result

    def tour_figure(self, result: Result, head: Head | None, named: Mapping[str, str]) -> go.Figure:
        """The figure of its slides in the guided tour; by default the paper's, or a map of the first column.

        Args:
            result: A stored result of this analysis.
            head: The chosen head, where `head_in_tour` is "subject"; None otherwise.
            named: Label of a head -> what the analyses of relations and of coreference find that it is best at.
        """
        if self.main_figure is None:
            return head_map.map_figure(self.columns[0].map(result))
        return self.main_figure(result)

    def best_head(self, result: Result, targets: Sequence[str]) -> Head | None:
        """The head of a result that is best at something; None where the result has nothing of it.

        Args:
            result: A stored result of this analysis.
            targets: Names of the same thing, of which the first that the result has counts: quantities of columns, and
                what else an analysis looks for, as relations.
        """
        for target in targets:
            for column in self.columns:
                values = column.read(result) if column.quantity == target else None
                if values is not None and not np.isnan(values).all():
                    return highest(values)
        return None

    def head_facts(self, result: Result, head: Head) -> list[HeadFacts]:
        """What a result says of one head beside its columns, under the head's numbers on every page.

        Args:
            result: A stored result of this analysis.
            head: The chosen head.
        """
        return []

    def head_columns(self, result: Result) -> list[HeadColumn]:
        """The columns that the overview shows of a result: where the first token is [CLS], without `to_first`."""
        is_cls = isinstance(result, HeadAverages) and "to_cls" in result
        return [
            column
            for column in self.columns
            if column.overview and column.read(result) is not None and not (is_cls and column.quantity == "to_first")
        ]

    def head_rows(self, result: Result, head: Head) -> list[HeadRow]:
        """The head's numbers of these columns, from which come the facts that set it apart from other heads."""
        return [row for _, row in self.numbered(result, head)]

    def numbered(self, result: Result, head: Head) -> list[tuple[HeadColumn, HeadRow]]:
        """The columns of `head_columns` in which the head has a number, each with that."""
        rows = ((column, column_row(column, result, head)) for column in self.head_columns(result))
        return [(column, row) for column, row in rows if row is not None]

    def head_figures(self, result: Result, head: Head) -> list[HeadFigure]:
        """Small figures of one head with the range of all heads behind it, on the page of the head and in its files.

        Args:
            result: A stored result of this analysis.
            head: The head.
        """
        rows = self.head_rows(result, head)
        return [HeadFigure(self.title, tuple(rows))] if rows else []

    def head_texts(self, result: Result, heads: Sequence[Head]) -> dict[str, list[str]]:
        """Further columns of the overview's table and its exports, by name: of each a text for each of the heads."""
        return {}

    def card_lines(self, result: Result, heads: Sequence[Head]) -> list[list[str]]:
        """For each of the heads the lines on its card beside the overview's map, which has room for a few."""
        return [[] for _ in heads]

    def head_examples(self, result: Result) -> list[HeadExamples]:
        """Inputs that show what its best heads do, among the strongest heads on the overview."""
        return []

    def clearest(self, result: Result) -> dict[str, str]:
        """The quantities whose highest head is among the strongest heads of the overview and the report.

        Returns:
            Quantity -> what such a head does, in the order of the cards; by default the `behaviors` of the result.
        """
        return {name: self.column(name).short for name in self.behaviors if self.column(name).read(result) is not None}

    def key_numbers(self, result: Result) -> list[tuple[str, str, str]]:
        """Key numbers on the overview: name, value, and a note beside it."""
        return []
