"""The result of the coreference analysis, and which of its counts are shown."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self, TypedDict

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.base.list_view import ORDERS, ListView, Order
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.groups import TYPE_ROWS, TypeRow
from bertviz_core.analyses.coreference_heads.guesses import CANDIDATES, DIRECTIONS, Candidates, Direction, index_of
from bertviz_core.choices import Label
from bertviz_core.heads import DirectedHead, Head


class DocumentRecord(TypedDict):
    """A document as results store it.

    Attributes:
        number: Its index in the corpus, from 0.
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
class CoreferenceView(ListView[AntecedentCounts]):
    """Which of the counts are shown, the mentions, the direction and the head that are reported, and the list of the
    head's passages."""

    candidates: Annotated[Candidates, Doc("mentions (the preceding ones), or words: any other.")] = "mentions"
    kind: Annotated[TypeRow, Label("Mentions"), Doc(f"The mentions to report: {', '.join(TYPE_ROWS)}.")] = "all"
    direction: Annotated[Direction, Doc(f"The direction to report: {' or '.join(DIRECTIONS)}.")] = DIRECTIONS[0]
    head: Annotated[str | None, Doc("The head to report, as 3-1; default: the best one.")] = None
    order: Annotated[Order, Doc(f"Order of the list: {', '.join(ORDERS)}.")] = "file order"

    def show(self, result: "CoreferenceHeads", beside: Any = None) -> AntecedentCounts:
        return result.show(self.candidates)

    def showing(self) -> Self:
        return replace(type(self)(), candidates=self.candidates)

    def offered(self, shown: AntecedentCounts) -> dict[str, Sequence[str]]:
        """The directions, of which a causal model has one."""
        return {"direction": shown.directions}

    def shape(self, shown: AntecedentCounts) -> tuple[int, int]:
        layers, heads = shown.accuracy.shape[2:]
        return layers, heads

    def resolve(self, shown: AntecedentCounts) -> Self:
        """By default the best head; the first direction where the model does not have the chosen one."""
        direction = self.direction if self.direction in shown.directions else DIRECTIONS[0]
        head = self.head_of() or shown.best(self.kind, shown.directions.index(direction)).head
        return replace(self, direction=direction, head=head.key())

    def choice(self) -> DirectedHead:
        """The directed head, of a view that is resolved."""
        return DirectedHead(DIRECTIONS.index(self.direction), self.chosen_head())

    def opening_head(self, result: "CoreferenceHeads") -> Head | None:
        """The best head on the mentions in the direction."""
        return replace(self, head=None).resolve(result.show(self.candidates)).head_of()

    def reported(self, shown: AntecedentCounts) -> dict[str, Any]:
        """The mentions, the direction and the head; the candidates are among the options of the counts."""
        return {name: value for name, value in super().reported(shown).items() if name != "candidates"}


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
