"""Choices as the parameters of an address, by the types of their fields. Nothing here knows Streamlit.

>>> from bertviz_core.analyses.entropy.analysis import EntropyView
>>> query(EntropyView(share=0.3))
{'share': '0.3'}
>>> parse(EntropyView, {"share": "0.3"})
(EntropyView(quantity=None, head=None, share=0.3), {})
>>> parse(EntropyView, {"share": "7"})
(EntropyView(quantity=None, head=None, share=0.5), {'share': '7'})
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

from bertviz_core.choices import (
    Between,
    Choices,
    default,
    former_names,
    former_switches,
    hints,
    longest_of,
    metadata,
    required,
)
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head
from bertviz_core.numbers import small_int

C = TypeVar("C", bound=Choices)
Read = Callable[[str], Any]  # the value of a text; raises ValueError for a text that has none


def parse(kind: type[C], parameters: Mapping[str, str], base: C | None = None) -> tuple[C, dict[str, str]]:
    """The choices that an address makes, and the parameters whose texts are none, which keep their defaults.

    Args:
        kind: Of which part of the app.
        parameters: Of the address; those of other parts are left aside.
        base: Has the values of what the address does not name, by default every field's default.
    """
    values = {}
    problems = {}
    parameters = current_names(kind, parameters)
    for name in hints(kind):
        parameter = kind.parameter(name)
        if parameter in parameters:
            try:
                values[name] = _reader(hints(kind)[name])(parameters[parameter])
            except (ValueError, SettingsError):
                problems[parameter] = parameters[parameter]
                values[name] = default(kind, name)
    return replace(base or kind(), **values), problems


def current_names(kind: type[Choices], parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters of an address under the names of today; a link of an earlier version may have others."""
    today = {former: kind.parameter(name) for name in hints(kind) for former in former_names(kind, name)}
    renamed = {today[name]: text for name, text in parameters.items() if name in today}
    for name in hints(kind):
        on = [option for option in former_switches(kind, name) if parameters.get(option) == "true"]
        renamed |= {kind.parameter(name): option for option in on[-1:]}
    return renamed | {name: text for name, text in parameters.items() if name not in today}


def with_long_texts(read: C, before: C) -> C:
    """Choices read from an address, with the texts of `before` of which the address has only the beginning."""
    values = {}
    for name in hints(type(read)):
        text = getattr(before, name)
        if isinstance(text, str) and text != getattr(read, name) == _text(text, longest_of(type(read), name)):
            values[name] = text
    return replace(read, **values)


def query(choices: Choices) -> dict[str, str]:
    """The parameters of what is not at its default, by name."""
    return dict(_query(choices))


@lru_cache(256)  # every link of a page asks for the header's
def _query(choices: Choices) -> dict[str, str]:
    kind = type(choices)
    unlike_default = {name: value for name, value in vars(choices).items() if value != default(kind, name)}
    texts = {kind.parameter(name): _text(value, longest_of(kind, name)) for name, value in unlike_default.items()}
    return dict(sorted(texts.items()))


@cache
def _reader(hint: Any) -> Read:
    base = required(hint)
    for each in metadata(hint):
        if isinstance(each, Between):
            return partial(_number, base, each)
    if get_origin(base) is Literal:
        return partial(_one_of, get_args(base))
    if get_origin(base) is tuple:
        return partial(_several, _reader(get_args(base)[0]))
    return {bool: _boolean, Head: Head.parse, Path: Path}.get(base, str)


def _several(read: Read, text: str) -> tuple[Any, ...]:
    return tuple(read(part) for part in text.split(",") if part)


def _number(convert: type, limits: Between, text: str) -> float:
    value = small_int(text) if convert is int else float(text)
    if value is None or not limits.low <= value <= limits.high:
        raise ValueError(text)
    return value


def _one_of(options: tuple[str, ...], text: str) -> str:
    if text not in options:
        raise ValueError(text)
    return text


def _boolean(text: str) -> bool:
    return _one_of(("false", "true"), text) == "true"


def _text(value: Any, longest: int | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, Head):
        return value.key()
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value)[:longest]
