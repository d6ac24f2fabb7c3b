"""The authors' JSON: a list of objects, each with exactly one of `text`, `words`, `tokens`; other fields are kept."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bertviz_core.corpora.source import LONGEST_LINE, Source, whole
from bertviz_core.errors import InputError

FIELDS = ("text", "words", "tokens")
SPACE = re.compile(r"[ \t\r\n]*")
AT_ONCE = 1 << 16  # characters read together: a file of blank lines has millions of pieces
NEAR = 16  # an error so near the end may come from a word or an escape that is not all there yet
BROKEN = "The JSON is broken or cut off here."


@dataclass(frozen=True)
class Record:
    """One object: `form` says which of the three fields it has, `value` is a string or a list of strings."""

    number: int
    line: int
    form: str
    value: Any
    other: dict[str, Any]


@dataclass(frozen=True)
class ExampleCorpus:
    """Objects of a JSON list, read again from the source on every pass, one at a time: memory does not grow with it."""

    source: Source

    def records(self) -> Iterator[Record]:
        """Every object; raises InputError naming the line for anything but a whole list of such objects."""
        number = -1
        for number, (line, value) in enumerate(json_list(self.source)):
            yield self._record(number, line, value)
        if number < 0:
            raise self.source.error("The JSON list is empty.", "Give at least one object.")

    def _record(self, number: int, line: int, value: Any) -> Record:
        where = f"{self.source.name}, line {line}, object {number + 1}"
        present = [name for name in FIELDS if isinstance(value, dict) and name in value]
        if len(present) != 1:
            what = f"The object has {'two or more' if present else 'none'} of `text`, `words` and `tokens`."
            raise InputError(what, where=where, hint="Give exactly one of them.")
        form = present[0]
        if not _well_formed(form, value[form]):
            shape = "a string" if form == "text" else "a list of strings with at least one entry"
            raise InputError(f"`{form}` is not {shape}.", where=where, hint=f"Make it {shape}.")
        other = {name: entry for name, entry in value.items() if name != form}
        content = value[form]
        clean = whole(content) if form == "text" else [whole(entry) for entry in content]
        return Record(number, line, form, clean, other)


def _well_formed(form: str, value: Any) -> bool:
    if form == "text":
        return isinstance(value, str)
    return isinstance(value, list) and bool(value) and all(isinstance(entry, str) for entry in value)


def json_list(source: Source) -> Iterator[tuple[int, Any]]:
    """(line, value) of every entry; raises InputError naming the line for anything but one whole list."""
    window = _Window(source, source.text())
    if window.next_character() != "[":
        raise window.error("The JSON is not a list.", "Write [{...}, {...}].")
    window.position += 1
    while (character := window.next_character()) != "]":
        line = window.line()
        yield line, window.value()
        character = window.next_character()
        if character == ",":
            window.position += 1
            if window.next_character() == "]":
                raise window.error(BROKEN, "Remove the comma before ].")
        elif character != "]":
            raise window.error(BROKEN, "Close the list with ].")
    window.position += 1
    if window.next_character():
        raise window.error("There is text after the end of the JSON list.", "Give one list.")


@dataclass
class _Window:
    """The part of the text that is looked at. `position` is in `text`; `counted` is how far its lines are counted;
    `last` is the line on which the last value ended."""

    source: Source
    pieces: Iterator[str]
    text: str = ""
    position: int = 0
    counted: int = 0
    number: int = 1
    last: int = 1
    decoder: json.JSONDecoder = field(default_factory=json.JSONDecoder)

    def line(self, position: int | None = None) -> int:
        """The line of a position, this one where none is given."""
        if position is not None:
            return self.number + self.text.count("\n", self.counted, position)
        self.number, self.counted = self.line(self.position), self.position
        return self.number

    def next_character(self) -> str:
        """The character at the next position that is not JSON white space; "" at the end of the text."""
        while True:
            self.position = SPACE.match(self.text, self.position).end()  # type: ignore[union-attr]  # matches anything
            if self.position < len(self.text) or not self._read_on():
                return self.text[self.position : self.position + 1]

    def value(self) -> Any:
        """The value at the position, which moves behind it."""
        while True:
            try:
                value, end = self.decoder.raw_decode(self.text, self.position)
                if end < len(self.text) or not self._read_on():
                    self.position, self.last = end, self.line(end)
                    return value
            except json.JSONDecodeError as error:
                whole = error.pos < len(self.text) - NEAR and not error.msg.startswith("Unterminated string")
                at = error.pos - self.position
                if whole or not self._read_on():
                    raise self.error(BROKEN, "Save it again.", self.position + at) from error
            except (ValueError, RecursionError) as error:  # a number of thousands of digits, a depth of thousands
                raise self.error(BROKEN, "Save it again.") from error

    def error(self, what: str, hint: str, position: int | None = None) -> InputError:
        at, end = self.position if position is None else position, len(self.text.rstrip())
        # Line ends at the end of the text begin no line: what breaks off there breaks off where the last value ends.
        line = self.last if at >= end and end <= self.counted else self.line(min(at, end))
        return self.source.error(what, hint, line)

    def _read_on(self) -> bool:
        """Read as much again as is not yet done with, and drop what is; False where the text has ended."""
        if len(self.text) - self.position >= LONGEST_LINE - AT_ONCE:
            raise self.error(f"The entry is longer than {LONGEST_LINE / 1e6:.0f} MB.", "Split it into several entries.")
        size, more, length = max(len(self.text) - self.position, AT_ONCE), [], 0
        while length < size and (piece := next(self.pieces, None)) is not None:
            more.append(piece)
            length += len(piece)
        if more:
            self.line()
            self.text = self.text[self.position :] + "".join(more)
            self.position = self.counted = 0
        return bool(more)
