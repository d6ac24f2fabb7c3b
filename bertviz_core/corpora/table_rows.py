"""The rows of a table as text, by the quotation marks that spreadsheets write around cells, and without them."""

import csv
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice

from bertviz_core.corpora.source import Line, Source

MOST_LINES = 100  # of a row between tabs: that many are read again at most where a mark opens no cell after all
Row = tuple[int, list[str]]  # the line where it begins, from 1, and its cells


def cells_of(line: str, delimiter: str) -> list[str]:
    """The cells of a row of one line. Quotation marks that do not enclose whole cells are a part of the text: tables
    with tabs are often written without quoting.

    >>> cells_of('"a, b", c', ","), cells_of('"a" b\\tc', "\\t")
    (['a, b', 'c'], ['"a" b', 'c'])
    """
    try:
        return next(_reader([line], delimiter), [])
    except csv.Error:
        return line.split(delimiter)


def quoted_rows(source: Source, lines: Iterable[Line], delimiter: str) -> Iterator[Row]:
    """The rows of a table. A cell in quotation marks may have several lines.

    Raises:
        InputError: Marks enclose no whole cell; rows would be lost in it.
    """
    begins = 0

    def texts() -> Iterator[str]:
        nonlocal begins
        for number, text in lines:
            begins = begins or number
            yield _as_line(text)

    try:
        for cells in _reader(texts(), delimiter):
            yield begins, cells
            begins = 0
    except csv.Error as error:
        hint = "Put the cell in quotation marks, and write a mark in it twice."
        raise source.error(f"The row cannot be read ({error}).", hint, begins) from error


def tab_rows(source: Source, lines: Iterable[Line], width: Callable[[], int]) -> Iterator[Row]:
    """The rows of a table with tabs. A line with as many cells as the header is a row, whatever its quotation marks;
    else a mark that opens a cell may have its end in a later line.

    Args:
        width: How many cells the header has; a later header may have others.

    Raises:
        InputError: It is not clear whether a mark opens a cell of several lines.
    """
    later = iter(lines)
    ahead = deque[Line]()  # lines in which the end of a cell was searched, and which are rows of their own

    def following() -> Iterator[Line]:
        while line := ahead.popleft() if ahead else next(later, None):
            yield line

    for first in following():
        taken, cells = _first_row(chain([first], following()))
        is_row = [len(text.split("\t")) == width() for _, text in taken]
        fits = cells is not None and len(cells) == width()
        if len(taken) > 1 and (all(is_row) if fits else not is_row[0]):
            what = "A quotation mark begins a cell that does not end in this line, or is a part of the text."
            raise source.error(what, "Write each row on one line, or save the table as CSV.", first[0])
        if is_row[0] and not fits:
            ahead.extendleft(reversed(taken[1:]))
            cells = None
        yield first[0], first[1].split("\t") if cells is None else cells


def _first_row(lines: Iterable[Line]) -> tuple[list[Line], list[str] | None]:
    """The lines that were read for the first row between tabs, and its cells; None where marks enclose no whole
    cell."""
    taken: list[Line] = []

    def texts() -> Iterator[str]:
        for line in islice(lines, MOST_LINES):
            taken.append(line)
            yield _as_line(line[1])

    with suppress(csv.Error):
        return taken, next(_reader(texts(), "\t"))
    return taken, None


def _reader(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    return csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)


def _as_line(text: str) -> str:
    """A line with its end; a CR inside would end a row."""
    return text.replace("\r", " ") + "\n"
