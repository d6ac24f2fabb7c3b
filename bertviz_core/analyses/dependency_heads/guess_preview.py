"""Every head's guesses in one short sentence, for the map of heads of a relation."""

import numpy as np

from bertviz_core.analyses.dependency_heads.figure import examples
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.sentences import SentenceExample
from bertviz_core.heads import DirectedHead
from bertviz_core.plotting.head_preview import MAX_TOKENS, encoded, most_tokens

FIRST = 20  # sentences, which nearly always have a short one


def of_guesses(result: RelationCounts, choice: DirectedHead, relation: str) -> bytes:
    """All heads' guesses in the short sentence where the chosen head is surest of a relation; empty without one."""
    longest = min(MAX_TOKENS, most_tokens(*result.accuracy.shape[2:]))
    surest = _surest(result, choice, relation, longest, FIRST) or _surest(result, choice, relation, longest, None)
    stored = result.stored
    if surest is None or stored is None:
        return b""
    number = surest.sentence["number"]
    words = surest.sentence["words"]
    start = sum(len(each["words"]) for each in stored.sentences if each["number"] < number)
    sentence = choice.direction, ..., slice(start, start + len(words))
    guesses = stored.guesses[sentence]
    maps = np.zeros((*guesses.shape, len(words)), np.uint8)
    weights = stored.weights[sentence]
    np.put_along_axis(maps, guesses[..., None].astype(np.int64), weights[..., None], axis=-1)
    # Where columns are read, attention goes from the guess to the word.
    maps = maps.swapaxes(2, 3) if choice.direction else maps
    return encoded(words, maps, f"Guesses in {surest.where}")


def _surest(
    result: RelationCounts, choice: DirectedHead, relation: str, longest: int, count: int | None
) -> SentenceExample | None:
    """The first sentence with at most `longest` words of the `count` where the head is surest, None for all."""
    by_weight = examples(result, choice, relation, "most confident first", count)
    return next((each for each in by_weight if len(each.sentence["words"]) <= longest), None)
