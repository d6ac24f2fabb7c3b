"""Text that is written piece by piece, as a source: in memory while it is small, then in a temporary file."""

import hashlib
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from bertviz_core.corpora.source import Source, from_bytes, replace_surrogates
from bertviz_core.errors import InputError

IN_MEMORY = 16 << 20  # bytes; what is longer goes to disk


class TemporaryFile:
    """A file that can be opened any number of times, and is removed with the last reference to it."""

    def __init__(self) -> None:
        with tempfile.NamedTemporaryFile(prefix="bertviz-corpus-", delete=False) as stream:
            self.path = Path(stream.name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)

    def __call__(self) -> BinaryIO:
        return self.path.open("rb")


def from_pieces(pieces: Iterable[str], name: str) -> Source:
    """The source of a text, which is read once, as UTF-8.

    Raises:
        InputError: There is no room for it on disk.
    """
    digest = hashlib.sha256()
    latest = bytearray()  # This is the part that is not on disk yet.
    size = 0
    file = None
    for piece in pieces:
        data = replace_surrogates(piece).encode()
        digest.update(data)
        size += len(data)
        latest += data
        if len(latest) > IN_MEMORY:
            file = _append(file, latest)
            latest.clear()
    if file is None:
        return from_bytes(bytes(latest), name)
    return Source(name, digest.hexdigest(), size, _append(file, latest))


def _append(file: TemporaryFile | None, data: bytearray) -> TemporaryFile:
    """The file, or a new one, with the data at its end."""
    try:
        file = file or TemporaryFile()
        with file.path.open("ab") as stream:
            stream.write(data)
    except OSError as error:
        what = f"The corpus cannot be written to the temporary folder ({error.strerror})."
        raise InputError(what, where=tempfile.gettempdir(), hint="Free space there, or set TMPDIR.") from error
    return file
