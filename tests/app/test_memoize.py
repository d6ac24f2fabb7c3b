"""What is remembered is found by the result itself and the values of the rest, and nothing else."""

from pathlib import Path

import numpy as np
import pytest

from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import find
from bertviz_core.corpora.files import sample
from bertviz_core.engine.store import Store
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import find as find_model
from pages.shared.memoize import memoize

CALLS: list[tuple] = []


def work(*arguments):
    CALLS.append(arguments)
    return len(CALLS)


@pytest.fixture
def results(tmp_path: Path):
    """Two results with the same numbers."""
    request = Request("entropy", find_model("demo"), sample("encyclopedia"))
    return find(Store(tmp_path), request), find(Store(tmp_path), request)


def test_the_same_result_is_found_again_and_an_equal_one_is_not_it(results) -> None:
    first, second = results
    assert memoize(work, first, 1) == memoize(work, first, 1)
    assert memoize(work, first, 1) != memoize(work, second, 1)
    assert memoize(work, {"entropy": first}) == memoize(work, {"entropy": first})
    assert memoize(work, {"entropy": first}) != memoize(work, {"entropy": second})


def test_other_arguments_count_by_their_values(results) -> None:
    first, _ = results
    array = np.arange(6.0)
    same = memoize(work, first, Head(0, 1), (array, "x"))
    assert memoize(work, first, Head(0, 1), (array.copy(), "x")) == same
    different = [
        memoize(work, first, Head(0, 2), (array, "x")),
        memoize(work, first, Head(0, 1), (array + 1, "x")),
        memoize(work, first, Head(0, 1), (array.reshape(2, 3), "x")),
        memoize(work, first, Head(0, 1), (array, "y")),
    ]
    assert same not in different
    assert len(set(different)) == 4


def test_arrays_that_all_sessions_share_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        memoize(np.zeros, (2, 3))[0] = 1
