"""Word vectors from text files as GloVe writes them: a word and its values, between spaces, one a line."""

from collections.abc import Set
from dataclasses import dataclass

import numpy as np

from bertviz_core.corpora.source import Source
from bertviz_core.numbers import small_int

EXPECTED = "Give one text file, with a word and its numbers, between spaces, on each line."
SHOWN = 8  # names of files in a message


@dataclass(frozen=True)
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
    """Read the vectors of these words, or of their lower-case forms, as a stream.

    Blank lines and a first line of two whole numbers (word2vec's header) are skipped; of a word that occurs twice the
    first counts.

    Args:
        source: Text, packed in any way that `Source` unpacks.
        words: Whose vectors are kept.

    Raises:
        InputError: A line is not a word and its numbers, which the error names; or an archive has several files, whose
            vectors may be of different dimensions.
    """
    forms = words | {word.lower() for word in words}
    rows: dict[str, int] = {}
    selected: list[np.ndarray] = []
    dimension = 0
    for number, line in source.lines():
        if not line.strip():
            continue
        fields = line.rstrip().split(" ") if not dimension else line.rstrip().rsplit(" ", dimension)
        if not dimension:
            if number == 1 and len(fields) == 2 and None not in map(small_int, fields):
                continue
            dimension = len(fields) - 1
            _require_one_file(source)
        if len(fields) != dimension + 1 or not dimension:
            what = f"The line has {len(fields) - 1} numbers, the first had {dimension}."
            raise source.error(what, EXPECTED, number)
        if fields[0] in forms and fields[0] not in rows:
            selected.append(_numbers(fields[1:], source, number))
            rows[fields[0]] = len(selected)
    if not dimension:
        raise source.error("The file is empty.", EXPECTED)
    return WordVectors(rows, np.stack([np.zeros(dimension, dtype=np.float32), *selected]))


def _require_one_file(source: Source) -> None:
    names = source.text_files()
    if len(names) > 1:
        more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
        listed = ", ".join(names[:SHOWN]) + more
        what = f"The archive has {len(names):,} files: {listed}. Word vectors are read from one."
        raise source.error(what, "Unpack it, and give one of them.")


def _numbers(fields: list[str], source: Source, line: int) -> np.ndarray:
    try:
        with np.errstate(over="ignore"):
            values = np.array(fields, dtype=np.float32)
    except ValueError as error:
        raise source.error(f"This is not a number: {error}.", EXPECTED, line) from error
    if not np.isfinite(values).all():
        raise source.error("A value is not a finite number.", EXPECTED, line)
    return values
