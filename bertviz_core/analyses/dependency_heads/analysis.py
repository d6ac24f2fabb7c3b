"""Dependency heads: which head finds which relation of a treebank (section 4.2; Table 1)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast

import numpy as np
import plotly.graph_objects as go
from typing_extensions import Doc

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.drawn_inputs import DrawnInput
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.head_facts import HeadExamples, HeadFacts
from bertviz_core.analyses.base.head_figures import HeadFigure, HeadRow
from bertviz_core.analyses.base.parts import Card, Part, cards_part, fact_parts
from bertviz_core.analyses.base.request import Options, Request
from bertviz_core.analyses.base.result import Provenance, Result
from bertviz_core.analyses.dependency_heads import head_facts, report
from bertviz_core.analyses.dependency_heads.cards import cards
from bertviz_core.analyses.dependency_heads.figure import (
    TABLE_1,
    TOTALS,
    latex,
    more_figures,
    paper_figure,
    paper_table,
    relation_table,
)
from bertviz_core.analyses.dependency_heads.guesses import DEFAULT_VIEW, VIEW_NAMES
from bertviz_core.analyses.dependency_heads.head_relations import relations
from bertviz_core.analyses.dependency_heads.relations import RelationCounts, chosen_of
from bertviz_core.analyses.dependency_heads.result import DependencyHeads, RelationView
from bertviz_core.analyses.dependency_heads.sentence_list import sentence_part
from bertviz_core.analyses.dependency_heads.statements import (
    FOUND,
    STATEMENTS,
    head_sentence,
    named_heads,
    relation_finding,
)
from bertviz_core.corpora.treebank import ALL, UAS
from bertviz_core.heads import Head
from bertviz_core.inputs.annotated_words import Sentences
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.dependency_heads.measure import RelationSums


IN_TOUR = 14  # relations that its figure has room for


@dataclass(frozen=True)
class DependencyOptions(Options):
    """Options that change the counts."""

    possessives: Annotated[bool, Doc("The paper's rule for poss before 's.")] = False


def _uas(result: DependencyHeads) -> np.ndarray:
    """(layer, head) UAS of each head alone, in its better direction."""
    counts = result.default_view()
    return np.asarray(counts.better[0][counts.relations.index(UAS)])


def _best_offset(result: DependencyHeads) -> tuple[float, str]:
    """The UAS of the best fixed offset."""
    counts = result.default_view()
    return float(counts.baseline[counts.relations.index(UAS)]), "best offset"


class DependencyAnalysis(Analysis):
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
    more_figures = staticmethod(more_figures)
    latex = staticmethod(latex)
    paper_table = staticmethod(paper_table)
    head_in_tour = "absent"
    prefix = ""
    names_heads = True
    has_attention_lines = True

    def chosen_finding(self, result: Result) -> Finding | None:
        """The best head of the chosen relation in the chosen direction."""
        chosen = chosen_of(cast(RelationCounts, result))
        if chosen is None:
            return None
        relation, choice = chosen
        return relation_finding(cast(RelationCounts, result).in_direction(choice.direction), relation)

    def cards(self, result: Result) -> list[Card]:
        """The best head, the best fixed offset and the chosen head."""
        counts = cast(RelationCounts, result)
        chosen = chosen_of(counts)
        return cards(counts, *chosen) if chosen else []

    def parts(self, result: Result) -> list[Part]:
        """The chosen head's sentences, Table 1 beside the paper's, and the words that the head attends to."""
        counts = cast(RelationCounts, result)
        sentences = sentence_part(counts)
        if sentences is None or counts.stored is None:
            return []
        view = counts.provenance["options"]["view"]
        head = Head.parse(counts.choices["head"])
        table = Part("table_1", TABLE_1, relation_table(counts), TOTALS, signed=("offset",))
        return [
            sentences,
            table,
            cards_part(self.cards(result)),
            *fact_parts(head_facts.attended_words(counts.stored, view, head)),
        ]

    def chosen_notes(self, result: Result) -> list[str]:
        """What the chosen head finds of the relation."""
        counts = cast(RelationCounts, result)
        chosen = chosen_of(counts)
        return [head_sentence(counts, *chosen)] if chosen else []

    def reading(self, options: Mapping[str, Any]) -> str:
        return f"trees: {VIEW_NAMES[options['view']]}" if "view" in options else ""

    def opening_quantity(self, result: Result, quantities: Sequence[str]) -> str:
        """The clearest relation."""
        return cast(RelationCounts, result).clearest_relation()

    def drawn_inputs(self, result: Result, tokens: Tokens) -> Iterable[DrawnInput]:
        return report.drawn_inputs(cast(RelationCounts, result.default_view()), tokens)

    def clear_head_rows(self, result: Result) -> list[tuple[str, str, str, str]]:
        return report.clear_head_rows(cast(RelationCounts, result.default_view()))

    def named_heads(self, result: Result) -> list[tuple[str, str]]:
        return named_heads(cast(RelationCounts, result.default_view()))

    def found_by(self, name: str) -> str:
        return FOUND.get(name, "governors")

    def accumulator(self, model: AttentionModel, request: Request) -> "RelationSums":
        from bertviz_core.analyses.dependency_heads import measure

        return measure.accumulator(model, request)

    def finish(self, accumulator: "RelationSums", examples: Sentences, provenance: Provenance) -> DependencyHeads:
        from bertviz_core.analyses.dependency_heads import measure

        return measure.finish(accumulator, examples, provenance)

    def tour_figure(
        self, result: Result, head: Head | None, named: Mapping[str, str], is_answered: bool = True
    ) -> go.Figure:
        """The most frequent relations of Table 1."""
        assert isinstance(result, DependencyHeads)
        return paper_figure(result.default_view(), max_relations=IN_TOUR)

    def best_head(self, result: Result, targets: Sequence[str]) -> Head | None:
        """The best head of the first of these relations that the treebank has."""
        assert isinstance(result, DependencyHeads)
        counts = result.default_view()
        return next((counts.best_choice(target).head for target in targets if target in counts.relations), None)

    def head_facts(self, result: Result, head: Head) -> list[HeadFacts]:
        """Its best relations, and the words that it attends to."""
        assert isinstance(result, DependencyHeads)
        best = head_facts.best_relations(result.default_view(), head)
        return best + head_facts.attended_words(result, DEFAULT_VIEW, head)

    def head_rows(self, result: Result, head: Head) -> list[HeadRow]:
        """Its UAS, the relations that it finds furthest above an offset, and the words that it prefers."""
        assert isinstance(result, DependencyHeads)
        return self._found(result, head) + head_facts.preferred_rows(result, DEFAULT_VIEW, head)

    def every_head_row(self, result: Result, head: Head) -> list[HeadRow]:
        """Its UAS, and all relations and classes of words."""
        assert isinstance(result, DependencyHeads)
        found = head_facts.every_relation_row(result.default_view(), head)
        return super().head_rows(result, head) + found + head_facts.every_class_row(result, DEFAULT_VIEW, head)

    def _found(self, result: DependencyHeads, head: Head) -> list[HeadRow]:
        return super().head_rows(result, head) + head_facts.relation_rows(result.default_view(), head)

    def head_figures(self, result: Result, head: Head) -> list[HeadFigure]:
        """Its relations against offsets, and the words that it attends to."""
        assert isinstance(result, DependencyHeads)
        (strongest,) = relations(result.default_view(), [head], 1)
        sentence = strongest[0].sentence if strongest else "It finds no relation better than a fixed offset"
        found = HeadFigure("Relations that it finds", tuple(self._found(result, head)), sentence=f"{sentence}.")
        return [found, *head_facts.word_figures(result, DEFAULT_VIEW, head)]

    def searched_numbers(self, result: Result) -> dict[str, np.ndarray]:
        """The (layer, head) accuracy of each relation, in each head's better direction."""
        assert isinstance(result, DependencyHeads)
        counts = result.default_view()
        rows = zip(counts.relations, counts.better[0], strict=True)
        return {name: accuracy for name, accuracy in rows if name not in (ALL, UAS)}

    def head_texts(self, result: Result, heads: Sequence[Head]) -> dict[str, list[str]]:
        """The relation that each head finds furthest above an offset, and the words that it attends to."""
        assert isinstance(result, DependencyHeads)
        best = relations(result.default_view(), heads, 1)
        return {
            "best_relation": ["".join(relation.name for relation in first) for first in best],
            "attends_to": ["; ".join(texts) for texts in head_facts.attends_to(result, heads)],
        }

    def card_lines(self, result: Result, heads: Sequence[Head]) -> list[list[str]]:
        """The strongest relation."""
        assert isinstance(result, DependencyHeads)
        strongest = relations(result.default_view(), heads, 1)
        return [[relation.sentence for relation in best] for best in strongest]

    def head_examples(self, result: Result) -> list[HeadExamples]:
        """Sentences of the clearest relations."""
        assert isinstance(result, DependencyHeads)
        return head_facts.relation_examples(result.default_view())
