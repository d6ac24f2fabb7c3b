"""The address bar: every choice on every page, so that a link, Back and Forward restore what was shown.

A choice is drawn by the functions below in place of Streamlit's own. On arrival (a link, a new tab, Back or Forward)
it takes its value from the address; afterwards the address follows it. A choice at its default is not in the address.
Streamlit's own binding of widgets to the address is not used: it replaces the history's entry and does not restore
widgets on Back.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from bertviz_core.numbers import small_int
from bertviz_core.plotting.writing import isolated

T = TypeVar("T")
STATE = "address"
Read = Callable[[str], Any]


@dataclass
class Address:
    """The address of one session.

    Attributes:
        page: The page that is shown.
        parameters: What the address bar has, or is about to have.
        restored: Keys of the choices that have taken their values from the address since the arrival.
        defaults: The last default of each choice.
        explicit: Choices of the reader that stay although their default moves to another value.
        drawn: The text of each choice of this run; None for a choice at its default.
        shared: Keys of the choices that all pages have.
        implied: Parameters that no address has, as they follow from others of it.
        visited: The own parameters of each page when it was shown last.
        problems: Why a choice could not be restored, and the value that stands for it, by key.
        is_running: Whether the whole script runs, not a fragment of it.
        is_inside: Whether the reader came by a link within the app, which keeps what it does not name.
    """

    page: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    restored: set[str] = field(default_factory=set)
    defaults: dict[str, Any] = field(default_factory=dict)
    explicit: set[str] = field(default_factory=set)
    drawn: dict[str, str | None] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)
    implied: dict[str, str] = field(default_factory=dict)
    visited: dict[str, dict[str, str]] = field(default_factory=dict)
    problems: dict[str, tuple[str, Any]] = field(default_factory=dict)
    is_running: bool = False
    is_inside: bool = False


class PageEnd(Exception):
    """The rest of a page is not drawn. Streamlit's own stop would let nothing be written to the address after it."""


def stop() -> NoReturn:
    """Draw no more of this page."""
    raise PageEnd


def current() -> Address:
    """The address of this session."""
    address: Address = st.session_state.setdefault(STATE, Address())
    return address


def arrive(page: str) -> None:
    """Begin a run: take over an address that the reader has gone to."""
    address, parameters = current(), st.query_params.to_dict()
    context = get_script_run_ctx()
    is_back = bool(getattr(context, "is_history_navigation", False))
    if page != address.page or is_back:
        address.is_inside = bool(address.page) and not is_back
        if address.is_inside:
            parameters = common() | parameters
        address.page, address.parameters = page, parameters
        address.restored, address.problems, address.explicit = set(), {}, set(parameters)
        address.implied = {}
    address.drawn, address.is_running = {}, True


def leave(complete: bool) -> None:
    """End a run, or a fragment's: the address follows the choices.

    Args:
        complete: Whether the whole page was drawn; the parameters of choices that were not are dropped then.
    """
    address = current()
    parameters = {} if complete else dict(address.parameters)
    for key, text in address.drawn.items():
        parameters.pop(key, None)
        if text is not None:
            parameters[key] = text
    address.parameters = dict(sorted(parameters.items()))
    address.visited[address.page] = {k: v for k, v in address.parameters.items() if k not in address.shared}
    address.is_running = False
    if st.query_params.to_dict() != address.parameters:
        st.query_params.from_dict(address.parameters)


def fragment(work: Callable[..., None]) -> Callable[..., None]:
    """A function as a fragment whose choices go to the address when it runs alone."""

    @st.fragment
    @functools.wraps(work)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            work(*arguments, **options)
        except Exception:
            _leave_alone()
            raise
        _leave_alone()  # not on the way to another page, whose address Streamlit has set

    return run


def _leave_alone() -> None:
    """End a fragment that runs alone."""
    if not current().is_running:
        leave(complete=False)


def share() -> None:
    """The choices drawn until now are those of all pages."""
    address = current()
    address.shared |= address.drawn.keys()


