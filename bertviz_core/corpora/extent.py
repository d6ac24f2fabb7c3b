"""About how many words a corpus has, from its beginning and its size."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any, BinaryIO

from bertviz_core.corpora.recognition import kinds
from bertviz_core.corpora.source import Source

READ = 4 << 20  # characters that are read; what comes after is taken to be like them
LINE = re.compile(r"^[^#\s]", re.MULTILINE)  # of a word, in columns
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff]")


@lru_cache(maxsize=64)
def words_of(source: Source) -> int:
    """Words of a text, lines of a treebank or a corpus in columns.

    Raises:
        InputError: The source cannot be read.
    """
    opened: list[BinaryIO] = []

    def opener() -> BinaryIO:
        opened.append(source.opener())
        return opened[-1]

    columns = kinds(source)[0] != "text"
    length = words = 0
    whole = True
    for piece in replace(source, opener=opener).text():
        length += len(piece)
        words += _words(piece, columns)
        if length > READ:
            whole = False
            break
    if whole:
        return max(1, words)
    return max(1, round(words * source.size / max(1, *(_position(stream) for stream in islice(opened, 1, None)))))


def _words(text: str, columns: bool) -> int:
    """Number of words of a line or a part of one: in columns a line is a word, unless it holds a whole document."""
    if columns and text.startswith("#"):
        return 0
    if columns and text.startswith("{"):
        return text.count('"') // 2
    if columns and text.count(" ") < 20:
        return len(LINE.findall(text))
    return len(text.split()) + len(CJK.findall(text))


def _position(stream: Any) -> int:
    return 0 if stream.closed else int(stream.tell())
