"""Arrays and JSON values as bytes and back, without pickle: safetensors, with everything but arrays in its header."""

import io
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
import safetensors.numpy

DTYPES = {"U8": "u1", "U16": "<u2", "U32": "<u4", "I32": "<i4", "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8"}
MAX_HEADER = 100_000_000  # bytes; safetensors allows no more
PackedValues = dict[str, Any]  # numpy arrays, tensors, bytes and JSON values by name


def read_header(stream: BinaryIO) -> bytes:
    """The safetensors header at the beginning of a stream, as JSON; empty where the stream is."""
    size = int.from_bytes(stream.read(8), "little")
    return stream.read(min(size, MAX_HEADER))


def frame_header(header: bytes) -> bytes:
    """A header as it stands in a file: its length, then the header, padded with spaces so that the data is aligned."""
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header


def pack(values: Mapping[str, Any], **metadata: str) -> bytes:
    """Values by name (numpy arrays, tensors, bytes and JSON values), and metadata, as bytes."""
    arrays, other = {}, {}
    for name, value in values.items():
        if isinstance(value, bytes):
            arrays[f"bytes/{name}"] = np.frombuffer(value, dtype=np.uint8)
        elif isinstance(value, np.ndarray):
            arrays[name] = np.ascontiguousarray(value)
        elif hasattr(value, "cpu"):
            arrays[name] = np.ascontiguousarray(value.cpu().numpy())
        else:
            other[name] = value
    data = safetensors.numpy.save(arrays, metadata | {"json": json.dumps(other)})
    stream = io.BytesIO(data)
    header = json.loads(read_header(stream))
    numbers = memoryview(data)[stream.tell() :]
    # The order of the metadata would differ otherwise.
    header["__metadata__"] = dict(sorted({**header["__metadata__"], "crc32": _checksum(header, numbers)}.items()))
    framed = frame_header(json.dumps(header, separators=(",", ":")).encode())
    return b"".join([framed, numbers])  # one copy: a chunk's guesses have tens of megabytes


def _checksum(header: Mapping[str, Any], numbers: memoryview) -> str:
    """The CRC-32 of a header without its checksum, and of the arrays after it: a disk may change what it stores."""
    metadata = {name: value for name, value in header["__metadata__"].items() if name != "crc32"}
    text = json.dumps({**header, "__metadata__": metadata}, sort_keys=True)
    return str(zlib.crc32(numbers, zlib.crc32(text.encode())))


def metadata_of(data: bytes) -> dict[str, str]:
    """The `metadata` that was packed, and "json"; raises ValueError or KeyError for other bytes."""
    try:
        return json.loads(read_header(io.BytesIO(data)))["__metadata__"]
    except RecursionError as error:
        raise ValueError(f"damaged ({error})") from error


def unpack(data: bytes) -> PackedValues:
    """The values, arrays in alphabetical order; raises ValueError or KeyError for bytes that `pack` did not write."""
    try:
        arrays = dict(sorted(safetensors.numpy.load(data).items()))  # safetensors gives another order each time.
        other = json.loads(metadata_of(data)["json"])
    except (safetensors.SafetensorError, RecursionError) as error:
        raise ValueError(f"damaged ({error})") from error
    _check(data)
    for name in [name for name in arrays if name.startswith("bytes/")]:
        other[name.removeprefix("bytes/")] = arrays.pop(name).tobytes()
    return arrays | other


def _check(data: bytes) -> None:
    """Raise ValueError where the checksum differs; what an earlier version has packed has none."""
    stream = io.BytesIO(data)
    header = json.loads(read_header(stream))
    expected = header["__metadata__"].get("crc32")
    if expected not in (None, _checksum(header, memoryview(data)[stream.tell() :])):
        raise ValueError("damaged (its checksum differs)")


def unpack_rows(stream: BinaryIO, rows: Mapping[str, Sequence[int]]) -> PackedValues:
    """As `unpack`, from a stream; of arrays in `rows` only the row at that index of their first axes."""
    header = json.loads(read_header(stream))
    begin = stream.tell()
    values = json.loads(header.pop("__metadata__")["json"])
    for name, entry in header.items():
        index = tuple(rows.get(name, ()))
        outer = entry["shape"][: len(index)]
        inner = entry["shape"][len(index) :]
        row = int(np.ravel_multi_index(index, outer)) if index else 0
        dtype = np.dtype(DTYPES[entry["dtype"]])
        size = math.prod(inner) * dtype.itemsize
        stream.seek(begin + entry["data_offsets"][0] + row * size)
        values[name] = np.frombuffer(stream.read(size), dtype).reshape(inner)
    return values
