"""What is guessed and counted (docs/methods.md, section 6; section 4.2), and a sentence as results keep it.

A head's guess for word w is the other word with the most word-level attention. `dependent->governor` reads row w,
`governor->dependent` column w (which word attends most to w).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bertviz_core.corpora.treebank import Sentence, function_heads

if TYPE_CHECKING:
    from torch import Tensor


DIRECTIONS = ("dependent->governor", "governor->dependent")
FOLDS = 2  # by the parity of the sentence's number
OFFSETS = np.arange(-20, 21)  # every fixed offset that is counted; which of them compete is chosen later
MAX_SENTENCES = 500  # whose guesses are in the result; those of all are on disk beside it
VIEWS: dict[str, Callable[[Sentence], Sentence]] = {
    "as-is": lambda sentence: sentence,
    "function-heads": function_heads,
}
VIEW_NAMES = {"function-heads": "function words as governors", "as-is": "as annotated"}
DEFAULT_VIEW = "function-heads"
SIDES = ("earlier", "later")  # where a causal model's direction can find a governor, in the order of DIRECTIONS
COUNTED = "governor {}"
CAUSAL = (
    "A token of this model sees only what comes earlier, so a head finds an arc from its later word alone: dependent → "
    "governor counts the words whose governor comes earlier, governor → dependent those whose governor comes later; "
    "heads, fixed offsets and random words alike. Beside it stands the share of all words."
)


def view_of_side(view: str, side: str) -> str:
    """Name under which the words of a view are counted whose governor stands on one of SIDES."""
    return f"{view}, governor {side}"


def offset_name(offset: int) -> str:
    """Name of a fixed offset with its behavior at the edge of a sentence, as "offset +1 (last word to itself)"."""
    edge = "last word to itself" if offset > 0 else "first word to ROOT" if offset else "every word to itself"
    return f"offset {offset:+d} ({edge})"


def best_words(maps: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
    """Find the most attended other word of each word, in both directions.

    Ties go to the first word. In a sentence of one word the guess is that word, which no tree says.

    Args:
        maps: (batch, head, word, word), whose diagonals are overwritten; padding holds 0, behind every real word, so it
            never wins a tie.
        last: (batch, 1) index of the last word.

    Returns:
        (weight, guess), each (batch, direction, head, word).
    """
    import torch

    maps.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
    row, column = maps.max(-1), maps.max(-2)
    weight = torch.stack([row.values, column.values], 1)
    guess = torch.stack([row.indices, column.indices], 1)
    return weight, guess.minimum(last[:, :, None, None])


def base_of(relation: str) -> str:
    """A relation without its subtype, as nmod for nmod:poss."""
    return relation.partition(":")[0]


def by_size(names: Sequence[str], n: np.ndarray) -> list[str]:
    """The distinct names by falling total of their numbers, then by name."""
    totals = Counter[str]()
    for name, count in zip(names, n.tolist(), strict=True):
        totals[name] += count
    return sorted(totals, key=lambda name: (-totals[name], name))


def sentence_record(sentence: Sentence, merge_subtypes: bool = False) -> dict[str, Any]:
    """A sentence as a dict of JSON values, as results store it."""
    if merge_subtypes:
        sentence = replace(sentence, relations=tuple(map(base_of, sentence.relations)))
    return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(sentence).items()}
