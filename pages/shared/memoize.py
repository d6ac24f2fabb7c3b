"""Values that follow from stored results alone, computed once for all sessions: no caller may change them."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from weakref import ref

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.result import Result
from bertviz_core.heads import first_number
from bertviz_core.viewer.input_attention import InputAttention

P = ParamSpec("P")
T = TypeVar("T")
MAX_VALUES = 1000  # some ten of a page: a map of 12 x 12 heads has 0.03 MB, of 80 x 64 heads 1.1 MB
BY_IDENTITY = Result, InputAttention, pd.DataFrame
_values: OrderedDict[Hashable, Any] = OrderedDict()  # the last used last
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
                return _values[key]
        value = work(*arguments, **options)
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        with _lock:
            first: T = _values.setdefault(key, value)  # Another thread may have been faster.
            if len(_values) > MAX_VALUES:
                _values.popitem(last=False)
        return first

    return remembered


@memoized
def built(build: Callable[..., Any], *arguments: Any) -> Any:
    """What build(*arguments) returns, once for all sessions."""
    return build(*arguments)


def _identity(argument: object) -> Hashable:
    """The part of a key that stands for an argument."""
    if argument is None or isinstance(argument, str | int | float):
        return argument
    if isinstance(argument, BY_IDENTITY):
        return _Identity(argument)
    if isinstance(argument, Mapping):
        return tuple((name, _identity(value)) for name, value in argument.items())
    if isinstance(argument, tuple):
        return tuple(map(_identity, argument))
    if isinstance(argument, np.ndarray):
        return argument.shape, argument.dtype.str, argument.tobytes()
    return argument
