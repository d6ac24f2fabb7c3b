"""Dependency heads: which head finds which relation of a treebank (section 4.2; Table 1)."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.blocks import Block, Chart, Claim, Columns, Numbers, Say, Tabs
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.found_heads import ChosenHeads, FoundHead, HeadRole
from bertviz_core.analyses.base.head_figures import Rows
from bertviz_core.analyses.base.presentation import NamedHead
from bertviz_core.analyses.base.request import Options, Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.base.table_blocks import Facts
from bertviz_core.analyses.dependency_heads import head_facts
from bertviz_core.analyses.dependency_heads.cards import cards, numbers_title
from bertviz_core.analyses.dependency_heads.figure import (
    better_head,
    explanation,
    latex,
    left_out,
    offset_chart,
    paper_figure,
    relation_map,
    table_1,
    table_chart,
)
from bertviz_core.analyses.dependency_heads.found_heads import chosen_heads, found_heads
from bertviz_core.analyses.dependency_heads.guess_preview import of_guesses
from bertviz_core.analyses.dependency_heads.guesses import DEFAULT_VIEW, VIEW_NAMES, best_words
from bertviz_core.analyses.dependency_heads.head_relations import relations
from bertviz_core.analyses.dependency_heads.head_roles import head_roles
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.result import DependencyHeads, RelationView
from bertviz_core.analyses.dependency_heads.sentence_list import sentence_list
from bertviz_core.analyses.dependency_heads.statements import (
    STATEMENTS,
    head_sentence,
    named_heads,
    relation_finding,
)
from bertviz_core.choices import Label
from bertviz_core.corpora.treebank import UAS
from bertviz_core.heads import Head
from bertviz_core.inputs.annotated_words import Sentences
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.dependency_heads.measure import RelationSums


IN_TOUR = 14  # relations that its figure has room for


@dataclass(frozen=True)
class DependencyOptions(Options):
    """Options that change the counts."""

    possessives: Annotated[bool, Label("Paper's rule for *poss*"), Doc("The paper's rule for poss before 's.")] = False

    def in_mode(self, paper: bool) -> Self:
        """Mode "paper" always applies its rule for possessives."""
        return replace(self, possessives=False) if paper else self


def _uas(result: DependencyHeads) -> np.ndarray:
    """(layer, head) UAS of each head alone, in its better direction."""
    counts = result.default_view()
    return np.asarray(counts.better[0][counts.relations.index(UAS)])


def _best_offset(result: DependencyHeads) -> tuple[float, str]:
    """The UAS of the best fixed offset."""
    counts = result.default_view()
    return float(counts.baseline[counts.relations.index(UAS)]), "best offset"


class DependencyAnalysis(Analysis[DependencyHeads, RelationView]):
    """Right guesses of governors by every head."""

    name = "dependency_heads"
    title = "Dependency heads"
    summary = "Which head finds which relation of a treebank, against fixed offsets (section 4.2; Table 1)."
    section = "Section 4.2, Table 1"
    icon = ":material/account_tree:"
    corpus = "treebank"
    forward_passes = 1.4
    result_class = DependencyHeads
    options = DependencyOptions
    view = RelationView
    columns = (HeadColumn("UAS", "all governors found by this head (UAS)", _uas, _best_offset, percent=True),)
    statements = STATEMENTS
    one_causal = "its accuracies are of arcs to earlier words"
    both_causal = "their accuracies are of arcs to earlier words"
    main_figure = staticmethod(paper_figure)
    latex = staticmethod(latex)
    prefix = ""

    def claim(self, result: RelationCounts, view: RelationView) -> Finding:
        """The best head of the chosen relation in the chosen direction."""
        relation, choice = view.choice()
        return relation_finding(result.in_direction(choice.direction), relation)

    def blocks(self, result: RelationCounts, view: RelationView) -> Iterator[Block]:
        relation, choice = view.choice()
        yield Claim(self.claim(result, view), first=True)
        yield Say(head_sentence(result, relation, choice), chosen=True, on_screen=False)
        squares = relation_map(result, relation, choice.direction)
        offsets = offset_chart(result, relation, choice.direction)
        if result.stored is None:  # of a checkpoint of a training, whose sentences are not stored
            yield from (table_chart(result), squares, offsets)
            return
        squares = replace(squares, preview=of_guesses, preview_arguments=(result, choice, relation))
        above = (*explanation(relation), *left_out(result))
        map_column: tuple[Block, ...] = (*above, squares, *better_head(result, relation, choice))
        yield Columns(left=map_column, right=(sentence_list(result, view),), widths=(2, 3))
        attended = Facts(tuple(head_facts.attended_words(result.stored, view.view, choice.head)))
        numbers = Numbers(tuple(cards(result, relation, choice)), numbers_title(relation, choice))
        tabs = {
            "Table 1": (table_chart(result), table_1(result)),
            "Offsets": (offsets,),
            "Words attended to": (attended,),
            "All numbers": (numbers,),
            "Method": (Say(result.method),),
        }
        yield Tabs(tuple(tabs.items()))

    @property
    def source(self) -> str:
        """The guesses."""
        return inspect.getsource(best_words)

    def reading(self, options: Mapping[str, Any]) -> str:
        return f"trees: {VIEW_NAMES[options['view']]}" if "view" in options else ""

    def found_heads(self, result: DependencyHeads) -> Iterable[FoundHead]:
        """The best head of each of the clearest relations."""
        return found_heads(result.default_view())

    def named_heads(self, result: DependencyHeads) -> list[NamedHead]:
        return named_heads(result.default_view())

    def head_roles(self, result: DependencyHeads, head: Head) -> Iterable[HeadRole]:
        return head_roles(result.default_view(), head)

    def chosen_heads(self, result: DependencyHeads) -> list[ChosenHeads]:
        return chosen_heads(result.default_view())

    def accumulator(self, model: AttentionModel, request: Request) -> "RelationSums":
        from bertviz_core.analyses.dependency_heads import measure

        return measure.accumulator(model, request)

    def finish(self, accumulator: "RelationSums", examples: Sentences, provenance: Provenance) -> DependencyHeads:
        from bertviz_core.analyses.dependency_heads import measure

        return measure.finish(accumulator, examples, provenance)

    def tour_chart(self, result: DependencyHeads, head: Head, named: Mapping[str, str], is_answered: bool) -> Chart:
        """The most frequent relations of Table 1."""
        return replace(self.main_chart(paper_figure, result.default_view(), IN_TOUR), has_heads=False)

    def of_head(self, result: DependencyHeads, head: Head) -> Iterator[Rows]:
        """Its UAS, the relations that it finds furthest above an offset, and the words that it attends to."""
        best = relations(result.default_view(), head, 1)
        names, lines = ("".join(texts) for texts in ([each.name for each in best], [each.sentence for each in best]))
        figure = head_facts.relations_figure
        yield Rows(figure, (self.columns, result, head), column="best_relation", text=names, line=lines)
        words = "; ".join(head_facts.preferred(result, DEFAULT_VIEW, head))
        yield Rows(head_facts.words_facts, (result, DEFAULT_VIEW, head), column="attends_to", text=words)
        for scheme in result.word_classes.schemes(DEFAULT_VIEW):
            yield Rows(head_facts.words_figure, (result, DEFAULT_VIEW, scheme, head))
