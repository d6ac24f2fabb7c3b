"""The authors' JSON: a list of objects, each with exactly one of `text`, `words`, `tokens`; other fields are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from bertviz_core.corpora.json_list import json_list
from bertviz_core.corpora.source import Source, whole
from bertviz_core.errors import InputError

FIELDS = ("text", "words", "tokens")


@dataclass(frozen=True, slots=True)
class Record:
    """One object: `form` says which of the three fields it has, `value` is a string or a list of strings; `offset` is
    where it begins, in bytes."""

    number: int
    line: int
    form: str
    value: Any
    other: dict[str, Any]
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ExampleCorpus:
    """Objects of a JSON list, read again from the source on every pass, one at a time: memory does not grow with it."""

    source: Source

    def records(self) -> Iterator[Record]:
        """Every object; raises InputError naming the line for anything but a whole list of such objects."""
        number = self.source.start.document
        for line, offset, value in json_list(self.source):
            yield replace(self._record(number, line, value), offset=offset)
            number += 1
        if not number:
            raise InputError("The JSON list is empty.", where=self.source.name, hint="Give at least one object.")

    def _record(self, number: int, line: int, value: Any) -> Record:
        where = f"{self.source.name}, line {line}, object {number + 1}"
        present = [name for name in FIELDS if isinstance(value, dict) and name in value]
        if len(present) != 1:
            text = "two or more" if present else "none"
            raise InputError(
                f"The object has {text} of `text`, `words` and `tokens`.",
                where=where,
                hint="Give exactly one of them.",
            )
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
