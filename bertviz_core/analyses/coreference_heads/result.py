"""The result of the coreference analysis, and which of its counts are shown."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypedDict

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.base.guess_lists import ORDERS
from bertviz_core.analyses.base.list_view import ListView
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result, choosing
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.groups import TYPE_ROWS
from bertviz_core.analyses.coreference_heads.guesses import CANDIDATES, DIRECTIONS, index_of
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head


class DocumentRecord(TypedDict):
    """A document as results store it.

    Attributes:
        number: Its index in the corpus, from 0.
        name: Its name.
        words: Its words.
        sentences: The first word of each sentence, from 0.
        mentions: [start, end, cluster, head, type] of each mention: its first word, the word after its last one, its
            chain, its head word, and one of TYPES.
    """

    number: int
    name: str
    words: list[str]
    sentences: list[int]
    mentions: list[list[Any]]


@dataclass(frozen=True)
class CoreferenceView(ListView):
    """Which of the counts are shown, the mentions, the direction and the head that are reported, and the list of the
    head's passages."""

    candidates: Annotated[str, Doc("mentions (the preceding ones), or words: any other.")] = "mentions"
    kind: Annotated[str, Doc(f"The mentions to report: {', '.join(TYPE_ROWS)}.")] = TYPE_ROWS[0]
    direction: Annotated[str, Doc(f"The direction to report: {' or '.join(DIRECTIONS)}.")] = DIRECTIONS[0]
    head: Annotated[str | None, Doc("The head to report, as 3-1; default: the best one.")] = None
    order: Annotated[str, Doc(f"Order of the list: {', '.join(ORDERS)}.")] = "file order"

    def check(self) -> None:
        super().check()
        index_of(self.candidates)
        for name, value, known in (("type", self.kind, TYPE_ROWS), ("direction", self.direction, DIRECTIONS)):
            if value not in known:
                raise SettingsError(f"There is no {name} {value!r}.", hint=f"Choose one of {', '.join(known)}.")

    def show(self, result: Result, request: Request, find: Callable[[Request], Result | None]) -> Result:
        assert isinstance(result, CoreferenceHeads)
        return result.show(self.candidates)

    def choose(self, result: Result) -> Result:
        """The counts with these choices.

        Raises:
            SettingsError: The counts have no such direction, or the model no such head.
        """
        assert isinstance(result, AntecedentCounts)
        if self.direction not in result.directions:
            raise SettingsError(f"This model has no direction {self.direction!r}.", hint=result.restriction)
        best = result.best(self.kind, result.directions.index(self.direction)).head
        head = Head.parse(self.head) if self.head is not None else best
        head.check(*result.accuracy.shape[2:])
        return choosing(result, kind=self.kind, direction=self.direction, head=head.key(), **self.list_choices())


@dataclass(frozen=True)
class CoreferenceHeads(Result):
    """Right guesses for every set of candidates, and the first documents with every head's guesses.

    An item is a mention that has an antecedent. Moments are sums over documents, for c right guesses among n items;
    their rows are those of `by_row`.

    Attributes:
        correct: (direction, candidates, group, layer, head) right guesses.
        group_n: (group,) items.
        systems: Names of the baselines, BASELINES.
        system_correct: (system, group) right guesses.
        moments: (2, direction, candidates, layer, head, row) sums of n c and of c^2.
        system_moments: (2, system, row) sums of n c and of c^2.
        item_moments: (2, row) how many documents have items, and the sum of n^2.
        single: Number of items with a single candidate.
        first_documents: The first documents, see `passages.document_record`.
        items: (item, 5) their items, see `passages.ItemGuesses`, the document by its index in `first_documents`.
        guess: (direction, layer, head, item) the mention guessed, by its index in its document.
        weight: (direction, layer, head, item) the attention that it has.
        chance: (2, candidates, group) sums over items of 1 / candidates, and of antecedents / candidates.
    """

    analysis: ClassVar[str] = "coreference_heads"
    correct: np.ndarray
    group_n: np.ndarray
    systems: list[str]
    system_correct: np.ndarray
    moments: np.ndarray
    system_moments: np.ndarray
    item_moments: np.ndarray
    single: int
    first_documents: list[DocumentRecord]
    items: np.ndarray
    guess: np.ndarray
    weight: np.ndarray
    chance: np.ndarray

    def show(self, candidates: str | None = None) -> AntecedentCounts:
        """The counts for one of CANDIDATES, by default the first; raises SettingsError for another."""
        index = index_of(candidates or CANDIDATES[0])
        options = self.provenance["options"] | ({"candidates": candidates} if candidates else {})
        return AntecedentCounts(self.provenance | {"options": options}, self, index)

    def default_view(self) -> AntecedentCounts:
        """The counts among the preceding mentions."""
        return self.show()
