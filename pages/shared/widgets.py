"""Widgets that show a field of the reader's choices, and replace it on a change.

Each takes the name of a field and the value that is shown: the field's own, or what `resolve` has made of it. A field
whose value is not the one shown cannot be shown here, and is set back; None shows nothing, and leaves the field. The
value is never in the widget: one that is not drawn, in a closed popover or on another page, keeps it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeVar, get_args, get_origin

import streamlit as st

from bertviz_core.choices import (
    Between,
    Choices,
    default,
    doc_of,
    hints,
    label_of,
    limits_of,
    longest_of,
    options_of,
    required,
)
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head, all_keys
from pages.shared.state import session

T = TypeVar("T")
FEW = 3  # options that a row has
WIDE, NARROW = 280, 170  # pixels of a slider, and of a number that is entered
STEP = 0.05  # of a number that is entered


def select(label: str, options: Sequence[T], field: str, value: T, **more: Any) -> T:
    """A box of options. `more` are Streamlit's own arguments, here and below."""
    return _draw(st.selectbox, label, options, field=field, value=value, **more)


def head(label: str, shape: tuple[int, int], field: str, value: Head, **more: Any) -> Head:
    """A box of all heads of a model with these (layers, heads)."""
    return _draw(st.selectbox, label, all_keys(*shape), field=field, value=value, **more)


def segmented(label: str, options: Sequence[T], field: str, value: T, **more: Any) -> T:
    """A row of options."""
    return _draw(st.segmented_control, label, options, field=field, value=value, required=True, **more)


def pills(label: str, options: Sequence[T], field: str, value: T, **more: Any) -> T:
    """Options of different lengths, in as many rows as they need."""
    return _draw(st.pills, label, options, field=field, value=value, required=True, wrap=True, **more)


def select_slider(label: str, options: Sequence[T], field: str, value: T, **more: Any) -> T:
    """A slider with an option at each of its places."""
    return _draw(st.select_slider, label, options, field=field, value=value, **more)


def slider(label: str, field: str, value: float, step: float, **more: Any) -> float:
    """A number in the range of its field."""
    limits = _limits(field)
    return _draw(st.slider, label, limits.low, limits.high, field=field, value=value, step=step, **more)


def decimal(label: str, field: str, value: float, step: float, **more: Any) -> float:
    """A number in the range of its field, entered as a text."""
    limits = _limits(field)
    return _draw(st.number_input, label, limits.low, limits.high, field=field, value=value, step=step, **more)


def number(label: str, field: str, value: int, high: int | None = None, **more: Any) -> int:
    """A whole number in the range of its field, up to `high` where that depends on results."""
    limits = _limits(field)
    high = int(limits.high) if high is None else high
    return _draw(st.number_input, label, int(limits.low), high, field=field, value=value, **more)


def optional_number(label: str, field: str, value: int | None, **more: Any) -> int | None:
    """A whole number in the range of its field; None if nothing is entered."""
    limits = _limits(field)
    empty = partial(st.number_input, value=None)
    return _draw(empty, label, int(limits.low), int(limits.high), field=field, value=value, **more)


