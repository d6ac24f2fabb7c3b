"""What pages, tour, overview and report show of an analysis and of its results."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, Literal, NamedTuple, TypeVar, cast

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
from bertviz_core.analyses.base.entry_points import Registered
from bertviz_core.analyses.base.findings import DECIDED, Finding, Statement, column_finding, empty_finding
from bertviz_core.analyses.base.found_heads import ChosenHeads, FoundHead, HeadRole
from bertviz_core.analyses.base.head_figures import Rows, columns_figure
from bertviz_core.analyses.base.highest_tables import highest_tables
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.base.view import View
from bertviz_core.choices import hints
from bertviz_core.heads import Head
from bertviz_core.plotting import head_map, text_figure

R = TypeVar("R", bound=Result)
V = TypeVar("V", bound=View[Any])
CorpusKind = Literal["text", "treebank", "coreference", "pairs", "random", "vocabulary"]


class NamedHead(NamedTuple):
    """A head that is shown to find something.

    Attributes:
        label: Its key, as "3-1".
        name: What it is best at, as a relation.
        plural: What it finds, as a plural in the legend of a map; the name where it is empty.
    """

    label: str
    name: str
    plural: str = ""


class Presentation(Registered, Generic[R, V]):
    """What is shown of an analysis: the half of `Analysis`, which extends it, that computes nothing anew. All but the
    name, the title and the summary has a default.

    Attributes:
        name: The stem of its page, its address, and (with hyphens) its command.
        title: The title of its page, also in the navigation.
        summary: One sentence, the help of its command.
        section: The section of the paper, or a question beyond it; shown beside the title.
        corpus: The kind of corpus that it reads; "random" for sequences, and "vocabulary" for tokens, that are drawn,
            of which the settings say how many.
        view: What can be chosen of a result, on its page and as options of its command.
        columns: Its quantities of every head.
        labels: Displayed names of quantities that have no column.
        statements: What the paper says of it, and how a result decides that; without any, the highest head of each
            column is reported.
        main_figure: Draws the paper's figure from a result; without it a map of the first column is drawn.
        latex: Writes the paper's table of a result as LaTeX.
        prefix: The prefix of its columns in the exports; None for its name and an underscore.
        control: The address parameter of the quantity on the page's map; formed from its name if empty.
        formula: A formula in LaTeX, for the page of an analysis that docs/methods.md does not describe.
        one_causal: What a comparison cautions where the tokens of one of the models see only what comes earlier, as the
            end of a sentence.
        both_causal: The same where those of both models do; empty for no caution.
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
    prefix: str | None = None
    control: str = ""
    formula: str = ""
    # What a comparison cautions where models see only what comes earlier, as the end of a sentence
    one_causal: str = "its tokens divide their attention among fewer tokens"
    both_causal: str = ""

    # What an analysis may say in its own way, beside `default_column`

    def blocks(self, result: Any, view: V) -> Iterator[Block]:
        """What is shown of a result, in the order of its page and of its files.

        Args:
            result: What the view shows of a stored result.
            view: What a reader has chosen, without None.
        """
        yield from self.opening(result, view)
        if not self.is_empty(result):
            assert isinstance(view, ColumnView), "an analysis with another view has blocks of its own"
            further_fields = tuple(name for name in hints(self.view) if name not in hints(ColumnView))
            yield Control(further_fields, on_line=True)
            if column := view.column(result):
                yield Numbers(tuple(column_cards(result, column)))
            yield from self.ending(result, view)

    def claim(self, result: Any, view: V) -> Finding:
        """What its page says first: of an analysis with columns the statement about the chosen one, or that column."""
        assert isinstance(view, ColumnView), "an analysis with another view has a claim of its own"
        column = view.column(result)
        assert column is not None, "a result with columns"
        statements = (
            each for each in self.findings(result) if each.quantity == column.quantity and each.state in DECIDED
        )
        return next(statements, None) or column_finding(self.name, column, result)

    def of_head(self, result: R, head: Head) -> Iterator[Rows]:
        """All that is said of one head: on its page and in its files, under its numbers on every page, on its card and
        in the overview's table; heads are found by it, too. By default a row for each column of the overview.

        Args:
            result: A stored result of this analysis.
        """
        yield Rows(columns_figure, (self.title, self.columns, result, head))

    def found_heads(self, result: R) -> Iterable[FoundHead]:
        """The heads that find something best, with inputs that show it, the clearest first: the overview shows the
        first few, and a report draws the attention of all.

        Args:
            result: A stored result of this analysis.
        """
        return ()

    def named_heads(self, result: R) -> list[NamedHead]:
        """The heads that are shown to find something, on held-out text above every baseline that needs no model, the
        clearest first; maps of behaviors and Figure 6 mark them."""
        return []

    def head_roles(self, result: R, head: Head) -> Iterable[HeadRole]:
        """What it names a head for, with the evidence, the clearest first: the head's page begins with it."""
        return ()

    def chosen_heads(self, result: R) -> list[ChosenHeads]:
        """Of an analysis that `names_heads`, the heads that are chosen on each half of its corpus for all that it looks
        for."""
        return []

    def key_numbers(self, result: R) -> list[tuple[str, str, str]]:
        """Key numbers on the overview: name, value, and a note beside it."""
        return []

    def tour_chart(self, result: R, head: Head, named: Mapping[str, str], is_answered: bool) -> Chart:
        """The figure of its slides in the guided tour; by default the paper's, or a map of the first column.

        Args:
            result: A stored result of this analysis.
            head: The chosen head, for a figure that is about one.
            named: Key of a head -> what the analyses of relations and of coreference find that it is best at.
            is_answered: Whether the reader has asked for the answer, which the figure does not write out before.
        """
        return self.main_chart(self.main_figure or self.figure, result)

    def page_title(self, result: R) -> str:
        """The title of the page of a result."""
        return self.title

    def reading(self, options: Mapping[str, Any]) -> str:
        """How the corpus was read where that is a choice, as "trees: as annotated"; empty where it is none.

        Args:
            options: Those in the provenance of a shown result.
        """
        return ""

    # What follows from these, and the blocks of which an analysis makes its own

    def column(self, quantity: str) -> HeadColumn:
        """The column of a quantity; raises StopIteration where it has none."""
        return next(column for column in self.columns if column.quantity == quantity)

    def label(self, quantity: str) -> str:
        """Displayed name of a quantity: its column's, or that in `labels`; otherwise its name itself."""
        names = {column.quantity: column.label for column in self.columns} | dict(self.labels)
        return names.get(quantity, quantity)

    def export_name(self, quantity: str) -> str:
        """The name of a column in exports of several analyses."""
        prefix = f"{self.name}_" if self.prefix is None else self.prefix
        return prefix + quantity

    @property
    def control_key(self) -> str:
        """The address parameter of the quantity on the page's map."""
        return self.control or f"{self.name}_quantity"

    @property
    def behaviors(self) -> dict[str, str]:
        """From the quantity of each column that has one to the behavior of heads above its threshold."""
        return {column.quantity: column.behavior for column in self.columns if column.behavior}

    def more_behaviors(self, result: R) -> dict[str, np.ndarray]:
        """The heads of each behavior for which a column has a rule, (layer, head) bool."""
        return {column.behavior: column.rule(result) for column in self.columns if column.rule}

    @property
    def names_heads(self) -> bool:
        """Whether it may name heads."""
        return type(self).named_heads is not Presentation.named_heads

    @property
    def has_attention_lines(self) -> bool:
        """Whether a report draws the attention of its clearest heads (Figures 1 and 5)."""
        has_roles = any(column.role for column in self.columns)
        return has_roles or type(self).found_heads is not Presentation.found_heads

    def is_empty(self, result: R) -> bool:
        """Whether it has columns and the result has none of them: no input has what is measured."""
        return bool(self.columns) and all(column.read(result) is None for column in self.columns)

    def findings(self, result: R | None) -> list[Finding]:
        """The finding of each statement, else of each column; NOT_COMPUTED without a result, ABSENT where it has none
        of the columns."""
        if self.statements or result is None:
            return [statement.finding(self.name, self.title, result) for statement in self.statements]
        if self.is_empty(result):
            return [empty_finding(self.name, self.title)]
        present = [column for column in self.columns if column.read(result) is not None]
        return [column_finding(self.name, column, result) for column in present]

    def figure(self, result: R) -> go.Figure:
        """The paper's figure, or a map of the chosen column; a sentence where the result `is_empty`."""
        if self.is_empty(result):
            return text_figure(empty_finding(self.name, self.title).sentence)
        if self.main_figure:
            return self.main_figure(result.default_view())
        column = result.chosen.column(result) if isinstance(result.chosen, ColumnView) else None
        return head_map.map_figure((column or self.default_column(result) or self.columns[0]).map(result))

    def shown(self, result: R) -> list[Block]:
        """The blocks of a result: of what a reader has chosen of it, else of that on which its page opens."""
        shown = result.default_view()
        view = shown.chosen if isinstance(shown.chosen, self.view) else self.view().resolve(shown)
        return [*self.blocks(shown, view)]

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

    def ending(self, result: R, view: Any) -> Iterator[Block]:
        """How that page ends: the inputs in which the chosen head shows the quantity most, the highest heads, and all
        heads."""
        column = view.column(result)
        if self.corpus == "text" and column is not None:  # Inputs that are random sequences say nothing to a reader.
            yield from highest_inputs(result, column, view.chosen_head())
        yield from highest_tables(result, self.columns)
        yield all_heads_table(result, self.columns)