def common() -> dict[str, str]:
    """The choices that go along to every page, as parameters; but for the corpus, of which pages read several kinds."""
    address = current()
    texts = {key: address.drawn.get(key, address.parameters.get(key)) for key in address.shared - {"corpus"}}
    return {key: text for key, text in texts.items() if text is not None}


def here(**choices: str) -> str:
    """The address of this page as it stands, without the choices of all pages but its corpus; `choices` are in it even
    at their defaults."""
    address = current()
    own = {key: text for key, text in (address.parameters | address.drawn).items() if text is not None}
    own = {key: text for key, text in own.items() if key not in address.shared - {"corpus"}} | choices
    return f"{address.page}?{urlencode(sorted(own.items()))}"


def problems() -> list[str]:
    """What of the link could not be restored, as long as the reader has not chosen anew."""
    values = current().problems
    return [text for key, (text, value) in values.items() if st.session_state.get(key, value) == value]


def get(key: str, default: str = "") -> str:
    """A parameter that no widget shows, such as pins; it stays in the address as long as the page asks for it."""
    address = current()
    text = address.parameters.get(key)
    address.drawn[key] = text
    return address.implied.get(key, default) if text is None else text


def imply(key: str, text: str) -> None:
    """Give a parameter a value that follows from others, until it gets its own: to write it would be an entry of the
    history that the reader has not made."""
    current().implied[key] = text


def put(key: str, text: str) -> None:
    """Set a parameter that no widget shows; empty for none."""
    address = current()
    address.drawn[key] = text or None
    address.parameters.pop(key, None)
    address.implied.pop(key, None)
    if text:
        address.parameters[key] = text


def ahead(key: str, default: str) -> str:
    """A choice of the page before it is drawn, as text; its default for one that the reader has not made."""
    address = current()
    if key not in address.restored or key not in st.session_state:
        return address.parameters.get(key, default)
    value = st.session_state[key]
    is_default = key not in address.explicit and value == address.defaults.get(key)
    return default if is_default or value is None else _text(value)


def choose(**values: Any) -> None:
    """In a callback: choices of the reader, by key; they stay although their defaults may move."""
    st.session_state.update(values)
    current().explicit |= values.keys()


def release(*keys: str) -> None:
    """In a callback: let choices go back to their defaults."""
    address = current()
    for key in keys:
        address.explicit.discard(key)
        if key in address.defaults and key in st.session_state:
            st.session_state[key] = address.defaults[key]


def selectbox(
    label: str, options: Sequence[T], *, key: str, default: T, follows: bool = False, unavailable: str = "", **more: Any
) -> T:
    """A selectbox. follows: see `_restore`.   unavailable: why an option of a link is not there, with {} for it."""
    read, custom = _one_of(options), more.get("accept_new_options", False)
    _restore(label, key, default, str if custom else read, None if custom else options, follows, unavailable)
    if follows:
        more["on_change"] = _explicit(key, more.get("on_change"))
    return _drawn(key, default, st.selectbox(label, options, key=key, **more), follows)


def segmented(label: str, options: Sequence[T], *, key: str, default: T, follows: bool = False, **more: Any) -> T:
    """A segmented control, one option of which is always chosen."""
    _restore(label, key, default, _one_of(options), options, follows)
    if follows:
        more["on_change"] = _explicit(key, more.get("on_change"))
    chosen = st.segmented_control(label, options, required=True, key=key, **more)
    return _drawn(key, default, default if chosen is None else chosen, follows)


def select_slider(label: str, options: Sequence[T], *, key: str, default: T, **more: Any) -> T:
    """A slider over options."""
    _restore(label, key, default, _one_of(options), options)
    return _drawn(key, default, st.select_slider(label, options, key=key, **more))


def slider(label: str, low: float, high: float, default: float, step: float, *, key: str, **more: Any) -> float:
    """A slider over numbers."""
    _restore(label, key, default, functools.partial(_number, low=low, high=high))
    return _drawn(key, default, st.slider(label, low, high, step=step, key=key, **more))