def page_of(total: int, size: int, field: str, value: int) -> int:
    """The number of the page, from 1, of `total` entries with `size` per page; not drawn if one page has them all."""
    pages = max(1, -(-total // size))
    if pages == 1:
        if value != 1:
            session.forget(field)
        return 1
    return number(f"Page of {pages:,}", field, value if value <= pages else 1, pages, width=130)


def toggle(label: str, field: str, value: bool, **more: Any) -> bool:
    """A switch."""
    return _draw(st.toggle, label, field=field, value=value, **more)


def text(label: str, field: str, value: str, **more: Any) -> str:
    """A field of text."""
    return _draw(st.text_input, label, field=field, value=value, **more)


def sentence(label: str, field: str, value: str, **more: Any) -> str:
    """A field of text that takes what is pasted at any length: a text that is longer than the address holds is cut, and
    `sentence_note` says so."""
    longest = longest_of(type(session.current().part(field)), field)
    assert longest is not None, "a text that an address holds"

    def cut() -> None:
        entered = getattr(session.current().part(field), field)
        session.choose(**{field: entered[:longest]})
        st.session_state[_length(field)] = entered[:longest], len(entered)

    return _draw(st.text_input, label, field=field, value=value, on_change=cut, **more)


def sentence_note(field: str) -> str:
    """What is not read of a text that was entered in the field of `sentence`; empty where all of it is."""
    read, length = st.session_state.get(_length(field), ("", 0))
    is_cut = read == getattr(session.current().part(field), field) and length > len(read)
    return f"The first {len(read):,} of {length:,} characters are read." if is_cut else ""


def _length(field: str) -> str:
    """The key of the text of a field that was read last, and of how long it was."""
    return f"length of {field}"


def multiselect(label: str, options: Sequence[str], field: str, value: Sequence[str], **more: Any) -> tuple[str, ...]:
    """Several of the options."""
    return tuple(_draw(st.multiselect, label, options, field=field, value=tuple(value), **more))


def fields(
    kind: type[Choices],
    without: Collection[str] = (),
    on_line: bool = False,
    offered: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> None:
    """The widgets of all fields of a part of the page's choices, but for those in `without` and for files.

    Args:
        without: Fields that are not drawn.
        on_line: Whether they stand in one line, which has no room for a label above a row of options.
        offered: Texts that are suggested, by field; a reader may enter another one.
    """
    for field in hints(kind):
        if field in offered:
            suggested(field, offered[field])
        elif field not in without and required(hints(kind)[field]) is not Path:
            choice(field, few=0 if on_line else FEW)


def suggested(field: str, options: Sequence[str]) -> str | None:
    """A box of texts in which a reader may enter another one; None where it is empty."""
    part = session.current().part(field)
    kind, value = type(part), getattr(part, field)
    own = [] if value in (None, *options) else [value]
    draw = partial(st.selectbox, index=None, accept_new_options=True, placeholder="none")
    more: dict[str, Any] = {"help": doc_of(kind, field), "width": NARROW}
    return _draw(draw, label_of(kind, field), [*options, *own], field=field, value=value, **more)


def choice(field: str, options: Sequence[str] = (), few: int = FEW, **more: Any) -> Any:
    """The widget that the type of a field asks for, with its label and what it does.

    Args:
        options: Those of a text that follow a result.
        few: The options that a row may have; more are in a box.
        more: Streamlit's own arguments.
    """
    part = session.current().part(field)
    kind, value = type(part), getattr(part, field)
    base = required(hints(kind)[field])
    label = label_of(kind, field)
    more = {"help": doc_of(kind, field) or None} | more
    options = options or options_of(kind, field)
    narrow = {"width": NARROW} if few < FEW else {}  # on a line, which a box would fill
    if base is bool:
        return toggle(label, field, value, **more)
    if get_origin(base) is tuple:
        return multiselect(label, get_args(get_args(base)[0]), field, value, **more)
    if options:
        if len(options) <= few:
            return segmented(label, options, field, value, **more)
        return select(label, options, field, value, **narrow | more)
    if limits_of(kind, field) is None:
        return text(label, field, value or "", **narrow | more)
    return _number(label, field, value, base, more)


def _number(label: str, field: str, value: Any, base: type, more: dict[str, Any]) -> Any:
    """The widget of a number in the range of its field."""
    if base is int:
        return optional_number(label, field, value, **more)
    if step := _limits(field).step:
        return slider(label, field, value, step, **{"width": WIDE} | more)
    return decimal(label, field, value, STEP, **{"width": NARROW} | more)


class Popover(Protocol):
    """A container of widgets, and whether the reader has opened it."""

    @property
    def open(self) -> bool | None: ...

    def __enter__(self) -> object: ...

    def __exit__(self, *exception: Any) -> object: ...


def popover(label: str, icon: str | None, key: str, **more: Any) -> Popover:
    """A popover that runs the page again when it is opened or closed: what is in a closed one need not be drawn."""
    return st.popover(label, icon=icon, key=key, on_change="rerun", **more)


def open_popover(key: str) -> None:
    """Open a popover, in a callback."""
    st.session_state[key] = True


def close(key: str) -> None:
    """Close a popover, in a callback."""
    st.session_state[key] = False


def entered(key: str) -> Any:
    """What a widget without a field has, as an uploader; None where it is not drawn."""
    return st.session_state.get(key)


def received(key: str, name: str) -> Any:
    """What a component, a figure or a table has sent, in its callback; None where it was drawn anew."""
    return st.session_state[key].get(name)


def _limits(field: str) -> Between:
    limits = limits_of(type(session.current().part(field)), field)
    assert limits is not None, "a number has a range"
    return limits


def _draw(
    draw: Callable[..., Any],
    label: str,
    *arguments: Any,
    field: str,
    value: T,
    on_change: Callable[[], None] | None = None,
    **more: Any,
) -> T:
    now = session.current()
    part = now.part(field)
    key = part.parameter(field)
    start = default(type(part), field)
    now.labels[key] = label
    chosen = getattr(part, field)
    if chosen != value and None not in (chosen, value):
        session.forget(field)

    now.arrived.pop(key, None)

    def changed() -> None:
        if type(session.current().part(field)) is not type(part):
            return  # The reader has just gone to another page, which has no such choice.
        entered = _entered(st.session_state[key], value)
        session.choose(**{field: start if entered is None else entered})
        if on_change is not None:
            on_change()

    sent = _sent(value)
    option = _option(sent, **more)
    # On arrival every value is sent; later also where the browser would keep the text of an option that names another.
    if key not in st.session_state or st.session_state[key] != sent or now.options.get(key) != option:
        st.session_state[key] = sent
    now.options[key] = option
    draw(label, *arguments, key=key, on_change=changed, **more)
    return value


def _option(sent: Any, format_func: Callable[[Any], str] | None = None, **_: Any) -> str:
    """The text of an option where it is not the option itself."""
    return "" if format_func is None or sent is None or isinstance(sent, list) else format_func(sent)


def _sent(value: object) -> Any:
    """A value as its widget has it."""
    if isinstance(value, Head):
        return value.key()
    return list(value) if isinstance(value, tuple) else value


def _entered(entered: Any, value: Any) -> Any:
    """What a widget has, as a value like the one before; None for what is none."""
    if isinstance(value, Head):
        with suppress(SettingsError):
            return Head.parse(entered or "")
        return None
    return tuple(entered) if isinstance(entered, list) else entered
