"""The authors' JSON: a list of objects, each with exactly one of `text`, `words`, `tokens`; other fields are kept."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bertviz_core.corpora.source import LONGEST_LINE, Source, replace_surrogates
from bertviz_core.errors import InputError

FIELDS = ("text", "words", "tokens")
NO_SPACE = re.compile(r"[^ \t\r\n]")  # what is none in JSON
DECODER = json.JSONDecoder()
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
    """Objects of a JSON list, read again from the source on every pass, one at a time."""

    source: Source

    def records(self) -> Iterator[Record]:
        """Every object; raises InputError naming the line for anything but a whole list of such objects."""
        number = -1
        for number, (line, value) in enumerate(json_list(self.source)):
            where = f"{self.source.name}, line {line}, object {number + 1}"
            present = [name for name in FIELDS if isinstance(value, dict) and name in value]
            if len(present) != 1:
                what = f"The object has {'two or more' if present else 'none'} of `text`, `words` and `tokens`."
                raise InputError(what, where=where, hint="Give exactly one of them.")
            form = present[0]
            content = value.pop(present[0])
            parts = [content] if form == "text" else content
            if not (isinstance(parts, list) and parts and all(isinstance(part, str) for part in parts)):
                shape = "a string" if form == "text" else "a list of strings with at least one entry"
                raise InputError(f"`{form}` is not {shape}.", where=where, hint=f"Make it {shape}.")
            yield Record(
                number,
                line,
                form,
                replace_surrogates(content) if form == "text" else list(map(replace_surrogates, parts)),
                value,
            )
        if number < 0:
            raise self.source.error("The JSON list is empty.", "Give at least one object.")


def json_list(source: Source) -> Iterator[tuple[int, Any]]:
    """(line, value) of every entry; raises InputError naming the line for anything but one whole list."""
    window = _Window(source, source.text())
    if not window.passes("["):
        raise window.error("The JSON is not a list.", "Write [{...}, {...}].")
    more = not window.passes("]")
    while more:
        yield window.line(window.position), window.value()
        more = window.passes(",")
        if more and window.next_character() == "]":
            raise window.error(BROKEN, "Remove the comma before ].")
        if not more and not window.passes("]"):
            raise window.error(BROKEN, "Close the list with ].")
    if window.next_character():
        raise window.error("There is text after the end of the JSON list.", "Give one list.")


@dataclass
class _Window:
    """The part of the text that is looked at, from `position` in `text` on; `lines` end before this text."""

    source: Source
    pieces: Iterator[str]
    text: str = ""
    position: int = 0
    lines: int = 0

    def line(self, position: int) -> int:
        return self.lines + self.text.count("\n", 0, position) + 1

    def next_character(self) -> str:
        """The character at the next position that is not JSON white space; "" at the end of the text."""
        while True:
            following = NO_SPACE.search(self.text, self.position)
            self.position = following.start() if following else len(self.text)
            if following or not self._read_on():
                return following[0] if following else ""

    def passes(self, character: str) -> bool:
        """Whether this is the next character, behind which the position moves."""
        is_next = self.next_character() == character
        self.position += is_next
        return is_next

    def value(self) -> Any:
        """The value at the position, which moves behind it."""
        while True:
            try:
                value, end = DECODER.raw_decode(self.text, self.position)
                if end < len(self.text) or not self._read_on():
                    self.position = end
                    return value
            except json.JSONDecodeError as error:
                is_final = error.pos < len(self.text) - NEAR and not error.msg.startswith("Unterminated string")
                after = error.pos - self.position
                if is_final or not self._read_on():
                    raise self.error(BROKEN, "Save it again.", after) from error
            except (ValueError, RecursionError) as error:  # a number of thousands of digits, a depth of thousands
                raise self.error(BROKEN, "Save it again.") from error

    def error(self, what: str, hint: str, after: int = 0) -> InputError:
        """An error so many characters after the position; one at the end is on the last line that is not blank."""
        return self.source.error(what, hint, self.line(min(self.position + after, len(self.text.rstrip()))))

    def _read_on(self) -> bool:
        """Read as much again as is not yet done with, and drop what is; False where the text has ended."""
        rest = len(self.text) - self.position
        length = 0
        if rest >= LONGEST_LINE - AT_ONCE:
            raise self.error(f"The entry is longer than {LONGEST_LINE / 1e6:.0f} MB.", "Split it into several entries.")
        parts = [self.text[self.position :]]
        while length < max(rest, AT_ONCE) and (piece := next(self.pieces, None)) is not None:
            parts.append(piece)
            length += len(piece)
        if length:
            self.lines += self.text.count("\n", 0, self.position)
            self.text = "".join(parts)
            self.position = 0
        return length > 0
