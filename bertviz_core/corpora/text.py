"""Raw text: one paragraph or sentence a line, a blank line between documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bertviz_core.corpora.source import Source
from bertviz_core.errors import InputError


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One line of text; `document` counts from 0, `line` from 1."""

    document: int
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class TextCorpus:
    """Documents of paragraphs, read again from the source on every pass: memory does not grow with the file."""

    source: Source

    def paragraphs(self) -> Iterator[Paragraph]:
        """Every line that is not blank; raises InputError when there is none."""
        document, previous, line = self.source.start.document, None, 0
        for line, text in self.source.lines():
            if text.strip():
                if previous is not None and line - previous > 1:
                    document += 1
                previous = line
                yield Paragraph(document, line, text)
        if previous is None:
            kind = "contains only blank lines" if line else "is empty"
            raise InputError(
                f"The file {kind}.",
                where=self.source.name,
                hint="Write one paragraph per line, a blank line between documents.",
            )

    def unended(self) -> int | None:
        """The number of the last document where no blank line follows it, else None; reads the source once."""
        document, blank = -1, True
        for _, text in self.source.lines():
            document += blank and bool(text.strip())
            blank = not text.strip()
        return None if blank else document
