"""Values derived from a stored result alone, computed once for all sessions: no caller may change them."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from sys import getsizeof
from typing import Any, TypeVar
from weakref import ref

import numpy as np
import pandas as pd
import pyarrow as pa

from bertviz_core.analyses.results import Result
from bertviz_core.plotting.head_map import HeadMap
from bertviz_core.viewer import InputAttention

T = TypeVar("T")
MAX_BYTES = 256_000_000  # of all values: a map of 80 x 64 heads has 1.1 MB, of 12 x 12 0.03
RESULT_BYTES = 4_000_000  # that a value counts as which is a result itself: its arrays may be another's too
ATOMS = (str, bytes, int, float, type(None))  # the most of a figure
_values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()  # each with its bytes and those of its key
_lock = threading.Lock()


class _Identity:
    """Equal only to the identity of the same object, as long as it is alive."""

    __slots__ = ("number", "object")

    def __init__(self, instance: Result | InputAttention | pd.DataFrame) -> None:
        self.number = id(instance)
        self.object = ref(instance)

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and (mine := self.object()) is not None and mine is other.object()


def memoize(work: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """Return work(*arguments, **options), cached for all sessions. `work` is a function of a module, without effects;
    arguments are results, inputs' attention and frames (by identity), arrays (by their numbers), hashable values, and
    mappings and tuples of these."""
    key = (work, *map(_identity, arguments), _identity(options))
    with _lock:
        if key in _values:
            _values.move_to_end(key)
            stored: T = _values[key][0]
            return stored
    value = work(*arguments, **options)
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    size = RESULT_BYTES if isinstance(value, Result) else bytes_of(key) + bytes_of(value)
    with _lock:
        value, _ = _values.setdefault(key, (value, size))  # another thread may have computed it meanwhile
        while sum(size for _, size in _values.values()) > MAX_BYTES:
            _values.popitem(last=False)
    return value


def bytes_of(value: Any, counted: set[int] | None = None) -> int:
    """Bytes of a value with all that it holds, each part once; `counted` are the parts that do not count again."""
    if isinstance(value, ATOMS):
        return getsizeof(value)
    counted = set() if counted is None else counted
    if id(value) in counted:
        return 0
    counted.add(id(value))
    if isinstance(value, np.ndarray | pa.Table):
        return int(value.nbytes)
    if isinstance(value, pd.DataFrame):
        return int(value.memory_usage(deep=True).sum())
    if isinstance(value, HeadMap):
        value.encoded  # what is sent with every run, encoded at first use
    parts = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
    if not isinstance(parts, list | tuple):
        parts = list(getattr(value, "__dict__", {}).values())
    return getsizeof(value) + sum(bytes_of(part, counted) for part in parts)


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
