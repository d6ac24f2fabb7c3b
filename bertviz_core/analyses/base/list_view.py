"""Which part of a list of guesses files of a result have: what a reader has chosen of the list, and what is written."""

from dataclasses import dataclass, fields
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

from typing_extensions import Doc

from bertviz_core.analyses.base.guess_lists import GUESSES, ORDERS, Entry, GuessQuery, page
from bertviz_core.analyses.base.request import View
from bertviz_core.analyses.base.result import Result
from bertviz_core.corpora.word_search import searched_words
from bertviz_core.errors import SettingsError

MOST = 1000  # entries of a list that files have


@dataclass(frozen=True)
class ListView(View):
    """Which entries of a list of guesses are reported, and in which order."""

    guesses: Annotated[str, Doc(f"List what has guesses that are {' or '.join(GUESSES)}.")] = GUESSES[0]
    order: Annotated[str, Doc(f"Order of the list: {', '.join(ORDERS)}.")] = ORDERS[0]
    least_weight: Annotated[float, Doc("List guesses with at least this weight.")] = 0.0
    search: Annotated[str, Doc("List what has these words in sequence; * matches any ending.")] = ""
    page: Annotated[int, Doc("The page of the list that is drawn, from 1.")] = 1

    def check(self) -> None:
        for name, value, known in (("guess", self.guesses, GUESSES), ("order", self.order, ORDERS)):
            if value not in known:
                raise SettingsError(f"There is no {name} {value!r}.", hint=f"Choose one of {', '.join(known)}.")
        if not 0 <= self.least_weight <= 1:
            raise SettingsError(f"{self.least_weight:g} is not a weight.", hint="Choose a number from 0 to 1.")
        if self.page < 1:
            raise SettingsError(f"There is no page {self.page}.", hint="Pages count from 1.")

    def list_choices(self) -> dict[str, Any]:
        """The choices of the list that are not its defaults."""
        names = {each.name for each in fields(ListView)}
        # Read from the subclass, which may have another default.
        own = [each for each in fields(self) if each.name in names]
        return {each.name: value for each in own if (value := getattr(self, each.name)) != each.default}

    @property
    def searched(self) -> tuple[str, ...]:
        """The words that are searched, in lower case."""
        return tuple(searched_words(self.search))


V = TypeVar("V", bound=ListView)


def list_view(kind: type[V], result: Result) -> V:
    """The choices of a result's list."""
    names = {each.name for each in fields(ListView)}
    return kind(**{name: value for name, value in result.choices.items() if name in names})


class Listed(NamedTuple, Generic[Entry]):
    """What files hold of a list.

    Attributes:
        total: The number of all entries.
        entries: The first MOST of them.
        drawn: Those of the page that is drawn.
    """

    total: int
    entries: list[Entry]
    drawn: list[Entry]


def listed(collection: Any, query: GuessQuery[Entry], number: int, size: int) -> Listed[Entry]:
    """The first entries of a list, and those of the page `number` of `size` each, the first where there is no such."""
    total, entries = page(collection, query, 0, MOST)
    first = size * (number - 1) if size * (number - 1) < total else 0
    drawn = entries[first : first + size] if first + size <= MOST else page(collection, query, first, size)[1]
    return Listed(total, entries, drawn)


def list_note(view: ListView, listed: Listed[Any], unit: str) -> str:
    """How a list was chosen, and how much of it there is, as sentences."""
    parts = [view.order, *([f"guesses that are {view.guesses}"] if view.guesses != GUESSES[0] else [])]
    if view.least_weight:
        parts.append(f"a weight of at least {view.least_weight:g}")
    if view.search.strip():
        parts.append(f"with “{view.search.strip()}”")
    text = ", ".join(parts)
    note = f"{text[0].upper()}{text[1:]}."
    if len(listed.drawn) < listed.total:
        rest = f"the first {MOST:,} {unit}" if listed.total > MOST else f"all {listed.total:,}"
        note += f" Page {view.page:,} is shown; the ZIP and the JSON have {rest}."
    return note
