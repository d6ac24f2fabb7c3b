"""Attention maps to a file, example by example (the release's extract_attention), as safetensors, never pickled.

The file's header needs only the lengths, so maps go straight from the model to their place in the file: nothing in
memory grows with the corpus.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bertviz_core.engine.progress import Progress
from bertviz_core.errors import SettingsError
from bertviz_core.models.attention import LayerAttention, forward
from bertviz_core.models.encoding import Encoded, buckets, collate
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.words import membership, word_of


def extract(
    model: AttentionModel,
    examples: Iterable[Encoded],
    path: Path,
    progress: Progress,
    batch_tokens: int | None = None,
    metadata: dict[str, str] | None = None,
    word_level: str | None = None,
) -> None:
    """Write one float32 entry for each example, named by its number, axes (layer, head, query, key).

    Args:
        word_level: None for tokens; "corrected" or "paper" for words, the special tokens standing as words of their
            own: to a split word the sum over its pieces, from it the mean (the first piece in mode "paper").

    Definitions: docs/methods.md, section 5.
    """
    sizes = {example.number: _size(example, word_level) for example in examples}
    progress.start("Extracting attention", len(sizes), "examples")
    shapes = {number: [model.layers, model.heads, size, size] for number, size in sizes.items()}
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("wb") as stream:
            offsets = _write_header(stream, shapes, metadata or {})
            for group in buckets(examples, batch_tokens or model.batch_tokens):
                _write_group(stream, model, group, offsets, word_level)
                progress.advance(len(group))
        partial.replace(path)
    except OSError as error:
        raise SettingsError(
            f"The file cannot be written ({error.strerror}).", where=str(path), hint="Choose another path."
        ) from error
    finally:
        partial.unlink(missing_ok=True)  # half a file would read as maps of zeros


def _write_header(stream: BinaryIO, shapes: dict[int, list[int]], metadata: dict[str, str]) -> dict[int, int]:
    """Write the safetensors header; returns where each example's data begins in the file."""
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    begins, end = {}, 0
    for number, shape in shapes.items():
        begins[number], end = end, end + 4 * int(np.prod(shape, dtype=np.int64))
        header[str(number)] = {"dtype": "F32", "shape": shape, "data_offsets": [begins[number], end]}
    data = json.dumps(header).encode()
    data += b" " * (-len(data) % 8)  # the format wants the data aligned
    stream.write(len(data).to_bytes(8, "little") + data)
    start = stream.tell()
    stream.truncate(start + end)
    return {number: start + begin for number, begin in begins.items()}


def _write_group(
    stream: BinaryIO, model: AttentionModel, group: list[Encoded], offsets: dict[int, int], word_level: str | None
) -> None:
    first = word_level == "paper"
    words = membership(group, model.device, first_piece=first, special=True) if word_level else None

    def observe(attention: LayerAttention) -> None:
        maps = (words.maps(attention.weights) if words else attention.weights).cpu().numpy()
        for row, example in enumerate(group):
            size = _size(example, word_level)
            layer = np.ascontiguousarray(maps[row, :, :size, :size], dtype=np.float32)
            stream.seek(offsets[example.number] + attention.layer * layer.nbytes)
            stream.write(layer.tobytes())

    forward(model, collate(group, model.tokens, model.device), observe)


def _size(example: Encoded, word_level: str | None) -> int:
    """Tokens, or words and special tokens."""
    return int(word_of(example, special=True)[-1]) + 1 if word_level else len(example)
