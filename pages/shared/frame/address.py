"""The address bar: every choice on every page, so that a link, Back and Forward restore what was shown.

A choice is drawn by the functions of `choices`. On arrival (a link, a new tab, Back or Forward) it takes its value from
the address; afterwards the address follows it, without the choices at their defaults. Streamlit's own binding of
widgets to the address replaces the history's entry, and does not restore widgets on Back.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from bertviz_core.errors import BertvizError
from bertviz_core.settings import Settings
from pages.shared import messages, streamlit_internals

# Keys of the choices that all pages share.
HEADER = {"model", "corpus", "treebank", "coreference", "zero", "head"} | {each.name for each in fields(Settings)}


@dataclass
class Address:
    """The address of one session. A choice has the same key here, in the address and in the session."""

    page: str = ""
    parameters: dict[str, str] = field(default_factory=dict)  # as the address bar has them, or is about to
    restored: set[str] = field(default_factory=set)  # choices that have taken their values from this address
    defaults: dict[str, Any] = field(default_factory=dict)  # of choices, when last drawn
    explicit: set[str] = field(default_factory=set)  # choices of the reader, which stay when their defaults change
    drawn: dict[str, str | None] = field(default_factory=dict)  # values in this run as text, None at the default
    implied: dict[str, str] = field(default_factory=dict)  # parameters that follow from others, and are not written
    visited: dict[str, dict[str, str]] = field(default_factory=dict)  # page -> its own parameters when last shown
    problems: dict[str, tuple[str, Any]] = field(default_factory=dict)  # why it is not restored, and its value instead
    is_inside: bool = False  # the page was opened from within the app: shared choices stay that the link does not name


class PageEnd(Exception):
    """The page ends here. Streamlit's own stop would let nothing be written to the address after it."""


def current() -> Address:
    return st.session_state.setdefault("address", Address())


def arrive(page: str) -> None:
    """Begin a run: read the address if the reader has gone to another one."""
    address = current()
    parameters = st.query_params.to_dict()
    is_back = streamlit_internals.is_history_navigation()
    if page != address.page or is_back:
        address.is_inside = bool(address.page) and not is_back
        if address.is_inside:
            parameters = texts(shared=True) | parameters
        address.page = page
        address.parameters = parameters
        address.restored = set()
        address.problems = {}
        address.explicit = set(parameters)
        address.implied = {}
    address.drawn = {}


def leave(is_complete: bool) -> None:
    """Write the choices to the address; after a complete run it has no parameters of choices that were not drawn."""
    address = current()
    if is_complete:
        address.parameters = {}
    address.visited[address.page] = texts(shared=False)
    address.parameters = dict(sorted((texts(shared=True) | address.visited[address.page]).items()))
    if st.query_params.to_dict() != address.parameters:
        st.query_params.from_dict(address.parameters)


def is_alone() -> bool:
    """Whether a fragment runs without the rest of its page."""
    return streamlit_internals.is_fragment_run()


def fragment(work: Callable[..., None]) -> Callable[..., None]:
    """Decorate a part of a page as a fragment, which writes its choices to the address and draws its errors itself."""

    @functools.wraps(work)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            work(*arguments, **options)  # Streamlit raises here too when the reader leaves the page
        except BertvizError as problem:
            if not is_alone():
                raise
            messages.error(problem)
        if is_alone():
            leave(is_complete=False)

    return st.fragment(run)


def texts(*, shared: bool) -> dict[str, str]:
    """The choices that all pages share, or those of the page alone: as drawn in this run, else as in the address."""
    address = current()
    known = address.parameters | address.drawn
    return {key: text for key, text in known.items() if text is not None and (key in HEADER) == shared}


def here() -> str:
    own = sorted(texts(shared=False).items())
    return f"{current().page}?{urlencode(own)}"


def warn_of_problems() -> None:
    """Warn that parts of a link could not be restored, until the reader changes them."""
    problems = current().problems.items()
    reasons = [text for key, (text, value) in problems if st.session_state.get(key, value) == value]
    if reasons:
        text = f"This link cannot be restored in full: {'; '.join(map(messages.plain, reasons))}."
        st.warning(text, icon=":material/link_off:")


def get(key: str) -> str:
    """A parameter that no widget shows, such as pins, or ""; it stays in the address as long as the page reads it."""
    address = current()
    text = address.parameters.get(key)
    address.drawn[key] = text
    return address.implied.get(key, "") if text is None else text


def put(key: str, text: str) -> None:
    """Set a parameter that no widget shows; "" removes it."""
    address = current()
    address.drawn[key] = text or None
    address.parameters.pop(key, None)
    address.implied.pop(key, None)
    if text:
        address.parameters[key] = text


def choose(**values: Any) -> None:
    """Set choices by key for the reader, in a callback; they stay when their defaults change."""
    st.session_state.update(values)
    current().explicit |= values.keys()


def release(*keys: str) -> None:
    """Set choices back to their defaults, in a callback."""
    address = current()
    state = st.session_state
    for key in keys:
        address.explicit.discard(key)
        if key in address.defaults and key in state:
            state[key] = address.defaults[key]
