"""What pages, tour, overview and report show of an analysis and of its results."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar, cast

import numpy as np
import plotly.graph_objects as go

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn
from bertviz_core.analyses.base.blocks import Block, Chart, Claim, Columns, Control, Numbers, Say
from bertviz_core.analyses.base.column_blocks import (
    all_heads_table,
    column_cards,
    column_map,
    head_note,
    head_numbers,
    highest_inputs,
)
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.drawn_inputs import DrawnInput
from bertviz_core.analyses.base.entry_points import Registered
from bertviz_core.analyses.base.findings import DECIDED, Finding, Statement, column_finding, empty_finding
from bertviz_core.analyses.base.head_facts import HeadExamples, HeadFacts
from bertviz_core.analyses.base.head_figures import HeadFigure, HeadRow, column_row
from bertviz_core.analyses.base.paper_table import PaperTable
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.base.view import View
from bertviz_core.choices import hints
from bertviz_core.heads import Head, highest
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.plotting import head_map, text_figure

R = TypeVar("R", bound=Result)
V = TypeVar("V", bound=View[Any])
CorpusKind = Literal["text", "treebank", "coreference", "pairs", "random"]
HeadInFigure = Literal["point", "subject", "absent"]  # each head is a point; the figure is about one head; neither


class Presentation(Registered, Generic[R, V]):
    """What is shown of an analysis: the half of `Analysis`, which extends it, that computes nothing anew. All but the
    name, the title and the summary has a default.

    Attributes:
        name: The stem of its page, its address, and (with hyphens) its command.
        title: The title of its page, also in the navigation.
        summary: One sentence, the help of its command.
        section: The section of the paper, or a question beyond it; shown beside the title.
        icon: Its icon in the navigation.
        corpus: The kind of corpus that it reads; "random" for sequences that are drawn, of which the settings say how
            many.
        view: What can be chosen of a result, on its page and as options of its command.
        columns: Its quantities of every head.
        labels: Displayed names of quantities that have no column.
        statements: What the paper says of it, and how a result decides that; without any, the highest head of each
            column is reported.
        main_figure: Draws the paper's figure from a result; without it a map of the first column is drawn.
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
    """

    # Its name and its page
    name: str
    title: str
    summary: str
    section: str = ""
    icon: str = ":material/extension:"
    corpus: CorpusKind = "text"
    # What is shown of a result
    view: type[V] = cast(type[V], ColumnView)
    columns: tuple[HeadColumn, ...] = ()
    labels: Mapping[str, str] = {}
    statements: tuple[Statement, ...] = ()
    main_figure: Callable[..., go.Figure] | None = None
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

    def column(self, quantity: str) -> HeadColumn:
        """The column of a quantity; raises StopIteration where it has none."""
        return next(column for column in self.columns if column.quantity == quantity)

    def label(self, quantity: str) -> str:
        """Displayed name of a quantity: its column's, or that in `labels`; otherwise its name itself."""
        names = {column.quantity: column.label for column in self.columns} | dict(self.labels)
        return names.get(quantity, quantity)

    def reading(self, options: Mapping[str, Any]) -> str:
        """How the corpus was read where that is a choice, as "trees: as annotated"; empty where it is none.

        Args:
            options: Those in the provenance of a shown result.
        """
        return ""

    def opening_quantity(self, result: R, quantities: Sequence[str]) -> str:
        """The quantity that a comparison opens on, as the page does: by default that of the first column.

        Args:
            result: The default view of run A.
            quantities: Those that both runs have.

        Returns:
            One of `quantities`; empty where that does not matter.
        """
        return next((column.quantity for column in self.columns if column.quantity in quantities), "")

    def drawn_inputs(self, result: R, tokens: Tokens) -> Iterable[DrawnInput]:
        """Inputs on which a report draws its clearest heads, of an analysis that `has_attention_lines`.

        Args:
            result: As the report shows it.
            tokens: Of the model's tokenizer.
        """
        return ()

    def clear_head_rows(self, result: R) -> list[tuple[str, str, str, str]]:
        """Rows of a report's table of the clearest heads.

        Args:
            result: As the report shows it.

        Returns:
            For each head its label, what it does, this run's number, and that of a baseline.
        """
        return []

    def named_heads(self, result: R) -> list[tuple[str, str]]:
        """The heads that are shown to find something, on held-out text above every baseline that needs no model; maps
        of behaviors and Figure 6 mark them. Only of an analysis that `names_heads`.

        Returns:
            The label of each head, and what it finds; the clearest first.
        """
        return []

    def more_behaviors(self, result: R) -> dict[str, np.ndarray]:
        """Behaviors that heads have beside that of Figure 6, by a rule of this analysis (docs/methods.md, section 9).

        Returns:
            One of `behaviors.BEHAVIORS` -> (layer, head) bool.
        """
        return {}

    def found_by(self, name: str) -> str:
        """What a head that `named_heads` has under this name finds, as a plural for the legend of a map."""
        return name

    @property
    def control_key(self) -> str:
        """The address parameter of the quantity on the page's map."""
        return self.control or f"{self.name}_quantity"

    def export_name(self, quantity: str) -> str:
        """The name of a column in exports of several analyses."""
        prefix = f"{self.name}_" if self.prefix is None else self.prefix
        return prefix + quantity

    def is_empty(self, result: R) -> bool:
        """Whether it has columns and the result has none of them: no input has what is measured."""
        return bool(self.columns) and all(column.read(result) is None for column in self.columns)

    def figure(self, result: R) -> go.Figure:
        """The paper's figure, or a map of the chosen column; a sentence where the result `is_empty`."""
        if self.is_empty(result):
            return text_figure(empty_finding(self.name, self.title).sentence)
        if self.main_figure:
            return self.main_figure(result.default_view())
        column = result.chosen.column(result) if isinstance(result.chosen, ColumnView) else None
        return head_map.map_figure((column or self.default_column(result) or self.columns[0]).map(result))

    def page_title(self, result: R) -> str:
        """The title of the page of a result."""
        return self.title

    def shown(self, result: R) -> list[Block]:
        """The blocks of a result: of what a reader has chosen of it, else of that on which its page opens."""
        shown = result.default_view()
        view = shown.chosen if isinstance(shown.chosen, self.view) else self.view().resolve(shown)
        return [*self.blocks(shown, view)]

    def blocks(self, result: Any, view: V) -> Iterator[Block]:
        """What is shown of a result, in the order of its page and of its files.

        Args:
            result: What the view shows of a stored result.
            view: What a reader has chosen, without None.
        """
        yield from self.opening(result, view)
        if not self.is_empty(result):
            assert isinstance(view, ColumnView), "an analysis with another view has blocks of its own"
            yield Control(self.own_fields(), on_line=True)
            if column := view.column(result):
                yield Numbers(tuple(column_cards(result, column)))
            yield from self.ending(result, view)

    def own_fields(self) -> tuple[str, ...]:
        """The choices that its view adds to the quantity and the head."""
        return tuple(name for name in hints(self.view) if name not in hints(ColumnView))

    def opening(self, result: R, view: Any) -> Iterator[Block]:
        """How the page of an analysis with columns begins: the claim, the figure beside the map, the head's numbers."""
        column = view.column(result)
        if column is None:
            finding = empty_finding(self.name, self.title)
            yield Claim(finding, first=True)
            yield self.main_chart(text_figure, finding.sentence)
            return
        yield Claim(self.claim(result, view), first=True)
        if isinstance(result, HeadAverages) and result.absence:
            yield Say(result.absence)
        head = view.chosen_head()
        yield head_note(result, column, head)
        squares = column_map(self.name, result, column)
        numbers = head_numbers(result, column, self.columns, head)
        if self.main_figure:
            chart = self.main_chart(self.main_figure, result)
            yield Columns(left=(chart,), right=(squares,), lower=(numbers,), widths=(3, 2))
        else:
            yield Columns(left=(squares,), right=(numbers,), widths=(3, 2))

    def main_chart(self, build: Callable[..., go.Figure], *arguments: Any) -> Chart:
        """The figure with which the page begins."""
        return Chart(
            name=f"{self.name}-figure",
            title=self.title,
            build=build,
            arguments=arguments,
            alt=self.summary,
            is_main=True,
            has_heads=True,
        )

    def claim(self, result: Any, view: V) -> Finding:
        """What its page says first: of an analysis with columns the statement about the chosen one."""
        assert isinstance(view, ColumnView), "an analysis with another view has a claim of its own"
        column = view.column(result)
        assert column is not None, "a result with columns"
        return self.column_finding(column, result)

    def ending(self, result: R, view: Any) -> Iterator[Block]:
        """How that page ends: the inputs in which the chosen head shows the quantity most, and all heads."""
        column = view.column(result)
        if self.corpus == "text" and column is not None:  # Inputs that are random sequences say nothing to a reader.
            yield from highest_inputs(result, column, view.chosen_head())
        yield all_heads_table(result, self.columns)

    def findings(self, result: R | None) -> list[Finding]:
        """The finding of each statement, else of each column; NOT_COMPUTED without a result, ABSENT where it has none
        of the columns."""
        if self.statements or result is None:
            return [statement.finding(self.name, self.title, result) for statement in self.statements]
        if self.is_empty(result):
            return [empty_finding(self.name, self.title)]
        present = [column for column in self.columns if column.read(result) is not None]
        return [column_finding(self.name, column, result) for column in present]

    def column_finding(self, column: HeadColumn, result: R) -> Finding:
        """The finding that a page shows beside a column: of the statement about it, or of the column itself."""
        for each in self.findings(result):
            if each.quantity == column.quantity and each.state in DECIDED:
                return each
        return column_finding(self.name, column, result)

    # What pages of several analyses show of a result

    def tour_figure(
        self, result: R, head: Head | None, named: Mapping[str, str], is_answered: bool = True
    ) -> go.Figure:
        """The figure of its slides in the guided tour; by default the paper's, or a map of the first column.

        Args:
            result: A stored result of this analysis.
            head: The chosen head, where `head_in_tour` is "subject"; None otherwise.
            named: Key of a head -> what the analyses of relations and of coreference find that it is best at.
            is_answered: Whether the reader has asked for the answer, which the figure does not write out before.
        """
        return self.figure(result) if self.main_figure is None else self.main_figure(result)

    def best_head(self, result: R, targets: Sequence[str]) -> Head | None:
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

    def head_facts(self, result: R, head: Head) -> list[HeadFacts]:
        """What a result says of one head beside its columns, under the head's numbers on every page.

        Args:
            result: A stored result of this analysis.
            head: The chosen head.
        """
        return []

    def head_columns(self, result: R) -> list[HeadColumn]:
        """The columns that the overview shows of a result: where the first token is [CLS], without `to_first`."""
        is_cls = isinstance(result, HeadAverages) and "to_cls" in result
        return [
            column
            for column in self.columns
            if column.overview and column.read(result) is not None and not (is_cls and column.quantity == "to_first")
        ]

    def head_rows(self, result: R, head: Head) -> list[HeadRow]:
        """The head's numbers of these columns, from which come the facts that set it apart from other heads."""
        return [row for _, row in self.numbered(result, head)]

    def every_head_row(self, result: R, head: Head) -> list[HeadRow]:
        """All numbers of the head that `head_rows` may choose from, among which a number is found by its name at every
        step of a training; by default `head_rows`, which chooses none."""
        return self.head_rows(result, head)

    def numbered(self, result: R, head: Head) -> list[tuple[HeadColumn, HeadRow]]:
        """The columns of `head_columns` in which the head has a number, each with that."""
        rows = ((column, column_row(column, result, head)) for column in self.head_columns(result))
        return [(column, row) for column, row in rows if row is not None]

    def head_figures(self, result: R, head: Head) -> list[HeadFigure]:
        """Small figures of one head with the range of all heads behind it, on the page of the head and in its files.

        Args:
            result: A stored result of this analysis.
            head: The head.
        """
        rows = self.head_rows(result, head)
        return [HeadFigure(self.title, tuple(rows))] if rows else []

    def searched_numbers(self, result: R) -> dict[str, np.ndarray]:
        """Numbers of every head that the overview finds heads by beside its columns.

        Returns:
            Name, as pages show it -> (layer, head) values.
        """
        return {}

    def head_texts(self, result: R, heads: Sequence[Head]) -> dict[str, list[str]]:
        """Further columns of the overview's table and its exports, by name: of each a text for each of the heads."""
        return {}

    def card_lines(self, result: R, heads: Sequence[Head]) -> list[list[str]]:
        """For each of the heads the lines on its card beside the overview's map, which has room for a few."""
        return [[] for _ in heads]

    def head_examples(self, result: R) -> list[HeadExamples]:
        """Inputs that show what its best heads do, among the strongest heads on the overview."""
        return []

    def clearest(self, result: R) -> dict[str, str]:
        """The quantities whose highest head is among the strongest heads of the overview and the report.

        Returns:
            Quantity -> what such a head does, in the order of the cards; by default the `behaviors` of the result.
        """
        return {name: self.column(name).short for name in self.behaviors if self.column(name).read(result) is not None}

    def key_numbers(self, result: R) -> list[tuple[str, str, str]]:
        """Key numbers on the overview: name, value, and a note beside it."""
        return []
