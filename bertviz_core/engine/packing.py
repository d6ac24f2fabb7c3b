"""Arrays and JSON values as bytes and back, without pickle: safetensors, with everything but arrays in its header."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
import safetensors.numpy

DTYPES = {"U8": "u1", "U16": "<u2", "U32": "<u4", "I32": "<i4", "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8"}


def pack(values: Mapping[str, Any], **metadata: str) -> bytes:
    """Values by name: numpy arrays, tensors, bytes and JSON values. `metadata` is stored beside them, sorted by name:
    safetensors writes it in an order that differs from run to run."""
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
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data[end:]


def metadata_of(data: bytes) -> dict[str, str]:
    """What was given as `metadata`, and "json"; raises ValueError or KeyError for other bytes."""
    try:
        fields: dict[str, str] = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    except RecursionError as error:
        raise ValueError(f"damaged ({error})") from error
    return fields


def unpack(data: bytes) -> dict[str, Any]:
    """The values; raises ValueError or KeyError for bytes that `pack` did not write."""
    try:
        arrays = safetensors.numpy.load(data)
        other = json.loads(metadata_of(data)["json"])
    except (safetensors.SafetensorError, RecursionError) as error:
        raise ValueError(f"damaged ({error})") from error
    for name in [name for name in arrays if name.startswith("bytes/")]:
        other[name.removeprefix("bytes/")] = arrays.pop(name).tobytes()
    return arrays | other


def unpack_rows(stream: BinaryIO, rows: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """As `unpack`, from a stream, of arrays in `rows` only the row at that index of their first axes."""
    start = stream.read(8)
    header = json.loads(stream.read(int.from_bytes(start, "little")))
    begin = stream.tell()
    values = json.loads(header.pop("__metadata__")["json"])
    for name, entry in header.items():
        shape = entry["shape"]
        index = rows.get(name, ())
        kind = np.dtype(DTYPES[entry["dtype"]])
        inner = shape[len(index) :]
        count = math.prod(inner)
        row = int(np.ravel_multi_index(tuple(index), shape[: len(index)])) if index else 0
        stream.seek(begin + entry["data_offsets"][0] + row * count * kind.itemsize)
        values[name] = np.frombuffer(stream.read(count * kind.itemsize), kind).reshape(inner)
    return values
