"""Search for sentences and passages that contain a sequence of words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bertviz_core.corpora.format_detection import CJK
from bertviz_core.corpora.readers import TextCorpus, read_text
from bertviz_core.corpora.source import Source

WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+|[^\w\s]")
CONTEXT = 70  # letters on each side of a match


@dataclass(frozen=True)
class Hit:
    """A line of a corpus with the searched words, and the text around them.

    Attributes:
        line: The number of the line, from 1; in a corpus with coreference it begins anew with each document.
        part: The index of such a document.
        record: The number of the JSON object, from 0; None in a text.
        before: The text before the words.
        match: The words as they stand there.
        after: The text after the words.
    """

    line: int
    part: int
    record: int | None
    before: str
    match: str
    after: str


def searched_words(text: str) -> list[str]:
    """The words of a search, lower case; none where nothing is searched."""
    return text.casefold().split()


def has(words: Sequence[str], searched: Sequence[str]) -> bool:
    """Whether a sentence has the searched words one after the other; a searched word may end in `*`."""
    return not searched or _first(words, searched) is not None


def search(source: Source, text: str, first: int, count: int) -> tuple[int, list[Hit]]:
    """The number of lines of a text corpus that have the searched words, and `count` of them from number `first` on."""
    searched = []
    for part in searched_words(text):  # The words are cut as those of a text; a last `*` stays.
        pieces = WORD.findall(part.rstrip("*"))
        searched += [*pieces[:-1], pieces[-1] + "*"] if pieces and part.endswith("*") else pieces
    total = restarts = last = 0
    hits = []
    for line, record, passage in _passages(source) if searched else ():
        restarts = restarts + (line <= last and record is None)
        last = line
        if searched[0].rstrip("*") not in passage.casefold():
            continue
        words = list(WORD.finditer(passage))
        at = _first([word[0] for word in words], searched)
        if at is None:
            continue
        if first <= total < first + count:
            start = words[at].start()
            end = words[at + len(searched) - 1].end()
            before = passage[max(0, start - CONTEXT) : start]
            after = passage[end : end + CONTEXT]
            hits.append(
                Hit(line=line, part=restarts, record=record, before=before, match=passage[start:end], after=after)
            )
        total += 1
    return total, hits


def _passages(source: Source) -> Iterator[tuple[int, int | None, str]]:
    """(line, number of the object, text)."""
    corpus = read_text(source)
    if isinstance(corpus, TextCorpus):
        return ((paragraph.line, None, paragraph.text) for paragraph in corpus.paragraphs())
    return ((r.line, r.number, r.value if r.form == "text" else " ".join(r.value)) for r in corpus.records())


def _first(words: Sequence[str], searched: Sequence[str]) -> int | None:
    lower = [word.casefold() for word in words]

    def matches(at: int) -> bool:
        pairs = zip(lower[at : at + len(searched)], searched, strict=True)
        return all(word.startswith(s[:-1]) if s.endswith("*") else word == s for word, s in pairs)

    return next(filter(matches, range(len(lower) - len(searched) + 1)), None)
