"""Arrays and JSON values as bytes and back, without pickle: safetensors, with everything but arrays in its header."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import safetensors.numpy


def pack(values: Mapping[str, Any], **metadata: str) -> bytes:
    """Values by name: numpy arrays, tensors, bytes and JSON values. `metadata` is stored beside them."""
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
    return _ordered(safetensors.numpy.save(arrays, metadata | {"json": json.dumps(other)}))


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
        arrays, other = safetensors.numpy.load(data), json.loads(metadata_of(data)["json"])
    except (safetensors.SafetensorError, RecursionError) as error:
        raise ValueError(f"damaged ({error})") from error
    named = {
        name.removeprefix("bytes/"): array.tobytes() if name.startswith("bytes/") else array
        for name, array in arrays.items()
    }
    return named | other


def _ordered(data: bytes) -> bytes:
    """The same with its metadata by name: safetensors writes them in an order that differs from run to run."""
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data[end:]
