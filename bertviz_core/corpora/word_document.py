"""The paragraphs of a Word document (.docx), read as a stream."""

from __future__ import annotations

from collections.abc import Iterator
from xml.parsers import expat

from bertviz_core.errors import InputError

WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PARAGRAPH, TEXT = f"{WORDS} p", f"{WORDS} t"
BREAKS = {f"{WORDS} tab", f"{WORDS} br", f"{WORDS} cr"}


def paragraphs(pieces: Iterator[bytes], name: str) -> Iterator[bytes]:
    """A line of UTF-8 for each paragraph of a document's XML; an empty paragraph is a blank line.

    Raises:
        InputError: The XML is broken, or declares entities, as no Word document does.
    """
    reader = _Reader()
    try:
        for piece in pieces:
            reader.parser.Parse(piece)
            yield from reader.take()
        reader.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise InputError(f"The Word document is damaged ({error}).", where=name, hint="Save it again.") from error
    yield from reader.take()


class _Reader:
    """What expat has read of a document: whole lines, and the paragraph that is under way."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.line: list[str] = []
        self.in_text = False
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse

    def take(self) -> list[bytes]:
        lines, self.lines = self.lines, []
        return lines

    def _start(self, element: str, _attributes: dict[str, str]) -> None:
        self.in_text = element == TEXT
        if element in BREAKS:
            self.line.append(" ")

    def _end(self, element: str) -> None:
        self.in_text = False
        if element == PARAGRAPH:
            self.lines.append("".join(self.line).replace("\n", " ").encode() + b"\n")
            self.line = []

    def _text(self, text: str) -> None:
        if self.in_text:
            self.line.append(text)

    def _refuse(self, *_: object) -> None:
        raise expat.ExpatError("it declares a document type")
