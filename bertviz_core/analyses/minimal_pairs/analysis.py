"""Minimal pairs: which heads a model needs to prefer a grammatical sentence (beyond the paper; docs/methods.md,
section 19)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.blocks import Block, Claim, Columns, Numbers, Say
from bertviz_core.analyses.base.column_blocks import all_heads_table, column_map
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.head_figures import Rows
from bertviz_core.analyses.base.highest_tables import highest_tables
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.base.view import Find
from bertviz_core.analyses.minimal_pairs.figure import head_figure, paper_figure
from bertviz_core.analyses.minimal_pairs.options import MinimalPairsOptions
from bertviz_core.analyses.minimal_pairs.pair_blocks import cards, flipped_inputs, phenomena_table
from bertviz_core.analyses.minimal_pairs.result import COLUMNS, MinimalPairs
from bertviz_core.analyses.minimal_pairs.set_blocks import set_blocks
from bertviz_core.analyses.minimal_pairs.set_statements import set_answer, set_finding, set_needed
from bertviz_core.analyses.minimal_pairs.statements import STATEMENTS, head_finding
from bertviz_core.analyses.minimal_pairs.view import MinimalPairsView
from bertviz_core.heads import Head
from bertviz_core.inputs.encoded_pairs import Pairs
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.minimal_pairs.measure import PairsRun


class MinimalPairsAnalysis(Analysis[MinimalPairs, MinimalPairsView]):
    """Preference for grammatical sentences without heads."""

    name = "minimal_pairs"
    title = "Minimal pairs"
    summary = (
        "How often the model prefers a grammatical sentence to its ungrammatical counterpart, with all heads and "
        "without each of them."
    )
    section = "Does grammar need a head?"
    icon = ":material/balance:"
    corpus = "pairs"
    result_class = MinimalPairs
    options = MinimalPairsOptions
    view = MinimalPairsView
    columns = COLUMNS
    statements = STATEMENTS
    one_causal = "it scores whole sentences word by word, the other the words that differ"
    main_figure = staticmethod(paper_figure)
    language_model = True
    has_own_pass = True
    chunked = False
    reads_maps = False

    def blocks(self, result: MinimalPairs, view: MinimalPairsView) -> Iterator[Block]:
        column = view.column(result)
        assert column is not None, "every result has both quantities"
        head = view.chosen_head()
        yield Claim(self.claim(result, view), first=True)
        yield from set_blocks(result)
        yield Say(head_finding(self.name, result, head).sentence, chosen=True, on_screen=False)
        claims = [Claim(self._most_needed(result, view))] if result.head_set else []
        yield Columns(
            left=(*claims, self.main_chart(paper_figure, result)),
            right=(column_map(self.name, result, column),),
            widths=(3, 2),
            title="Single heads" if result.sets else "",
        )
        yield Numbers(tuple(cards(result, head)))
        yield flipped_inputs(result, head)
        yield phenomena_table(result, head)
        preference = next(each for each in self.findings(result) if each.id == f"{self.name}.prefers")
        yield Claim(preference)
        yield from highest_tables(result, self.columns)
        yield all_heads_table(result, self.columns)

    def findings(self, result: MinimalPairs | None) -> list[Finding]:
        """Those of single heads, and of the set that is removed."""
        listed = super().findings(result)
        if result is None or not (head_set := result.head_set):
            return listed
        return [set_finding(self.name, set_needed(result, head_set)), *listed]

    def claim(self, result: MinimalPairs, view: MinimalPairsView) -> Finding:
        """Of the shown phenomenon the set that is removed, else the head without which the chosen quantity falls
        most."""
        if result.head_set:
            return set_finding(self.name, set_answer(result, result.head_set))
        return self._most_needed(result, view)

    def _most_needed(self, result: MinimalPairs, view: MinimalPairsView) -> Finding:
        """Of the shown phenomenon the head without which the chosen quantity falls most."""
        column = view.column(result)
        assert column is not None, "every result has both quantities"
        return head_finding(self.name, result, result.needed(column.quantity))

    def of_head(self, result: MinimalPairs, head: Head) -> Iterator[Rows]:
        """What the model loses without the head, and the phenomenon whose accuracy falls most; heads are found by the
        change in each phenomenon."""
        phenomenon, points = result.most_needed_for(head)
        line = f"{phenomenon}: {points:+.1f} points without it" if points < 0 else ""
        arguments = (self.title, self.columns, result, head)
        yield Rows(head_figure, arguments, column="needed_for", text=phenomenon if line else "", line=line)

    def cost(self, checkpoint: Checkpoint) -> float:
        """Passes over the corpus: all heads together, then each head from its layer on."""
        return 1 + checkpoint.heads * (checkpoint.layers + 1) / 2

    def corpus_run(self, model: AttentionModel, request: Request, find: Find) -> "PairsRun":
        from bertviz_core.analyses.minimal_pairs.measure import PairsRun

        return PairsRun(model, request, find)

    def finish(self, accumulator: "PairsRun", examples: Pairs, provenance: Provenance) -> MinimalPairs:
        from bertviz_core.analyses.minimal_pairs.measure import finish

        return finish(accumulator, examples, provenance)
