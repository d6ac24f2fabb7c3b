"""Lists of the guesses of one head: what a reader has chosen of one, its pages, and which part of it files have."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.base.view import R, View
from bertviz_core.choices import Between, Formerly, Label, Positive, Share
from bertviz_core.corpora.word_search import searched_words

MOST = 1000  # entries of a list that files have
Order = Literal["most confident first", "least confident first", "file order"]
Guesses = Literal["all", "right", "wrong"]
ORDERS: tuple[Order, ...] = get_args(Order)
GUESSES: tuple[Guesses, ...] = get_args(Guesses)
Entry = TypeVar("Entry")


@dataclass(frozen=True)
class ListView(View[R]):
    """Which entries of a list of guesses are reported, and in which order."""

    guesses: Annotated[Guesses, Formerly("which"), Doc(f"List what has guesses that are {' or '.join(GUESSES)}.")] = (
        "all"
    )
    order: Annotated[Order, Doc(f"Order of the list: {', '.join(ORDERS)}.")] = ORDERS[0]
    least_weight: Annotated[
        Share,
        Between(0.0, 1.0, step=0.05),
        Label("Minimum weight"),
        Formerly("weight"),
        Formerly("over"),
        Doc("List guesses with at least this weight."),
    ] = 0.0
    search: Annotated[
        str, Formerly("document_search"), Doc("List what has these words in sequence; * matches any ending.")
    ] = ""
    page: Annotated[
        Positive,
        Formerly("sentence_page"),
        Formerly("passage_page"),
        Doc("The page of the list that is drawn, from 1."),
    ] = 1

    def selection(self) -> list[str]:
        """Which entries are listed, and in which order, in parts of a sentence; a view with a field that selects
        entries adds a part."""
        parts = [self.order, *([f"guesses that are {self.guesses}"] if self.guesses != GUESSES[0] else [])]
        if self.least_weight:
            parts.append(f"a weight of at least {self.least_weight:g}")
        if self.search.strip():
            parts.append(f"with “{self.search.strip()}”")
        return parts

    def reported(self, shown: R) -> dict[str, Any]:
        """What is chosen, of the list what is not its default."""
        names = {each.name for each in fields(ListView)}
        defaults = {each.name: each.default for each in fields(self) if each.name in names}
        chosen = super().reported(shown)
        return {name: value for name, value in chosen.items() if name not in defaults or value != defaults[name]}


class GuessList(ABC, Generic[Entry]):
    """All sentences or passages of a corpus with the guesses of one head, in file order, and which of them are listed.

    Attributes:
        view: What a reader has chosen of the list, resolved.
    """

    view: ListView[Any]

    @abstractmethod
    def confidence(self) -> np.ndarray:
        """(entry,) int64 the highest weight of a guess in each, in steps of 1/255; -1 where the entry is not listed."""

    @abstractmethod
    def having(self, indices: np.ndarray) -> np.ndarray:
        """Those of the (entry,) indices whose entries have the searched words."""

    @abstractmethod
    def entries(self, indices: Sequence[int]) -> list[Entry]:
        """The entries with these indices."""

    @property
    def words(self) -> list[str]:
        """The words that are searched, in lower case."""
        return searched_words(self.view.search)

    def page(self, first: int = 0, count: int | None = None) -> tuple[int, list[Entry]]:
        """One page of the list.

        Args:
            first: The number of its first entry, from 0.
            count: The most entries of the page; None for all.

        Returns:
            The number of all listed entries, and those of the page.
        """
        confidence = self.confidence()
        indices = np.flatnonzero(confidence >= 0)
        if self.words:
            indices = self.having(indices)
        ranks = dict(zip(ORDERS, (-confidence, confidence, np.zeros_like(confidence)), strict=True))
        ordered = indices[np.argsort(ranks[self.view.order][indices], kind="stable")]
        return len(ordered), self.entries(ordered[first:][:count].tolist())


def page_of(listed: GuessList[Entry], size: int) -> tuple[int, list[Entry]]:
    """The number of all entries of a list, and those of the chosen page of `size` each, the first where there is no
    such page."""
    number = listed.view.page
    total, entries = listed.page(size * (number - 1), size)
    return (total, entries) if entries or number == 1 else listed.page(0, size)


def entries_of(listed: GuessList[Entry]) -> list[Entry]:
    """The entries of a list that files have."""
    return listed.page(0, MOST)[1]


def list_note(view: ListView[Any], count: int, total: int, unit: str) -> str:
    """How a list was chosen, and how much of it there is, as sentences; `count` entries are on the page."""
    text = ", ".join(view.selection())
    note = f"{text[0].upper()}{text[1:]}."
    if count < total:
        rest = f"the first {MOST:,} {unit}" if total > MOST else f"all {total:,}"
        note += f" Page {view.page:,} is shown; the ZIP and the JSON have {rest}."
    return note
