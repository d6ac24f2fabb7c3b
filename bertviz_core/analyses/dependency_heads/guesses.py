"""What is guessed: governors in both directions of a map, under the views of the trees (docs/methods.md, section 6)."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, get_args

import numpy as np

from bertviz_core.corpora.treebank import Sentence, function_heads
from bertviz_core.inputs.tensors import Tensor
from bertviz_core.numbers import plural

Direction = Literal["dependent->governor", "governor->dependent"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)  # the first reads row w of the map, the second column w
FOLDS = 2  # the two halves of a treebank, by parity of the number of the unit (document or sentence)
OFFSETS = np.arange(-20, 21)  # all offsets that are counted; a view shows some
VIEWS: dict[str, Callable[[Sentence], Sentence]] = {"as-is": lambda tree: tree, "function-heads": function_heads}
VIEW_NAMES = {"function-heads": "function words as governors", "as-is": "as annotated"}
Trees = Literal["function-heads", "as-is"]
DEFAULT_VIEW: Trees = "function-heads"
SIDES = ("earlier", "later")  # the side on which each direction of a causal model finds governors
COUNTED = "governor {}"
CAUSAL = (
    "A token of this model sees only what comes earlier, so a head finds an arc from its later word alone: dependent → "
    "governor counts the words whose governor comes earlier, governor → dependent those whose governor comes later; "
    "heads, fixed offsets and random words alike. The claim's details and the tables have the share of all words."
)


def view_of_side(view: str, side: str) -> str:
    """Name of the view of the words whose governor is on one of SIDES."""
    return f"{view}, governor {side}"


def merged(view: str) -> str:
    """Name of the view with relations of one base, as nmod and nmod:poss, counted together."""
    return f"{view}, subtypes merged"


def offset_name(offset: int) -> str:
    """A fixed offset with its behavior at the edge of a sentence, as "offset +1 (last word to itself)"."""
    edge = "every word to itself"
    if offset > 0:
        edge = "last word to itself"
    elif offset < 0:
        edge = "first word to ROOT"
    return f"offset {offset:+d} ({edge})"


def offset_words(offset: int) -> str:
    """A fixed offset in words, as "2 words to the left"."""
    count = plural(abs(offset), "words")
    return f"{count} to the {'right' if offset > 0 else 'left'}" if offset else "the word itself"


def best_words(maps: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
    """The most attended other word of each word, in both directions (docs/methods.md, section 6).

    Args:
        maps: (batch, head, word, word), whose diagonals are overwritten; padding is 0, so it never wins a tie.
        last: (batch, 1) index of the last word.

    Returns:
        (weight, guess), each (batch, direction, head, word). Ties go to the first word; the guess in a sentence of one
        word is that word, which is never right.
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


def trees_of(sentences: Sequence[Sentence], views: Iterable[str]) -> dict[str, Any]:
    """(sentence,) number, length; by view (word,) governors from 1, 0 the root, and relations, numbered by `names`."""
    number = [each.number for each in sentences]
    length = list(map(len, sentences))
    values: dict[str, Any] = {
        "number": np.array(number, np.int64),
        "length": np.array(length, np.int64),
    }
    for view in views:
        relations: list[str] = []
        governors: list[int] = []
        for tree in map(VIEWS[view], sentences):
            relations += tree.relations
            governors += tree.governors
        names = {name: index for index, name in enumerate(dict.fromkeys(relations))}
        values[f"{view}/names"] = list(names)
        values[f"{view}/relations"] = np.array([names[name] for name in relations], dtype=np.uint16)
        values[f"{view}/governors"] = np.array(governors, dtype=np.uint16)
    return values
