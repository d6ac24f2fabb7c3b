"""Values derived from a stored result alone, computed once for all sessions: no caller may change them."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar
from weakref import ref

import numpy as np
import pandas as pd

from bertviz_core.analyses.results import Result
from bertviz_core.viewer.view import InputAttention

T = TypeVar("T")
MAX_RESULTS = 64  # values that are results themselves, with all their arrays
MAX_OTHERS = 512  # other values; a figure is some 20 kB
_results: OrderedDict[Hashable, Any] = OrderedDict()
_others: OrderedDict[Hashable, Any] = OrderedDict()
_lock = threading.Lock()


class _Identity:
    """Equal only to the identity of the same object, as long as it is alive."""

    __slots__ = ("number", "object")

    def __init__(self, instance: Result | InputAttention | pd.DataFrame) -> None:
        self.number, self.object = id(instance), ref(instance)

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and (mine := self.object()) is not None and mine is other.object()


def memoize(work: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """Return work(*arguments, **options), cached for all sessions.

    Args:
        work: A function of a module, without effects; one that is created anew in each run is never in the cache.
        arguments: Results, inputs' attention and frames (by identity), arrays (by their numbers), hashable values, and
            mappings and tuples of these.
        options: The same.
    """
    key = (work, *map(_identity, arguments), _identity(options))
    with _lock:
        for values in (_results, _others):
            if key in values:
                values.move_to_end(key)
                stored: T = values[key]
                return stored
    value = work(*arguments, **options)
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    values, limit = (_results, MAX_RESULTS) if isinstance(value, Result) else (_others, MAX_OTHERS)
    with _lock:
        value = values.setdefault(key, value)  # another thread may have computed it meanwhile
        while len(values) > limit:
            values.popitem(last=False)
    return value


def _identity(argument: Any) -> Any:
    if isinstance(argument, Result | InputAttention | pd.DataFrame):
        return _Identity(argument)
    if isinstance(argument, Mapping):
        return tuple((name, _identity(value)) for name, value in argument.items())
    if isinstance(argument, tuple):
        return tuple(map(_identity, argument))
    if isinstance(argument, np.ndarray):
        return argument.shape, argument.dtype.str, argument.tobytes()
    return argument
