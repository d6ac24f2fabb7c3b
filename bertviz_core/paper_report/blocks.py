"""What a report is made of, before it is HTML or Markdown; every text is plain and nothing in it is markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """level: 1 for the title, 2 for a section, 3 inside one."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """strong: the claim of a section."""

    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """rows: cells as they are shown, each as long as the header. caption: above it."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Picture:
    """name: of its file, without suffix. svg: the drawing, its texts escaped. caption: under it."""

    name: str
    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Code:
    """Lines to copy."""

    text: str


Block = Heading | Paragraph | Bullets | Table | Picture | Code
