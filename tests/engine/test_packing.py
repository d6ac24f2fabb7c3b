"""A row of a packed array is read alone, and everything else whole."""

import io

import numpy as np
import pytest

from bertviz_core.engine.packing import pack, unpack, unpack_rows

VALUES = {
    "cube": np.arange(2 * 3 * 5, dtype=np.uint8).reshape(2, 3, 5),
    "line": np.array([3, 1, 2**40], dtype=np.int64),
    "wide": np.arange(4, dtype=np.uint16),
    "none": np.zeros((2, 0), dtype=np.uint8),
    "names": ["a", "ä"],
    "end": 7,
}


@pytest.mark.parametrize("index", [(), (1,), (1, 2), (0, 0)])
def test_rows_equal_the_rows_of_the_whole(index: tuple[int, ...]) -> None:
    data = pack(VALUES)
    whole, part = unpack(data), unpack_rows(io.BytesIO(data), {"cube": index, "none": index[:1]})
    assert part.keys() == whole.keys()
    np.testing.assert_array_equal(part["cube"], whole["cube"][index])
    np.testing.assert_array_equal(part["none"], whole["none"][index[:1]])
    for name in ("line", "wide"):
        np.testing.assert_array_equal(part[name], whole[name])
    assert (part["names"], part["end"]) == (["a", "ä"], 7)


def test_what_was_not_packed_is_refused() -> None:
    for data in (b"", b"\x02\0\0\0\0\0\0\0{}", b"nonsense"):
        with pytest.raises((ValueError, KeyError)):
            unpack_rows(io.BytesIO(data), {})
