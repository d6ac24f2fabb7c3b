"""Which part of a list of guesses files of a result have: what a reader has chosen of the list, and what is written."""

from dataclasses import dataclass, fields
from typing import Annotated, Any

from typing_extensions import Doc

from bertviz_core.analyses.base.guess_lists import GUESSES, ORDERS, Entry, Guesses, GuessQuery, Order, page
from bertviz_core.analyses.base.view import R, View
from bertviz_core.choices import Between, Formerly, Label, Positive, Share

MOST = 1000  # entries of a list that files have


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

    def reported(self, shown: R) -> dict[str, Any]:
        """What is chosen, of the list what is not its default."""
        names = {each.name for each in fields(ListView)}
        defaults = {each.name: each.default for each in fields(self) if each.name in names}
        chosen = super().reported(shown)
        return {name: value for name, value in chosen.items() if name not in defaults or value != defaults[name]}


def page_of(collection: Any, query: GuessQuery[Entry], number: int, size: int) -> tuple[int, list[Entry]]:
    """The number of all entries of a list, and those of the page `number` of `size` each, the first where there is no
    such page."""
    total, entries = page(collection, query, size * (number - 1), size)
    return (total, entries) if entries or number == 1 else page(collection, query, 0, size)


def entries_of(collection: Any, query: GuessQuery[Entry]) -> list[Entry]:
    """The entries of a list that files have."""
    return page(collection, query, 0, MOST)[1]


def list_note(view: ListView[Any], count: int, total: int, unit: str) -> str:
    """How a list was chosen, and how much of it there is, as sentences; `drawn` entries are on the page."""
    parts = [view.order, *([f"guesses that are {view.guesses}"] if view.guesses != GUESSES[0] else [])]
    if view.least_weight:
        parts.append(f"a weight of at least {view.least_weight:g}")
    if view.search.strip():
        parts.append(f"with “{view.search.strip()}”")
    text = ", ".join(parts)
    note = f"{text[0].upper()}{text[1:]}."
    if count < total:
        rest = f"the first {MOST:,} {unit}" if total > MOST else f"all {total:,}"
        note += f" Page {view.page:,} is shown; the ZIP and the JSON have {rest}."
    return note
