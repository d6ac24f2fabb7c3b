"""The authors' JSON: a list of objects, each with exactly one of `text`, `words`, `tokens`; other fields are kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bertviz_core.corpora.source import Source
from bertviz_core.errors import InputError

FIELDS = ("text", "words", "tokens")


@dataclass(frozen=True, slots=True)
class Record:
    """One object: `form` says which of the three fields it has, `value` is a string or a list of strings."""

    number: int
    line: int
    form: str
    value: Any
    other: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ExampleCorpus:
    """Objects of a JSON list, decoded one at a time."""

    source: Source

    def records(self) -> Iterator[Record]:
        """Every object; raises InputError naming the line for anything but a whole list of such objects."""
        text = self.source.text()
        number, line, counted = 0, 1, 0
        for number, (position, value) in enumerate(self._items(text), start=1):
            line, counted = line + text.count("\n", counted, position), position
            yield self._record(number - 1, line, value)
        if not number:
            raise InputError("The JSON list is empty.", where=self.source.name, hint="Give at least one object.")

    def _items(self, text: str) -> Iterator[tuple[int, Any]]:
        decoder = json.JSONDecoder()
        position = _skip(text, 0)
        if text[position : position + 1] != "[":
            raise self._error("The JSON is not a list.", text, position, "Write [{...}, {...}].")
        position = _skip(text, position + 1)
        while text[position : position + 1] != "]":
            start = position
            try:
                value, position = decoder.raw_decode(text, position)
            except (ValueError, RecursionError) as error:  # a plain ValueError for a number of thousands of digits
                at = error.pos if isinstance(error, json.JSONDecodeError) else start
                raise self._error("The JSON is broken or cut off here.", text, at, "Save it again.") from error
            yield start, value
            position = _skip(text, position)
            if text[position : position + 1] == ",":
                position = _skip(text, position + 1)
            elif text[position : position + 1] != "]":
                raise self._error("The JSON is broken or cut off here.", text, position, "Close the list with ].")
        if (end := _skip(text, position + 1)) < len(text):
            raise self._error("There is something after the end of the JSON list.", text, end, "Give one list.")

    def _record(self, number: int, line: int, value: Any) -> Record:
        where = f"{self.source.name}, line {line}, object {number + 1}"
        present = [name for name in FIELDS if isinstance(value, dict) and name in value]
        if len(present) != 1:
            said = "two or more" if present else "none"
            raise InputError(
                f"The object has {said} of `text`, `words` and `tokens`.",
                where=where,
                hint="Give exactly one of them.",
            )
        form = present[0]
        if not _well_formed(form, value[form]):
            shape = "a string" if form == "text" else "a list of strings with at least one entry"
            raise InputError(f"`{form}` is not {shape}.", where=where, hint=f"Make it {shape}.")
        other = {name: entry for name, entry in value.items() if name != form}
        return Record(number, line, form, _whole(value[form]), other)

    def _error(self, what: str, text: str, position: int, hint: str) -> InputError:
        line = text.count("\n", 0, position) + 1
        return InputError(what, where=f"{self.source.name}, line {line}", hint=hint)


def _skip(text: str, position: int) -> int:
    """The first position from here that is not JSON white space."""
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _whole(value: Any) -> Any:
    """Half an emoji (a lone surrogate, as in a post cut short) has no UTF-8 and stops tokenizers: it becomes U+FFFD."""
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    return [_whole(entry) for entry in value]


def _well_formed(form: str, value: Any) -> bool:
    if form == "text":
        return isinstance(value, str)
    return isinstance(value, list) and bool(value) and all(isinstance(entry, str) for entry in value)
