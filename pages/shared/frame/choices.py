"""Choices of a page, drawn in place of Streamlit's own widgets: the address follows them. In a closed popover that
reruns the page when it is opened (`on_change="rerun"`) they have their values without being drawn."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from bertviz_core.models.labels import isolated
from bertviz_core.numbers import small_int
from pages.shared.frame.address import current
from pages.shared.streamlit_internals import innermost_container, is_in_popover

T = TypeVar("T")
Read = Callable[[str], Any]  # the value of a text; raises ValueError or KeyError for a text that has none
_is_unseen = ContextVar("unseen", default=False)


def selectbox(label: str, options: Sequence[T], *, default: T, **more: Any) -> T:
    read = str if more.get("accept_new_options") else _one_of(options)
    return _choice(st.selectbox, label, options, default=default, read=read, **more)


def segmented(label: str, options: Sequence[T], *, default: T, **more: Any) -> T:
    more |= {"read": _one_of(options), "required": True}
    chosen = _choice(st.segmented_control, label, options, default=default, **more)
    return default if chosen is None else chosen


def select_slider(label: str, options: Sequence[T], *, default: T, **more: Any) -> T:
    return _choice(st.select_slider, label, options, default=default, read=_one_of(options), **more)


def slider(label: str, low: float, high: float, default: float, step: float, **more: Any) -> float:
    read = partial(_between, float, low, high)
    return _choice(st.slider, label, low, high, step=step, default=default, read=read, **more)


def number(label: str, low: int, high: int = 10**9 - 1, default: int | None = 0, **more: Any) -> Any:
    """A whole number; None where the default is None and nothing is entered."""
    if default is None:
        more["value"] = None
    read = partial(_between, small_int, low, high)
    return _choice(st.number_input, label, low, high, default=default, read=read, **more)


def page_of(total: int, size: int, *, key: str) -> int:
    """The number of the page, from 1, of `total` entries with `size` per page; not drawn if one page has them all."""
    pages = max(1, -(-total // size))
    return int(number(f"Page of {pages:,}", 1, pages, 1, key=key, width=130)) if pages > 1 else 1


def toggle(label: str, **more: Any) -> bool:
    return _choice(st.toggle, label, default=False, read=_one_of((False, True)), **more)


def text(label: str, *, default: str, **more: Any) -> str:
    return _choice(st.text_input, label, default=default, read=str, **more)


def multiselect(label: str, options: Sequence[str], *, key: str, default: Sequence[str], **more: Any) -> list[str]:
    """Several options; in the address commas separate them."""
    read = _one_of(options)
    more["read"] = lambda value: [read(part) for part in value.split(",") if part]
    if key in st.session_state:
        st.session_state[key] = [option for option in st.session_state[key] if option in options]
    return _choice(st.multiselect, label, options, key=key, default=list(default), **more)


def _choice(
    draw: Callable[..., Any],
    label: str,
    *arguments: Any,
    key: str,
    default: T,
    read: Read,
    follows: bool = False,
    maximum: int | None = None,
    **more: Any,
) -> T:
    """Draw a choice with its value from the address, and note it for the address, cut to `maximum` characters.

    `read` restores a value from its text, and a value whose text it cannot read is reset. A choice that `follows` moves
    with its default as long as the reader has not chosen.
    """
    address = current()
    state = st.session_state
    container = innermost_container()
    if key not in address.restored or key not in state:
        state[key] = _arrived(label, key, default, read)
        address.restored.add(key)
    else:
        is_unchosen = follows and key not in address.explicit and state[key] == address.defaults.get(key, default)
        if is_unchosen or not _is_valid(state[key], read):
            address.explicit.discard(key)
            state[key] = default
        elif container is not None and is_in_popover(container):
            # Sent again with every run: a browser makes a popover's widgets when it is first opened, and would reset
            # those whose values it was sent with an earlier run. Streamlit would forget those that are not drawn.
            state[key] = state[key]
    address.defaults[key] = default
    if _is_unseen.get():
        return state[key]
    if follows:
        more["on_change"] = partial(_changed, key, more.get("on_change"))
    is_closed = getattr(container, "open", None) is False
    value: T = state[key] if is_closed else draw(label, *arguments, key=key, **more)
    is_default = value == default and not (follows and key in address.explicit)
    address.drawn[key] = None if is_default or value is None else _text(value)[:maximum]
    return value


def _arrived(label: str, key: str, default: Any, read: Read) -> Any:
    """The value that the address has; the default without one, and for one that cannot be read, which is noted."""
    address = current()
    if key not in address.parameters:
        return default
    parameter = address.parameters[key]
    try:
        return read(parameter)
    except (KeyError, ValueError):
        name = isolated(f"“{parameter[:40]}”")
        address.problems[key] = f"{label}: {name} is not available here", default
        address.explicit.discard(key)
        return default


def _is_valid(value: Any, read: Read) -> bool:
    with suppress(KeyError, ValueError):
        read(_text(value))
        return True
    return value is None


def _changed(key: str, then: Callable[[], None] | None) -> None:
    current().explicit.add(key)
    if then is not None:
        then()


def _text(value: Any) -> str:
    """A value as text, which the `read` of its choice reads."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.10g}"
    return ",".join(map(_text, value)) if isinstance(value, list) else str(value)


def _one_of(options: Sequence[Any]) -> Read:
    return lambda parameter: {_text(option): option for option in options}[parameter]


def _between(convert: Read, low: float, high: float, parameter: str) -> Any:
    value = convert(parameter)
    if value is None or not low <= value <= high:
        raise ValueError(parameter)
    return value


@contextmanager
def unseen() -> Iterator[None]:
    """Choices inside have the values that they are about to have on the page, and are not drawn."""
    token = _is_unseen.set(True)
    try:
        yield
    finally:
        _is_unseen.reset(token)


def ahead(key: str, default: str) -> str:
    """A choice, as text, before the page draws it; `default` for one that the reader has not made."""
    address = current()
    if key not in address.restored or key not in st.session_state:
        return address.parameters.get(key, default)
    value = st.session_state[key]
    is_default = key not in address.explicit and value == address.defaults.get(key)
    return default if is_default or value is None else _text(value)
