"""Values derived from a stored result alone, computed once for all sessions: no caller may change them."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar
from weakref import ref

import numpy as np

from bertviz_core.analyses.results import Result

T = TypeVar("T")
MAX_RESULTS = 64  # values that are results themselves, with all their arrays
MAX_OTHERS = 512  # other values; a figure is some 20 kB
_results: OrderedDict[Hashable, Any] = OrderedDict()
_others: OrderedDict[Hashable, Any] = OrderedDict()
_lock = threading.Lock()


class _Identity:
    """Equal only to the identity of the same result, as long as the result is alive."""

    __slots__ = ("number", "result")

    def __init__(self, result: Result) -> None:
        self.number, self.result = id(result), ref(result)

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and (mine := self.result()) is not None and mine is other.result()


def memoize(work: Callable[..., T], *arguments: Any) -> T:
    """Return work(*arguments), cached for all sessions.

    Args:
        work: A function of a module, without effects; one that is created anew in each run is never in the cache.
        arguments: Results (by identity), arrays (by their numbers), hashable values, and mappings and tuples of these.
    """
    key = (work, *map(_identity, arguments))
    with _lock:
        for values in (_results, _others):
            if key in values:
                values.move_to_end(key)
                stored: T = values[key]
                return stored
    value = work(*arguments)
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    values, limit = (_results, MAX_RESULTS) if isinstance(value, Result) else (_others, MAX_OTHERS)
    with _lock:
        value = values.setdefault(key, value)  # another thread may have computed it meanwhile
        while len(values) > limit:
            values.popitem(last=False)
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
