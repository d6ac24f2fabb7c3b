"""Inputs as they are shown: a title, a text or a drawing, and how the attention viewer opens them."""

from typing import NamedTuple


class Opened(NamedTuple):
    """An input of the text corpus as the attention viewer opens it.

    Attributes:
        segment: Its number, from 0.
        query: The position of the query that is pinned, from 0; None for none.
        key: The position of the pinned key, from 0; None for none.
    """

    segment: int
    query: int | None = None
    key: int | None = None


class OpenedWords(NamedTuple):
    """An input that is split into words, as the attention viewer opens it.

    Attributes:
        pinned: Words that are pinned, from 0.
        direction: The direction in which the head is read, which decides the side of the pins: 0 or 1.
        every_line: Whether lines of any weight are drawn.
    """

    words: tuple[str, ...]
    where: str
    pinned: tuple[int, ...] = ()
    direction: int = 0
    every_line: bool = False


class Example(NamedTuple):
    """An input as it is shown.

    Attributes:
        title: Where it is, and what is shown of it.
        svg: The drawing; empty where the text is all that is shown.
        notes: A line for each thing that is pointed out in it.
        opened: Where the attention viewer opens it; None where that is not known.
        marked: The characters of the text that it is about, as start and end; None for all of it.
        links: In place of the notes on the screen: texts, and what the attention viewer opens of each.
    """

    title: str
    text: str
    svg: str = ""
    notes: tuple[str, ...] = ()
    opened: Opened | OpenedWords | None = None
    marked: tuple[int, int] | None = None
    links: tuple[tuple[str, OpenedWords], ...] = ()
