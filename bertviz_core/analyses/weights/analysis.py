"""Weights: what each head reads and writes, from the weights alone (beyond the paper; docs/methods.md, section 21)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.blocks import Block, Claim, Columns
from bertviz_core.analyses.base.head_figures import HeadFigure, Rows, WordList, columns_figure
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.weights.figure import (
    NOTHING,
    OF_HEAD,
    OF_MODEL,
    composition_map,
    copying_figure,
    pair_table,
    word_table,
    words_note,
)
from bertviz_core.analyses.weights.result import COLUMNS, QUANTITIES, HeadWeights, pairs, path_text
from bertviz_core.analyses.weights.statements import COMPOSITION, STATEMENTS
from bertviz_core.analyses.weights.view import WeightsView
from bertviz_core.engine.progress import Progress
from bertviz_core.heads import Head
from bertviz_core.inputs.encoding import Encoded
from bertviz_core.inputs.segments import VocabularySample
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.model import AttentionModel, check_family, predicts_next_words
from bertviz_core.settings import Settings

if TYPE_CHECKING:
    from bertviz_core.analyses.weights.measure import WeightSums

SAMPLE = 500  # tokens of the vocabulary where the settings have no limit
NO_WORDS = "Which words it writes is not known: the model predicts no next words from what its heads write."


class WeightsAnalysis(Analysis[HeadWeights, WeightsView]):
    """Copying, eigenvalues and composition of heads, from the weights alone."""

    name = "weights"
    key_version = 2
    title = "Weights"
    summary = (
        "What each head writes when it looks at a token, and which heads read what it writes, from the weights alone."
    )
    section = "What does a head read and write?"
    icon = ":material/hub:"
    result_class = HeadWeights
    corpus = "vocabulary"
    view = WeightsView
    columns = COLUMNS
    statements = STATEMENTS
    main_figure = staticmethod(copying_figure)
    one_causal = "only a model that predicts next words has heads that write words"
    limit = SAMPLE
    has_own_pass = True
    reads_maps = False

    def blocks(self, result: HeadWeights, view: WeightsView) -> Iterator[Block]:
        yield from self.opening(result, view)
        if self.is_empty(result):
            return
        head = view.chosen_head()
        if pairs(result, 1):
            assert view.path is not None, "a resolved view has a path"
            of_pairs = next(each for each in self.findings(result) if each.id == f"{self.name}.{COMPOSITION}")
            if of_pairs.sentence != self.claim(result, view).sentence:
                yield Claim(of_pairs)
            squares = composition_map(result, view.path, head)
            partners = pair_table(result, "partners", f"Strongest partners of head {head.label()}", OF_HEAD, head)
            yield Columns(left=(squares,), right=(partners,))
        if result.of_vocabulary:
            yield word_table(result, head)
        if pairs(result, 1):
            yield pair_table(result, "pairs", "Strongest pairs of all heads", OF_MODEL)
        yield from self.ending(result, view)

    def of_head(self, result: HeadWeights, head: Head) -> Iterator[Rows]:
        """Its numbers, the heads that it composes with, and the words that it writes."""
        yield Rows(_of_head, (result, head))
        yield Rows(_written, (result, head))

    def check_model(self, checkpoint: Checkpoint) -> None:
        check_family(checkpoint)

    def reads_predictions(self, checkpoint: Checkpoint) -> bool:
        return predicts_next_words(checkpoint)

    def accumulator(self, model: AttentionModel, request: Request) -> "WeightSums":
        from bertviz_core.analyses.weights.measure import WeightSums

        # `run` adds the values; `measure`, of maps, is never called.
        return WeightSums(QUANTITIES, self.measure, model.layers, model.heads, model.device, QUANTITIES)

    def run(
        self,
        model: AttentionModel,
        settings: Settings,
        examples: Iterable[Encoded],
        accumulators: Sequence[Any],
        progress: Progress,
        batch_tokens: int | None,
    ) -> None:
        from bertviz_core.analyses.weights.measure import measure

        for sums in accumulators:
            measure(model, settings, list(examples), sums, progress)

    def finish(self, accumulator: "WeightSums", examples: VocabularySample, provenance: Provenance) -> HeadWeights:
        """Create the result; every token is drawn independently, and so is a unit."""
        values = accumulator.fields(examples) | accumulator.whole | {"unit": "tokens"}
        values |= accumulator.word_fields(examples.tokens)
        return HeadWeights(provenance=provenance, **values)


def _of_head(result: HeadWeights, head: Head) -> HeadFigure:
    figure = columns_figure(WeightsAnalysis.title, COLUMNS, result, head)
    partners = [
        f"{'reads' if each.reader == head else 'is read by'} "
        f"{(each.writer if each.reader == head else each.reader).label()} {path_text(each.path)} ({each.value:.2f})"
        for each in pairs(result, 3, head)
    ]
    composed = f"The head {'; '.join(partners)}. Random pairs: {result.random_mean:.2f}." if partners else ""
    wordless = "" if result.of_vocabulary else NO_WORDS
    return HeadFigure(figure.title, figure.rows, sentence=" ".join(filter(None, [composed, wordless])))


def _written(result: HeadWeights, head: Head) -> HeadFigure:
    lists = tuple(WordList(token, tuple(words) or (NOTHING,)) for token, words in result.words(head))
    return HeadFigure("What it writes", lists=lists, sentence=words_note(result))
