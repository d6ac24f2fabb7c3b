"""The sentences on which a report draws the best coreference head."""

from collections.abc import Iterator
from operator import itemgetter

import numpy as np

from bertviz_core.analyses.base.drawn_inputs import DrawnInput, first_drawable
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.groups import TYPE_ROWS
from bertviz_core.analyses.coreference_heads.passages import first_guesses
from bertviz_core.inputs.tokens import Tokens


def drawn_inputs(counts: AntecedentCounts, tokens: Tokens) -> Iterator[DrawnInput]:
    """Figure 5: the best coreference head on the sentences of a mention and its antecedent, the mention's head red."""
    best = counts.best()
    guesses = first_guesses(counts.stored, best)
    inputs = []
    for number, document in enumerate(counts.stored.first_documents):
        starts = np.array([*document["sentences"], len(document["words"])])
        right = guesses.take((guesses.items[:, 0] == number) & guesses.right)
        for guess in right.guesses():
            word, other = (document["mentions"][mention][3] for mention in (guess.mention, guess.guessed))
            first = int(starts[starts <= min(word, other)].max())
            end = int(starts[starts > max(word, other)].min())
            inputs.append((guess.weight, document["words"][first:end], document["name"], [word - first]))
    inputs.sort(key=itemgetter(0), reverse=True)
    if drawable := first_drawable((each[1:] for each in inputs), tokens, counts):
        accuracy = counts.accuracy[best.direction, TYPE_ROWS.index("all"), *best.head]
        yield DrawnInput(5, best.head, f"antecedents, {accuracy:.1%}", *drawable)
