"""Word vectors from text files as GloVe writes them: a word and its values, between spaces, one a line."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Set
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, cast

import numpy as np

from bertviz_core.corpora.source import MINIMUM, TIMES, Source
from bertviz_core.corpora.unpacking import CHUNK
from bertviz_core.errors import InputError
from bertviz_core.numbers import small_int

EXPECTED = "Give a text file with a word and its numbers, between spaces, on each line."


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Fixed vectors for a corpus's words.

    Attributes:
        rows: The row of each known word.
        matrix: (row, dimension) float32; row 0, zeros, stands for every unknown word.
    """

    rows: dict[str, int]
    matrix: np.ndarray

    def row(self, word: str) -> int:
        """The row of the word as it is written, else in lower case, else 0."""
        return self.rows.get(word, self.rows.get(word.lower(), 0))


def read_vectors(source: Source, words: Set[str]) -> WordVectors:
    """The vectors of these words (or their lower-case forms) alone, from a .txt, .gz, .xz or a .zip holding one .txt.

    The file is read as a stream. A first line of two whole numbers (word2vec's header) is skipped; of a word that
    occurs twice the first counts. Raises InputError naming the line.
    """
    forms = words | {word.lower() for word in words}
    rows: dict[str, int] = {}
    selected: list[np.ndarray] = []
    dimension = 0
    for number, line in _unzipped(source).lines():
        fields = line.rstrip().split(" ") if not dimension else line.rstrip().rsplit(" ", dimension)
        if not dimension:
            if number == 1 and len(fields) == 2 and None not in map(small_int, fields):
                continue
            dimension = len(fields) - 1
        if len(fields) != dimension + 1 or not dimension:
            raise InputError(
                f"The line has {len(fields) - 1} numbers, the first had {dimension}.",
                where=f"{source.name}, line {number}",
                hint=EXPECTED,
            )
        if fields[0] in forms and fields[0] not in rows:
            selected.append(_numbers(fields[1:], f"{source.name}, line {number}"))
            rows[fields[0]] = len(selected)
    if not dimension:
        raise InputError("The file is empty.", where=source.name, hint=EXPECTED)
    return WordVectors(rows, np.stack([np.zeros(dimension, dtype=np.float32), *selected]))


def _numbers(fields: list[str], where: str) -> np.ndarray:
    try:
        with np.errstate(over="ignore"):
            values = np.array(fields, dtype=np.float32)
    except ValueError as error:
        raise InputError(f"This is not a number: {error}.", where=where, hint=EXPECTED) from error
    if not np.isfinite(values).all():
        raise InputError("A value is not a finite number.", where=where, hint=EXPECTED)
    return values


def _unzipped(source: Source) -> Source:
    """The source itself, or the one .txt in it where it is a zip archive."""
    with source.opener() as stream:
        zipped = stream.read(4) == b"PK\x03\x04"
    if not zipped:
        return source
    max_unpacked = max(MINIMUM, TIMES * source.size) if source.max_unpacked is None else source.max_unpacked
    return replace(source, opener=lambda: _member(source), max_unpacked=max_unpacked)


class _Archive(io.BufferedReader):
    """An archive's bytes. `zipfile` reads the list of its files at once, and needs a kilobyte for each."""

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > CHUNK:
            raise zipfile.BadZipFile("its list of files is too long")
        return super().read(size)


def _member(source: Source) -> BinaryIO:
    try:
        archive = zipfile.ZipFile(_Archive(cast(Any, source.opener())))
        names = [name for name in archive.namelist() if name.endswith(".txt")]
        if len(names) == 1:
            return cast(BinaryIO, archive.open(names[0]))
    except (zipfile.BadZipFile, RuntimeError, ValueError, OSError, struct.error) as error:
        raise InputError(f"The archive is damaged or locked ({error}).", where=source.name, hint=EXPECTED) from error
    raise InputError(
        f"The archive contains {len(names)} text files.",
        where=source.name,
        hint="Unpack it, and give the one you want.",
    )
