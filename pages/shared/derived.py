"""Values derived from a stored result alone, computed once for all sessions: no caller may change them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar
from weakref import ref

import numpy as np

from bertviz_core.analyses.results import Result

T = TypeVar("T")
MAX_ENTRIES = 512  # values; a figure is some 20 kB


class _Call:
    """A function with its arguments, which it needs until the work is done; what is cached keeps no result alive."""

    __slots__ = ("arguments", "identity", "work")

    def __init__(self, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.work, self.arguments = work, arguments
        self.identity = (work, *map(_identity, arguments))

    def __hash__(self) -> int:
        return hash(self.identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Call) and self.identity == other.identity


class _Identity:
    """Equal to that of the same result as long as the result is alive, and to no other."""

    __slots__ = ("number", "result")

    def __init__(self, result: Result) -> None:
        self.number, self.result = id(result), ref(result)

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and (mine := self.result()) is not None and mine is other.result()


def derived(work: Callable[..., T], *arguments: Any) -> T:
    """work(*arguments), of the last such calls by any session.

    Args:
        work: A function of a module, without effects; one that is made again in each run is never found again.
        arguments: Results (by identity), arrays (by their numbers), hashable values, and mappings and tuples of these.
    """
    value: T = _last(_Call(work, arguments))
    return value


@lru_cache(maxsize=MAX_ENTRIES)
def _last(call: _Call) -> Any:
    value = call.work(*call.arguments)
    call.arguments = ()
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    return value


def _identity(argument: Any) -> Any:
    if isinstance(argument, Result):
        return _Identity(argument)
    if isinstance(argument, Mapping):
        return tuple((name, _identity(value)) for name, value in argument.items())
    if isinstance(argument, tuple):
        return tuple(map(_identity, argument))
    if isinstance(argument, np.ndarray):
        return argument.shape, argument.dtype.str, argument.tobytes()
    return argument
