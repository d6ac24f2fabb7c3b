"""Lists of a head's guesses, page by page: which guesses, their order, a search, and the store's full list."""

from typing import Any, TypeVar

from bertviz_core.analyses.details import ORDERS, GuessQuery, StoredParts, page, stored_parts
from bertviz_core.analyses.request import Request
from pages.shared import services
from pages.shared.frame import choices
from pages.shared.memoize import memoize
from pages.shared.views import corpus_search

Entry = TypeVar("Entry")


def choose(which: str, order: str, minimum: str, search: str) -> tuple[str, float, tuple[str, ...], str]:
    """Draw the choices: the fields of a GuessQuery after its head.

    Args:
        which: Key of the choice between right and wrong guesses.
        order: Order of the list at first.
        minimum: Key of the minimum weight.
        search: Key of the search.
    """
    chosen = choices.segmented("Guesses", ("all", "right", "wrong"), key=which, default="all")
    order = choices.selectbox("Order", ORDERS, key="order", default=order, width=190)
    weight = choices.slider("Minimum weight", 0.0, 1.0, 0.0, 0.05, key=minimum, width=170)
    return chosen, weight, corpus_search.words(search), order


def all_parts(request: Request, is_whole: bool) -> StoredParts | None:
    """The stored parts beside a result; None if the result `is_whole`, with all entries."""
    return None if is_whole else stored_parts(services.store(), request.key(), request.source)


def entries_of_page(collection: Any, query: GuessQuery[Entry], size: int, key: str) -> tuple[int, list[Entry]]:
    """The number of listed entries of a collection, and one page of them; draws the choice of the page."""
    total, entries = memoize(page, collection, query, 0, size)
    number = choices.page_of(total, size, key=key)
    return total, entries if number == 1 else memoize(page, collection, query, size * (number - 1), size)[1]
