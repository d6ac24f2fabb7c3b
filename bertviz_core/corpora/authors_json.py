"""The authors' JSON: objects, each with exactly one of `text`, `words`, `tokens`, in a list or one on each line; other
fields are kept."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from typing import Any

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.source import LONGEST_LINE, Source, replace_surrogates
from bertviz_core.errors import InputError

FIELDS = ("text", "words", "tokens")
NOT_SPACE = re.compile(r"[^ \t\r\n]")
DECODER = JSONDecoder()
READ_CHARACTERS = 1 << 16  # characters that are read together: a file of blank lines has millions of pieces
NEAR_END = 16  # characters from the end in which a word or an escape may be incomplete
BROKEN = "The JSON is broken or cut off here."


@dataclass(frozen=True)
class ExampleRecord:
    """One object of a file of JSON examples.

    Attributes:
        number: Its index, from 0.
        line: The line where it begins, from 1.
        form: Which of the three fields it has: text, words or tokens.
        value: The value of this field, a string or a list of strings.
        other: Its other fields.
    """

    number: int
    line: int
    form: str
    value: Any
    other: dict[str, Any]


@dataclass(frozen=True)
class ExampleCorpus:
    """Objects of a JSON list, or of lines, read again from the source on every pass, one at a time.

    Attributes:
        has_lines: Whether each line is an object, in place of one list.
    """

    source: Source
    has_lines: bool = False

    def records(self, skipped: Skipped | None = None) -> Iterator[ExampleRecord]:
        """Every object; lines that are no such object are counted in `skipped`.

        Raises:
            InputError: The file is no whole list of such objects, or none of its lines is such an object; the error
                names the line.
        """
        if self.has_lines:
            yield from self._from_lines(skipped or Skipped())
            return
        number = -1
        for number, (line, value) in enumerate(json_list(self.source)):
            yield _record(self.source, number, line, value)
        if number < 0:
            raise self.source.error("The JSON list is empty.", "Give at least one object.")

    def _from_lines(self, skipped: Skipped) -> Iterator[ExampleRecord]:
        number = 0
        first: InputError | None = None
        for line, text in self.source.lines():
            if not text.strip():
                continue
            try:
                yield _record(self.source, number, line, _parse(self.source, line, text))
                number += 1
            except InputError as error:
                skipped.add(f"a line that is no example: {error.what}", f"line {line}", unit="segments")
                first = first or error
        if first and not number:
            raise first


def _parse(source: Source, line: int, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise source.error("The line is not JSON.", "Write one object per line.", line) from error


def _record(source: Source, number: int, line: int, value: Any) -> ExampleRecord:
    """An object with its value; raises InputError for another one."""
    where = source.error("", "", line).where + f", object {number + 1}"
    present = [name for name in FIELDS if isinstance(value, dict) and name in value]
    if len(present) != 1:
        what = f"The object has {'two or more' if present else 'none'} of `text`, `words` and `tokens`."
        raise InputError(what, where=where, hint="Give exactly one of them.")
    form = present[0]
    is_text = form == "text"
    content = value.pop(form)
    parts = [content] if is_text else content
    if not (isinstance(parts, list) and parts and all(isinstance(part, str) for part in parts)):
        shape = "a string" if is_text else "a list of strings with at least one entry"
        raise InputError(f"`{form}` is not {shape}.", where=where, hint=f"Make it {shape}.")
    texts = list(map(replace_surrogates, parts))
    return ExampleRecord(number=number, line=line, form=form, value=texts[0] if is_text else texts, other=value)


def json_list(source: Source) -> Iterator[tuple[int, Any]]:
    """(line, value) of every entry.

    Raises:
        InputError: The file is no whole list; the error names the line.
    """
    window = _Window(source, source.text())
    if not window.skip("["):
        raise window.error("The JSON is not a list.", "Write [{...}, {...}].")
    more = not window.skip("]")
    while more:
        yield window.line(window.position), window.read_value()
        more = window.skip(",")
        if more and window.peek() == "]":
            raise window.error(BROKEN, "Remove the comma before ].")
        if not more and not window.skip("]"):
            raise window.error(BROKEN, "Close the list with ].")
    if window.peek():
        raise window.error("There is text after the end of the JSON list.", "Give one list.")


@dataclass
class _Window:
    """A part of the text, which moves forward; what is before `position` has been read."""

    source: Source
    pieces: Iterator[str]
    text: str = ""
    position: int = 0
    lines: int = 0  # the number of lines before `text`

    def line(self, position: int) -> int:
        return self.lines + self.text.count("\n", 0, position) + 1

    def peek(self) -> str:
        """The character at the next position that is not JSON white space; "" at the end of the text."""
        while True:
            if following := NOT_SPACE.search(self.text, self.position):
                self.position = following.start()
                return following[0]
            self.position = len(self.text)
            if not self._extend():
                return ""

    def skip(self, character: str) -> bool:
        if self.peek() != character:
            return False
        self.position += 1
        return True

    def read_value(self) -> Any:
        while True:
            try:
                value, end = DECODER.raw_decode(self.text, self.position)
                if end < len(self.text) or not self._extend():
                    self.position = end
                    return value
            except JSONDecodeError as error:
                is_cut = error.pos >= len(self.text) - NEAR_END or error.msg.startswith("Unterminated string")
                if is_cut and self._extend():
                    continue
                raise self.error(BROKEN, "Save it again.", error.pos) from error
            except (ValueError, RecursionError) as error:
                # Both come from numbers of thousands of digits or from thousands of nested lists.
                raise self.error(BROKEN, "Save it again.") from error

    def error(self, what: str, hint: str, at: int = 0) -> InputError:
        """An error at the position or after it, or on the last line that is not blank."""
        position = min(max(self.position, at), len(self.text.rstrip()))
        return self.source.error(what, hint, self.line(position))

    def _extend(self) -> bool:
        """Drop what has been read, and double the rest; False at the end of the text."""
        rest = len(self.text) - self.position
        length = 0
        if rest >= LONGEST_LINE - READ_CHARACTERS:
            raise self.error(f"The entry is longer than {LONGEST_LINE / 1e6:.0f} MB.", "Split it into several entries.")
        parts = [self.text[self.position :]]
        for piece in self.pieces:
            parts.append(piece)
            length += len(piece)
            if length >= max(rest, READ_CHARACTERS):
                break
        if length:
            self.lines += self.text.count("\n", 0, self.position)
            self.text = "".join(parts)
            self.position = 0
        return length > 0
