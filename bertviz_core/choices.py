"""What can be chosen: frozen dataclasses whose fields say which values they take.

The type of a field says what an address, a command and the library take for it: a `Literal` its options, `Annotated`
the range of a number, the number of characters of a text in an address, the label of its widget, and what it does.
"""

from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from typing_extensions import Doc

from bertviz_core.errors import SettingsError


class Between(NamedTuple):
    """The range of a number.

    Attributes:
        low, high: Its ends, both of which are allowed.
        step: From one place of its slider to the next; None for one that is entered as a text.
    """

    low: float
    high: float
    step: float | None = None


class Longest(NamedTuple):
    """How much of a text an address holds.

    Attributes:
        characters: The number of characters; a longer text is cut there.
    """

    characters: int


class Label(NamedTuple):
    """What stands at the widget of a field."""

    text: str


class Formerly(NamedTuple):
    """A name that the field had in addresses, which are still read."""

    parameter: str


class FormerSwitch(NamedTuple):
    """A switch that addresses had in place of one of the field's options, which are still read.

    Attributes:
        option: The option, and the name of the switch.
    """

    option: str


MOST = 10**9 - 1  # the largest whole number of an address
Positive = Annotated[int, Between(1, MOST)]
Count = Annotated[int, Between(0, MOST)]
Share = Annotated[float, Between(0.0, 1.0)]
# Of the values that a field takes, by the field's.
TYPES: dict[Any, tuple[type, ...]] = {bool: (bool,), int: (int,), float: (int, float), str: (str,)}
_hints: dict[type, dict[str, Any]] = {}  # of each kind of choices


@dataclass(frozen=True)
class Choices:
    """What a reader can choose of one thing."""

    @classmethod
    def parameter(cls, field: str) -> str:
        """The name of a field in the address, which is also the key of its widget."""
        return field

    def check(self) -> None:
        """Raise SettingsError for a value that its field does not take."""
        for name, hint in hints(type(self)).items():
            value = getattr(self, name)
            if value is None and is_optional(hint):
                continue
            for each in value if isinstance(value, tuple) else (value,):
                _check(type(self), name, each)


def _check(kind: type[Choices], name: str, value: Any) -> None:
    if not _is_taken(kind, name, value):
        raise SettingsError(f"{name} cannot be {value!r}.", hint=_what_is_taken(kind, name))


def _is_taken(kind: type[Choices], name: str, value: Any) -> bool:
    """Whether a field takes a value; True and 1.5 are no whole numbers."""
    if options := options_of(kind, name):
        return value in options
    types = TYPES.get(required(hints(kind)[name]))
    if types and (not isinstance(value, types) or (isinstance(value, bool) and bool not in types)):
        return False
    limits = limits_of(kind, name)
    return limits is None or limits.low <= value <= limits.high


def _what_is_taken(kind: type[Choices], name: str) -> str:
    """What a field takes, in a sentence."""
    base = required(hints(kind)[name])
    if options := options_of(kind, name):
        return f"Choose one of {', '.join(map(str, options))}."
    if (limits := limits_of(kind, name)) is None:
        return "Choose True or False." if base is bool else "Give a text." if base is str else "Give a number."
    whole = "whole number" if base is int else "number"
    if limits.high == MOST:
        return f"Choose a {whole} of {limits.low:g} or more."
    return f"Choose a {whole} from {limits.low:g} to {limits.high:g}."


def hints(kind: type[Choices]) -> dict[str, Any]:
    """The type of each field, by name and in order."""
    if kind not in _hints:
        types = get_type_hints(kind, include_extras=True)
        _hints[kind] = {field.name: types[field.name] for field in fields(kind)}
    return _hints[kind]


def default(kind: type[Choices], name: str) -> Any:
    """The default of a field."""
    return kind.__dataclass_fields__[name].default


def required(hint: Any) -> Any:
    """A type without None and without annotations."""
    if get_origin(hint) is Annotated:
        return required(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return required(next(part for part in get_args(hint) if part is not NoneType))
    return hint


def is_optional(hint: Any) -> bool:
    """Whether a field of this type may be None."""
    if get_origin(hint) is Annotated:
        return is_optional(get_args(hint)[0])
    return get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)


def metadata(hint: Any) -> tuple[Any, ...]:
    """The annotations of a type, also of one that may be None."""
    if get_origin(hint) in (Union, UnionType):
        return metadata(next(part for part in get_args(hint) if part is not NoneType))
    if get_origin(hint) is Annotated:
        return (*hint.__metadata__, *metadata(get_args(hint)[0]))
    return ()


def options_of(kind: type[Choices], name: str) -> tuple[Any, ...]:
    """The options of a field; empty where any value of its type will do."""
    base = required(hints(kind)[name])
    if get_origin(base) is tuple:
        base = get_args(base)[0]
    return get_args(base) if get_origin(base) is Literal else ()


def limits_of(kind: type[Choices], name: str) -> Between | None:
    """The range of a number; None for what has none."""
    return next((each for each in metadata(hints(kind)[name]) if isinstance(each, Between)), None)


def longest_of(kind: type[Choices], name: str) -> int | None:
    """The most characters of a text that an address holds; None for what has no limit."""
    return next((each.characters for each in metadata(hints(kind)[name]) if isinstance(each, Longest)), None)


def label_of(kind: type[Choices], name: str) -> str:
    """The label of a field's widget: its own, or its name in words."""
    labels = (each.text for each in metadata(hints(kind)[name]) if isinstance(each, Label))
    return next(labels, name.replace("_", " ").capitalize())


def doc_of(kind: type[Choices], name: str) -> str:
    """What a field does, in a sentence; empty where that is not said."""
    docs = (each.documentation for each in metadata(hints(kind)[name]) if isinstance(each, Doc))
    return next(docs, "")


def former_switches(kind: type[Choices], name: str) -> tuple[str, ...]:
    """The options of a field that were switches in addresses."""
    return tuple(each.option for each in metadata(hints(kind)[name]) if isinstance(each, FormerSwitch))


def former_names(kind: type[Choices], name: str) -> tuple[str, ...]:
    """The names that a field had in addresses."""
    return tuple(each.parameter for each in metadata(hints(kind)[name]) if isinstance(each, Formerly))