def number(label: str, low: int, high: int = 10**9, default: int | None = 0, *, key: str, **more: Any) -> Any:
    """A whole number; None where the default is None and nothing is entered."""
    _restore(label, key, default, functools.partial(_whole, low=low, high=high), range(low, high + 1))
    empty = {"value": None} if default is None else {}
    draw: Any = st.number_input
    return _drawn(key, default, draw(label, low, high, key=key, **empty, **more))


def toggle(label: str, *, key: str, **more: Any) -> bool:
    """A switch that is off by default."""
    _restore(label, key, False, _one_of((True, False)))
    return _drawn(key, False, st.toggle(label, key=key, **more))


def checkbox(label: str, *, key: str, **more: Any) -> bool:
    """A checkbox that is off by default."""
    _restore(label, key, False, _one_of((True, False)))
    return _drawn(key, False, st.checkbox(label, key=key, **more))


def text(
    draw: Callable[..., str | None], label: str, *, key: str, default: str, most: int | None = None, **more: Any
) -> str:
    """A text, drawn by st.text_input or st.text_area; at `most` so many characters of it go to the address."""
    _restore(label, key, default, str)
    return _drawn(key, default, draw(label, key=key, **more) or "", most=most)


def multiselect(label: str, options: Sequence[str], *, key: str, default: Sequence[str], **more: Any) -> list[str]:
    """Several options, separated by commas in the address."""
    read = _one_of(options)
    if key in st.session_state:
        st.session_state[key] = [option for option in st.session_state[key] if option in options]
    _restore(label, key, list(default), lambda given: [read(part) for part in given.split(",") if part])
    return _drawn(key, list(default), st.multiselect(label, options, key=key, **more))


def _restore(
    label: str, key: str, default: Any, read: Read, valid: Any = None, follows: bool = False, unavailable: str = ""
) -> None:
    """Give a choice its value before it is drawn.

    Args:
        label: Of the widget.
        key: Of the widget and of the parameter.
        default: Without a parameter.
        read: From the parameter's text; raises ValueError.
        valid: The values there are, where these change.
        follows: Whether the choice moves with its default as long as the reader has not chosen.
        unavailable: Why a value is not there, with {} for it.
    """
    address = current()
    if key not in address.restored or key not in st.session_state:
        st.session_state[key] = _arrived(label, key, default, read, unavailable)
        address.restored.add(key)
    else:
        value = st.session_state[key]
        is_gone = valid is not None and value is not None and value not in valid
        is_unchosen = follows and key not in address.explicit and value == address.defaults.get(key, default)
        if is_gone or is_unchosen:
            st.session_state[key] = default
    address.defaults[key] = default


def _arrived(label: str, key: str, default: Any, read: Read, unavailable: str) -> Any:
    address = current()
    if key not in address.parameters:
        return default
    given = address.parameters[key]
    try:
        return read(given)
    except ValueError:
        name = isolated(f"“{given[:40]}”")
        address.problems[key] = (unavailable.format(name) or f"{label}: {name} is not available here", default)
        address.explicit.discard(key)
        return default


def _drawn(key: str, default: Any, value: T, follows: bool = False, most: int | None = None) -> T:
    """Note a choice for the address."""
    address = current()
    is_default = value == default and not (follows and key in address.explicit)
    address.drawn[key] = None if is_default or value is None else _text(value)[:most]
    return value


def _explicit(key: str, then: Callable[[], None] | None) -> Callable[[], None]:
    def changed() -> None:
        current().explicit.add(key)
        if then is not None:
            then()

    return changed


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.10g}"
    return ",".join(map(_text, value)) if isinstance(value, list) else str(value)


def _one_of(options: Sequence[Any]) -> Read:
    known = {_text(option): option for option in options}

    def read(given: str) -> Any:
        if given not in known:
            raise ValueError(given)
        return known[given]

    return read


def _number(given: str, low: float, high: float) -> float:
    value = float(given)
    if not (math.isfinite(value) and low <= value <= high):
        raise ValueError(given)
    return value


def _whole(given: str, low: int, high: int) -> int:
    value = small_int(given)
    if value is None or not low <= value <= high:
        raise ValueError(given)
    return value
