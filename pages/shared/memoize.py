"""Values that follow from stored results alone, computed once for all sessions: no caller may change them."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from functools import wraps
from sys import getsizeof
from typing import Any, ParamSpec, TypeVar
from weakref import ref

import numpy as np
import pandas as pd
import pyarrow as pa

from bertviz_core.analyses.base.result import Result
from bertviz_core.heads import first_number
from bertviz_core.plotting.head_map import HeadMap
from bertviz_core.viewer.input_attention import InputAttention

P = ParamSpec("P")
T = TypeVar("T")
MAX_BYTES = 256_000_000  # of all values: a map of 80 x 64 heads has 1.1 MB, of 12 x 12 0.03
RESULT_BYTES = 4_000_000  # assumed for a value that is a result: its arrays may be those of another result
_values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()  # (value, bytes of key and value), the last used last
_lock = threading.Lock()


class _Identity(ref[object]):
    """A weak reference, equal only to those to the same object while that is alive."""

    def __init__(self, instance: object) -> None:
        self.number = id(instance)

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and (mine := self()) is not None and mine is other()


def memoized(work: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function of a module, without side effects, whose values are cached for all sessions.

    Arguments are compared by identity (results, inputs' attention, frames) or by value (arrays, hashable values, and
    mappings and tuples of any of these); a value may have labels of heads, so that readers who count from 0 and from 1
    share none. A page's own function cannot be decorated: each run of the page defines it anew.
    """

    assert work.__module__ != "__main__", f"each run of a page would define {work.__name__} anew"

    @wraps(work)
    def remembered(*arguments: P.args, **options: P.kwargs) -> T:
        key = (work, first_number(), *map(_identity, arguments), _identity(options))
        with _lock:
            if key in _values:
                _values.move_to_end(key)
                return _values[key][0]
        value = work(*arguments, **options)
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        return _first_of(key, value)

    return remembered


@memoized
def built(build: Callable[..., Any], *arguments: Any) -> Any:
    """What build(*arguments) returns, once for all sessions."""
    return build(*arguments)


def _first_of(key: Hashable, value: T) -> T:
    """The value of a key, or an equal one: another thread may have been faster."""
    size = RESULT_BYTES if isinstance(value, Result) else bytes_of(key) + bytes_of(value)
    with _lock:
        first: T = _values.setdefault(key, (value, size))[0]
        while sum(size for _, size in _values.values()) > MAX_BYTES:
            _values.popitem(last=False)
    return first


def bytes_of(value: object, counted: set[int] | None = None) -> int:
    """Bytes of a value and all its parts, each counted once; `counted` are the identities of those counted already."""
    if isinstance(value, str | bytes | int | float | None):  # Most values in a figure are of these types.
        return getsizeof(value)
    counted = set() if counted is None else counted
    if id(value) in counted:
        return 0
    counted.add(id(value))
    if isinstance(value, Result):  # It is kept elsewhere, too.
        return getsizeof(value)
    if isinstance(value, np.ndarray | pa.Table):
        return int(value.nbytes)
    if isinstance(value, pd.DataFrame):
        return int(value.memory_usage(deep=True).sum())
    if isinstance(value, HeadMap):
        # Cached at its first use, yet to come.
        value.encoded
    parts = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
    if not isinstance(parts, list | tuple):
        parts = list(getattr(value, "__dict__", {}).values())
    return getsizeof(value) + sum(bytes_of(part, counted) for part in parts)


def _identity(argument: object) -> Hashable:
    """The part of a key that stands for an argument."""
    if isinstance(argument, Result | InputAttention | pd.DataFrame):
        return _Identity(argument)
    if isinstance(argument, Mapping):
        return tuple((name, _identity(value)) for name, value in argument.items())
    if isinstance(argument, tuple):
        return tuple(map(_identity, argument))
    if isinstance(argument, np.ndarray):
        return argument.shape, argument.dtype.str, argument.tobytes()
    return argument
