"""The best coreference head, and the sentences on which a report draws it."""

from collections.abc import Iterator
from functools import partial
from operator import itemgetter

import numpy as np

from bertviz_core.analyses.base.found_heads import ChosenHeads, FoundHead, MarkedInput
from bertviz_core.analyses.base.result import cached_on_result
from bertviz_core.analyses.behaviors import COREFERENCE
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.groups import TYPE_ROWS
from bertviz_core.analyses.coreference_heads.passages import first_guesses
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads
from bertviz_core.heads import DirectedHead


def found_heads(counts: AntecedentCounts) -> Iterator[FoundHead]:
    """The best head on all mentions."""
    best = counts.best()
    accuracy = counts.accuracy[best.direction, TYPE_ROWS.index("all"), *best.head]
    inputs = partial(_inputs, counts, best)
    yield FoundHead(best.head, name="antecedents", text=f"{accuracy:.1%}", is_of_keys=False, inputs=inputs)


@cached_on_result
def chosen_heads(result: CoreferenceHeads) -> list[ChosenHeads]:
    """The heads that are chosen on each half of the documents for all mentions, where both halves have some."""
    counts = result.default_view()
    if np.isnan(counts.held_out()):
        return []
    heads = tuple(sorted({*counts.best_of_halves("all", 0)}))
    return [ChosenHeads(COREFERENCE, heads, counts.finds_antecedents())]


def _inputs(counts: AntecedentCounts, best: DirectedHead) -> list[MarkedInput]:
    """Sentences of a mention and its antecedent that the head finds, the surest first; the mention's head is marked."""
    guesses = first_guesses(counts.stored, best)
    inputs = []
    for number, document in enumerate(counts.stored.first_documents):
        starts = np.array([*document["sentences"], len(document["words"])])
        right = guesses.take((guesses.items[:, 0] == number) & guesses.right)
        for guess in right.guesses():
            word, other = (document["mentions"][mention][3] for mention in (guess.mention, guess.guessed))
            first = int(starts[starts <= min(word, other)].max())
            end = int(starts[starts > max(word, other)].min())
            words = tuple(document["words"][first:end])
            inputs.append((guess.weight, MarkedInput(document["name"], words, (word - first,))))
    inputs.sort(key=itemgetter(0), reverse=True)
    return [each for _, each in inputs]
