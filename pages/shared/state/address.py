"""Choices as the parameters of an address, by the types of their fields. Nothing here knows Streamlit.

>>> from pages.shared.state.analysis_choices import EntropyChoices
>>> query(EntropyChoices(share=0.3))
{'share': '0.3'}
>>> parse(EntropyChoices, {"share": "0.3"})
(EntropyChoices(tour=None, quantity=None, share=0.3), {})
>>> parse(EntropyChoices, {"share": "7"})
(EntropyChoices(tour=None, quantity=None, share=0.5), {'share': '7'})
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import cache, lru_cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head
from bertviz_core.numbers import small_int
from pages.shared.state.address_types import Between, Choices, Longest

C = TypeVar("C", bound=Choices)
_hints: dict[type, dict[str, Any]] = {}  # of each kind of choices
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
    for name in hints(kind):
        parameter = kind.parameter(name)
        if parameter in parameters:
            try:
                values[name] = _reader(hints(kind)[name])(parameters[parameter])
            except (ValueError, SettingsError):
                problems[parameter] = parameters[parameter]
                values[name] = default(kind, name)
    return replace(base or kind(), **values), problems


def with_long_texts(read: C, before: C) -> C:
    """Choices read from an address, with the texts of `before` of which the address has only the beginning."""
    values = {}
    for name, hint in hints(type(read)).items():
        text = getattr(before, name)
        if isinstance(text, str) and text != getattr(read, name) == _text(text, hint):
            values[name] = text
    return replace(read, **values)


def query(choices: Choices) -> dict[str, str]:
    """The parameters of what is not at its default, by name."""
    return dict(_query(choices))


@lru_cache(256)  # every link of a page asks for the header's
def _query(choices: Choices) -> dict[str, str]:
    kind = type(choices)
    unlike_default = {name: value for name, value in vars(choices).items() if value != default(kind, name)}
    texts = {kind.parameter(name): _text(value, hints(kind)[name]) for name, value in unlike_default.items()}
    return dict(sorted(texts.items()))


def hints(kind: type[Choices]) -> dict[str, Any]:
    """The type of each field."""
    if kind not in _hints:
        types = get_type_hints(kind, include_extras=True)
        _hints[kind] = {field.name: types[field.name] for field in fields(kind)}
    return _hints[kind]


def default(kind: type[Choices], name: str) -> Any:
    """The default of a field."""
    return kind.__dataclass_fields__[name].default


def limits(kind: type[Choices], name: str) -> Between:
    """The range of a number."""
    return next(each for each in _metadata(hints(kind)[name]) if isinstance(each, Between))


def _required(hint: Any) -> Any:
    """A type without None."""
    if get_origin(hint) in (Union, UnionType):
        return next(part for part in get_args(hint) if part is not NoneType)
    return hint


def _metadata(hint: Any) -> tuple[Any, ...]:
    required = _required(hint)
    return required.__metadata__ if get_origin(required) is Annotated else ()


@cache
def _reader(hint: Any) -> Read:
    required = _required(hint)
    for each in _metadata(hint):
        if isinstance(each, Between):
            return partial(_number, required.__origin__, each)
    if get_origin(required) is Literal:
        return partial(_one_of, get_args(required))
    if get_origin(required) is tuple:
        return lambda text: tuple(filter(None, text.split(",")))
    return {bool: _boolean, Head: Head.parse}.get(required, str)


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


def _text(value: Any, hint: Any) -> str:
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
    longest = [each.characters for each in _metadata(hint) if isinstance(each, Longest)]
    return str(value)[: min(longest, default=None)]
