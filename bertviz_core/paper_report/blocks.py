"""What a report is made of, before it is HTML or Markdown; every text is plain and nothing in it is markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a report.

    Attributes:
        text: Plain text.
        level: 1 for the title, 2 for a section, 3 inside one.
    """

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a report.

    Attributes:
        text: Plain text.
        strong: Whether the paragraph is the claim of a section.
    """

    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of items in a report."""

    items: Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a report.

    Attributes:
        caption: Above the table.
        header: Names of the columns.
        rows: Cells as they are shown, each row as long as the header.
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing in a report.

    Attributes:
        name: Name of the picture's file, without suffix.
        svg: The drawing, its texts escaped.
        caption: Under the drawing.
    """

    name: str
    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Code:
    """Lines of a report that readers copy."""

    text: str


Block = Heading | Paragraph | Bullets | Table | Picture | Code
