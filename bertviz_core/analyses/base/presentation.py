"""What pages, tour, overview and report show of an analysis and of its results."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.drawn_inputs import DrawnInput
from bertviz_core.analyses.base.entry_points import Registered
from bertviz_core.analyses.base.findings import DECIDED, Finding, Statement, column_finding, empty_finding
from bertviz_core.analyses.base.head_facts import HeadExamples, HeadFacts
from bertviz_core.analyses.base.head_figures import HeadFigure, HeadRow, column_row
from bertviz_core.analyses.base.paper_table import PaperTable
from bertviz_core.analyses.base.parts import Card, Part, cards_part, column_cards, head_part, segments_parts
from bertviz_core.analyses.base.request import View
from bertviz_core.analyses.base.result import Result
from bertviz_core.heads import Head, highest, ranks
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.plotting import head_map, text_figure

CorpusKind = Literal["text", "treebank", "coreference", "random"]
HeadInFigure = Literal["point", "subject", "absent"]  # each head is a point; the figure is about one head; neither


class Presentation(Registered):
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
    """

    # Its name and its page
    name: str
    title: str
    summary: str
    section: str = ""
    icon: str = ":material/extension:"
    corpus: CorpusKind = "text"
    # What is shown of a result
    view: type[View] = ColumnView
    columns: tuple[HeadColumn, ...] = ()
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

    def column(self, quantity: str) -> HeadColumn:
        """The column of a quantity; raises StopIteration where it has none."""
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

    def more_behaviors(self, result: Result) -> dict[str, np.ndarray]:
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

    def is_empty(self, result: Result) -> bool:
        """Whether it has columns and the result has none of them: no input has what is measured."""
        return bool(self.columns) and all(column.read(result) is None for column in self.columns)

    def figure(self, result: Result) -> go.Figure:
        """The paper's figure, or a map of the chosen column; a sentence where the result `is_empty`."""
        if self.is_empty(result):
            return text_figure(empty_finding(self.name, self.title).sentence)
        if self.main_figure:
            return self.main_figure(result.default_view())
        return head_map.map_figure((self.chosen_column(result) or self.columns[0]).map(result))

    def figures(self, result: Result) -> dict[str, go.Figure]:
        """Every figure of a finished page by its title: the paper's, the map of the chosen column, further ones."""
        figures = {self.title: self.figure(result)}
        if self.is_empty(result):
            return figures
        if self.main_figure and "quantity" in result.choices and (column := self.chosen_column(result)):
            figures[f"Head map: {column.label}"] = head_map.map_figure(column.map(result))
        return figures | (self.more_figures(result.default_view()) if self.more_figures else {})

    def cards(self, result: Result) -> list[Card]:
        """The key numbers of its page: name, value, and a note such as the paper's number; by default of the chosen
        column, the highest layer and the mean over heads."""
        column = self.chosen_column(result)
        return column_cards(result, column) if column else []

    def parts(self, result: Result) -> list[Part]:
        """What its page shows of what is chosen beside `figures`, in the page's order, for the files of the result: by
        default its `cards`, the chosen head's numbers, and the inputs in which the chosen column is highest."""
        column = self.chosen_column(result)
        if "head" not in result.choices or column is None:
            return []
        # Inputs that are random sequences say nothing to a reader.
        listed = segments_parts(result, column) if self.corpus == "text" else []
        return [cards_part(self.cards(result)), head_part(result, column, self.columns), *listed]

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
        """The finding of each statement, else of each column; NOT_COMPUTED without a result, ABSENT where it has none
        of the columns."""
        if self.statements or result is None:
            return [statement.finding(self.name, self.title, result) for statement in self.statements]
        if self.is_empty(result):
            return [empty_finding(self.name, self.title)]
        present = [column for column in self.columns if column.read(result) is not None]
        return [column_finding(self.name, column, result) for column in present]

    def column_finding(self, column: HeadColumn, result: Result) -> Finding:
        """The finding that a page shows beside a column: of the statement about it, or of the column itself."""
        for each in self.findings(result):
            if each.quantity == column.quantity and each.state in DECIDED:
                return each
        return column_finding(self.name, column, result)

    # What pages of several analyses show of a result

    def tour_figure(
        self, result: Result, head: Head | None, named: Mapping[str, str], is_answered: bool = True
    ) -> go.Figure:
        """The figure of its slides in the guided tour; by default the paper's, or a map of the first column.

        Args:
            result: A stored result of this analysis.
            head: The chosen head, where `head_in_tour` is "subject"; None otherwise.
            named: Key of a head -> what the analyses of relations and of coreference find that it is best at.
            is_answered: Whether the reader has asked for the answer, which the figure does not write out before.
        """
        return self.figure(result) if self.main_figure is None else self.main_figure(result)

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

    def every_head_row(self, result: Result, head: Head) -> list[HeadRow]:
        """All numbers of the head that `head_rows` may choose from, among which a number is found by its name at every
        step of a training; by default `head_rows`, which chooses none."""
        return self.head_rows(result, head)

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

    def searched_numbers(self, result: Result) -> dict[str, np.ndarray]:
        """Numbers of every head that the overview finds heads by beside its columns.

        Returns:
            Name, as pages show it -> (layer, head) values.
        """
        return {}

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
