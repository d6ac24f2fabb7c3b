"""Packed bytes are read as they were written, or not at all."""

import json

import numpy as np
import pytest

from bertviz_core.engine.packing import frame_header, pack, unpack

VALUES = {"share": np.array([[0.25, 0.75]]), "count": np.arange(3), "name": "a model", "bytes": b"some"}


def same(values: dict[str, object]) -> bool:
    return values.keys() == VALUES.keys() and all(np.array_equal(values[name], VALUES[name]) for name in VALUES)


def test_no_byte_that_a_disk_has_changed_becomes_another_number():
    data = pack(VALUES, analysis="any")
    assert same(unpack(data))
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1
        try:
            assert same(unpack(bytes(changed))), place
        except (ValueError, KeyError):
            continue


def test_a_file_whose_end_was_never_written_is_damaged():
    data = pack(VALUES)
    with pytest.raises(ValueError, match="damaged"):
        unpack(data[:-24] + bytes(24))


def test_what_an_earlier_version_packed_has_no_sum_and_is_read():
    data = pack(VALUES)
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    del header["__metadata__"]["crc32"]
    assert same(unpack(frame_header(json.dumps(header).encode()) + data[8 + size :]))
