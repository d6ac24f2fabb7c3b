"""Minimal pairs: which heads a model needs to prefer a grammatical sentence (beyond the paper; docs/methods.md,
section 19)."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.blocks import Block, Claim, Columns, Numbers, Say
from bertviz_core.analyses.base.column_blocks import all_heads_table, column_map
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.minimal_pairs.figure import paper_figure
from bertviz_core.analyses.minimal_pairs.options import MinimalPairsOptions
from bertviz_core.analyses.minimal_pairs.pair_blocks import cards, flipped_inputs, phenomena_table
from bertviz_core.analyses.minimal_pairs.result import COLUMNS, MinimalPairs
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
        yield Say(head_finding(self.name, result, head).sentence, chosen=True, on_screen=False)
        yield Columns(
            left=(self.main_chart(paper_figure, result),),
            right=(column_map(self.name, result, column),),
            widths=(3, 2),
        )
        yield Numbers(tuple(cards(result, head)))
        yield flipped_inputs(result, head)
        yield phenomena_table(result, head)
        preference = next(each for each in self.findings(result) if each.id == f"{self.name}.prefers")
        yield Claim(preference)
        yield all_heads_table(result, self.columns)

    def column_finding(self, column: HeadColumn, result: MinimalPairs) -> Finding:
        """Of the head without which the quantity falls most."""
        return head_finding(self.name, result, result.needed(column.quantity))

    def best_head(self, result: MinimalPairs, targets: Sequence[str]) -> Head | None:
        """The head that is needed most for the first of these phenomena that the file has, or for a quantity of all."""
        for target in targets:
            if target in result.phenomena:
                return result.of(target).needed()
            if target in result.quantities:
                return result.needed(target)
        return None

    def searched_numbers(self, result: MinimalPairs) -> dict[str, np.ndarray]:
        """The (layer, head) change of the accuracy in each phenomenon, in points."""
        return {name: 100 * changes for name, changes in zip(result.phenomena, result.changes[:, 0], strict=True)}

    def card_lines(self, result: MinimalPairs, heads: Sequence[Head]) -> list[list[str]]:
        """The phenomenon whose accuracy falls most without each head, where it falls."""
        lines = []
        for head in heads:
            change = result.changes[:, 0, head.layer, head.head]
            place = int(change.argmin())
            text = f"{result.phenomena[place]}: {100 * change[place]:+.1f} points without it"
            lines.append([text] if change[place] < 0 else [])
        return lines

    def cost(self, checkpoint: Checkpoint) -> float:
        """Passes over the corpus: all heads together, then each head from its layer on."""
        return 1 + checkpoint.heads * (checkpoint.layers + 1) / 2

    def corpus_run(self, model: AttentionModel, request: Request) -> "PairsRun":
        from bertviz_core.analyses.minimal_pairs.measure import PairsRun

        return PairsRun(model, request)

    def finish(self, accumulator: "PairsRun", examples: Pairs, provenance: Provenance) -> MinimalPairs:
        from bertviz_core.analyses.minimal_pairs.measure import finish

        return finish(accumulator, examples, provenance)
