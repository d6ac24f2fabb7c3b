"""Choices of a page, drawn in place of Streamlit's own widgets.

They take their values from the address on arrival; afterwards the address follows them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator_singletons import get_last_dg_added_to_context_stack

from bertviz_core.numbers import small_int
from bertviz_core.plotting.writing import isolated
from pages.shared.frame.address import current

PROJECTOR = "projector"  # key of the switch
TYPE = 1.44  # how much larger a projector's type is: 23 px for 16
ROOM = 1.25  # how much wider its widgets are: all of a page's stay in their line
T = TypeVar("T")
Read = Callable[[str], Any]


def selectbox(
    label: str, options: Sequence[T], *, key: str, default: T, follows: bool = False, unavailable: str = "", **more: Any
) -> T:
    """A selectbox; `follows` and `unavailable` as in `_restore`."""
    read, custom = _one_of(options), more.get("accept_new_options", False)
    _restore(label, key, default, str if custom else read, None if custom else options, follows, unavailable)
    if follows:
        more["on_change"] = _explicit(key, more.get("on_change"))
    return _drawn(key, default, st.selectbox(label, options, key=key, **_sized(more)), follows)


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


def number(
    label: str, low: int, high: int = 10**9, default: int | None = 0, *, key: str, follows: bool = False, **more: Any
) -> Any:
    """A whole number; None where the default is None and nothing is entered. `follows` as in `_restore`."""
    _restore(label, key, default, functools.partial(_whole, low=low, high=high), range(low, high + 1), follows)
    if follows:
        more["on_change"] = _explicit(key, more.get("on_change"))
    empty = {"value": None} if default is None else {}
    draw: Any = st.number_input
    return _drawn(key, default, draw(label, low, high, key=key, **empty, **_sized(more)), follows)


def page_of(total: int, size: int, *, key: str) -> int:
    """The page, from 1, of `total` things of which a page shows `size`; not drawn where one page has them all."""
    pages = max(1, -(-total // size))
    chosen: int = number(f"Page of {pages:,}", 1, pages, 1, key=key, width=140) if pages > 1 else 1
    return chosen


def toggle(label: str, *, key: str, **more: Any) -> bool:
    """A switch that is off by default."""
    _restore(label, key, False, _one_of((True, False)))
    return _drawn(key, False, st.toggle(label, key=key, **more))


def checkbox(label: str, *, key: str, **more: Any) -> bool:
    """A checkbox that is off by default."""
    _restore(label, key, False, _one_of((True, False)))
    return _drawn(key, False, st.checkbox(label, key=key, **more))


def text(
    draw: Callable[..., str | None], label: str, *, key: str, default: str, maximum: int | None = None, **more: Any
) -> str:
    """A text, drawn by st.text_input or st.text_area; at `maximum` so many characters of it go to the address."""
    _restore(label, key, default, str)
    return _drawn(key, default, draw(label, key=key, **_sized(more)) or "", maximum=maximum)


def multiselect(label: str, options: Sequence[str], *, key: str, default: Sequence[str], **more: Any) -> list[str]:
    """Several options, separated by commas in the address."""
    read = _one_of(options)
    if key in st.session_state:
        st.session_state[key] = [option for option in st.session_state[key] if option in options]
    _restore(label, key, list(default), lambda value: [read(part) for part in value.split(",") if part])
    return _drawn(key, list(default), st.multiselect(label, options, key=key, **more))


def _restore(
    label: str, key: str, default: Any, read: Read, valid: Any = None, follows: bool = False, unavailable: str = ""
) -> None:
    """Give a choice its value before it is drawn.

    Args:
        label: Label of the widget.
        key: Key of the widget and of the parameter.
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
        is_invalid = valid is not None and value is not None and value not in valid
        is_unchosen = follows and key not in address.explicit and value == address.defaults.get(key, default)
        if is_invalid or is_unchosen:
            address.explicit.discard(key)
            st.session_state[key] = default
        elif _in_popover():
            st.session_state[key] = value  # sent again with every run
    address.defaults[key] = default


def _in_popover() -> bool:
    """Whether what is drawn now stands in a popover. A browser makes its widgets when it is first opened, and would
    reset those whose values it was sent with an earlier run."""
    container = get_last_dg_added_to_context_stack()
    return container is not None and "popover" in container._ancestor_block_types


def _arrived(label: str, key: str, default: Any, read: Read, unavailable: str) -> Any:
    address = current()
    if key not in address.parameters:
        return default
    parameter = address.parameters[key]
    try:
        return read(parameter)
    except ValueError:
        name = isolated(f"“{parameter[:40]}”")
        address.problems[key] = (unavailable.format(name) or f"{label}: {name} is not available here", default)
        address.explicit.discard(key)
        return default


def _drawn(key: str, default: Any, value: T, follows: bool = False, maximum: int | None = None) -> T:
    """Note a choice for the address."""
    address = current()
    is_default = value == default and not (follows and key in address.explicit)
    address.drawn[key] = None if is_default or value is None else _text(value)[:maximum]
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

    def read(parameter: str) -> Any:
        if parameter not in known:
            raise ValueError(parameter)
        return known[parameter]

    return read


def _number(parameter: str, low: float, high: float) -> float:
    value = float(parameter)
    if not (math.isfinite(value) and low <= value <= high):
        raise ValueError(parameter)
    return value


def _whole(parameter: str, low: int, high: int) -> int:
    value = small_int(parameter)
    if value is None or not low <= value <= high:
        raise ValueError(parameter)
    return value


def projecting() -> bool:
    """Whether the page is shown to a room: larger type, stronger lines, no sidebar."""
    return ahead(PROJECTOR, "false") == "true"


def wide(pixels: int, share: float = TYPE) -> int:
    """So many pixels, or a share of them where the page is shown to a room."""
    return round(share * pixels) if projecting() else pixels


def _sized(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a widget whose width is in pixels."""
    return options | {"width": wide(options["width"], ROOM)} if isinstance(options.get("width"), int) else options


def ahead(key: str, default: str) -> str:
    """A choice of the page before it is drawn, as text; its default for one that the reader has not made."""
    address = current()
    if key not in address.restored or key not in st.session_state:
        return address.parameters.get(key, default)
    value = st.session_state[key]
    is_default = key not in address.explicit and value == address.defaults.get(key)
    return default if is_default or value is None else _text(value)
