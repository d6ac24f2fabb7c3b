"""What is guessed and counted (docs/methods.md, section 6), and sentences with one head's guesses, a page at a time.
Guesses in the first sentences are in the result, those in all on disk; words are read from the treebank.

A head's guess for word w is the other word with the most word-level attention. `dependent->governor` reads row w,
`governor->dependent` column w (which word attends most to w).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from bertviz_core.analyses.details import GuessQuery, StoredParts, picked
from bertviz_core.corpora import Skipped
from bertviz_core.corpora.annotated import Treebank
from bertviz_core.corpora.treebank import ALL, UAS, Sentence, function_heads, sentence_of
from bertviz_core.corpora.word_search import has
from bertviz_core.models.tensors import Tensor

DIRECTIONS = ("dependent->governor", "governor->dependent")
FOLDS = 2  # by the parity of the sentence's number
OFFSETS = np.arange(-20, 21)  # every fixed offset that is counted; which of them compete is chosen later
MAX_SENTENCES = 500  # whose guesses are in the result; those of all are on disk beside it
VIEWS: dict[str, Callable[[Sentence], Sentence]] = {"as-is": lambda tree: tree, "function-heads": function_heads}
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
    """The most attended other word of each word, in both directions: (weight, guess), each (batch, direction, head,
    word). Ties go to the first word. In a sentence of one word the guess is that word, which no tree says.

    maps: (batch, head, word, word), whose diagonals are overwritten; padding holds 0, behind every real word, so it
        never wins a tie.   last: (batch, 1) index of the last word.
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


def sentence_record(sentence: Sentence, merge_subtypes: bool = False) -> dict[str, Any]:
    """A sentence as a dict of JSON values, as results store it."""
    if merge_subtypes:
        sentence = replace(sentence, relations=tuple(map(base_of, sentence.relations)))
    return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(sentence).items()}


@dataclass(frozen=True)
class SentenceExample:
    """One sentence with a head's guesses."""

    sentence: dict[str, Any]  # see `sentence_record`
    guesses: np.ndarray  # (word,), from 0
    weights: np.ndarray  # (word,) in steps of 1/255
    chosen: list[int]  # the words that count, from 0

    @property
    def where(self) -> str:
        return f"sentence {self.sentence['number'] + 1:,}, line {self.sentence['line']}"

    @property
    def right(self) -> int:
        """Number of the chosen words that are guessed right."""
        return sum(int(self.guesses[i]) == self.sentence["governors"][i] - 1 for i in self.chosen)

    @property
    def weight(self) -> float:
        """The highest weight of a chosen word."""
        return float(self.weights[self.chosen].max()) / 255


@dataclass(frozen=True)
class SentenceQuery(GuessQuery[SentenceExample]):
    """A selection of sentences, of a RelationCounts or of StoredParts; see GuessQuery. A sentence's highest weight is
    above `minimum`, and it contains the relation, "all" or "UAS", under the view. `causal`: only words count whose arc
    the direction of a causal model can see."""

    relation: str = ALL
    view: str = DEFAULT_VIEW
    merge_subtypes: bool = False
    causal: bool = False

    def listing(self, collection: Any) -> "GuessedSentences":
        at = self.choice.at
        if isinstance(collection, StoredParts):
            parts = list(collection.read(("guesses", "weights"), at))
            source = collection.source
            return GuessedSentences(self, parts, lambda skipped: Treebank(source).sentences(skipped))
        stored = collection.stored
        sentences = list(map(sentence_of, stored.sentences))
        arrays = {"guesses": stored.guesses[at], "weights": stored.weights[at]}
        return GuessedSentences(self, [arrays | trees_of(sentences, [self.view])], lambda skipped: iter(sentences))


def trees_of(sentences: Sequence[Sentence], views: Iterable[str]) -> dict[str, Any]:
    """Numbers and lengths (sentence,); under each view, (word,) for all words one after the other, governors, from 1, 0
    being the root, and relations, numbered in the order of `names`."""
    numbers = {"number": [sentence.number for sentence in sentences], "length": list(map(len, sentences))}
    values: dict[str, Any] = {name: np.array(each, dtype=np.int64) for name, each in numbers.items()}
    for view in views:
        viewed = list(map(VIEWS[view], sentences))
        relations = list(chain.from_iterable(sentence.relations for sentence in viewed))
        names = {name: index for index, name in enumerate(dict.fromkeys(relations))}
        governors = list(chain.from_iterable(sentence.governors for sentence in viewed))
        values[f"{view}/names"] = list(names)
        values[f"{view}/relations"] = np.array([names[name] for name in relations], dtype=np.uint16)
        values[f"{view}/governors"] = np.array(governors, dtype=np.uint16)
    return values


class GuessedSentences:
    """Consecutive sentences with one head's guesses, from parts as `Guesses.take_detail` stores them; `read` gives
    their words."""

    def __init__(
        self, query: SentenceQuery, parts: list[dict[str, Any]], read: Callable[[Skipped], Iterator[Sentence]]
    ) -> None:
        self.query, self.read = query, read
        names = ("number", "length", f"{query.view}/governors", "guesses", "weights")
        self.numbers, self.lengths, governors, self.guesses, self.weights = (
            np.concatenate([part[name] for part in parts]) for name in names
        )
        counted = [self._counted(part[f"{query.view}/names"])[part[f"{query.view}/relations"]] for part in parts]
        self.governors = governors.astype(np.int64)
        self.chosen = np.concatenate(counted)
        self.starts = np.cumsum(self.lengths) - self.lengths
        if query.causal:  # only governors on the side that the direction finds
            words = 1 + np.arange(len(governors)) - np.repeat(self.starts, self.lengths)
            self.chosen &= (self.governors > 0) & ((self.governors > words) == bool(query.choice.direction))

    def _counted(self, relations: Sequence[str]) -> np.ndarray:
        """Whether words of these relations count."""
        asked = self.query.relation
        is_merged = self.query.merge_subtypes or self.query.relation == UAS
        names = [base_of(name) if is_merged else name for name in relations]
        return np.array([name != "punct" if asked == UAS else asked in (ALL, name) for name in names], dtype=bool)

    def confidence(self) -> np.ndarray:
        highest = np.maximum.reduceat(np.where(self.chosen, self.weights.astype(np.int64), -1), self.starts)
        is_listed = highest / 255 > self.query.minimum
        if self.query.which != "all":
            is_right = self.guesses.astype(np.int64) == self.governors - 1
            is_listed &= np.logical_or.reduceat(self.chosen & (is_right == (self.query.which == "right")), self.starts)
        return np.where(is_listed, highest, -1)

    def having(self, indices: np.ndarray) -> np.ndarray:
        sentences = self._sentences(indices.tolist())
        return np.array([i for i, sentence in sentences if has(sentence.words, self.query.searched)], dtype=np.int64)

    def entries(self, indices: Sequence[int]) -> list[SentenceExample]:
        sentences = dict(self._sentences(indices))
        examples = []
        for index in indices:
            own = slice(self.starts[index], self.starts[index] + self.lengths[index])
            record = sentence_record(VIEWS[self.query.view](sentences[index]), self.query.merge_subtypes)
            chosen = np.flatnonzero(self.chosen[own]).tolist()
            examples.append(SentenceExample(record, self.guesses[own], self.weights[own], chosen))
        return examples

    def _sentences(self, indices: Iterable[int]) -> Iterator[tuple[int, Sentence]]:
        """The sentences with these indices, in file order."""
        wanted = {int(self.numbers[i]): i for i in indices}
        return ((wanted[sentence.number], sentence) for sentence in picked(self.read, wanted))
