"""Coreference corpora: documents with the chains of mentions that refer to the same thing, in any of the formats of
corpora/formats.py, recognized from their content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from bertviz_core.corpora import formats
from bertviz_core.corpora.coreference import jsonlines
from bertviz_core.corpora.coreference.documents import CoreferenceDocument
from bertviz_core.corpora.formats import Format
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.errors import InputError

HINT = f"Give {formats.names('coreference')}."


@dataclass(frozen=True)
class CoreferenceCorpus:
    """Documents, read again and one at a time on every pass.

    Opening raises InputError for a source that has none of the formats.

    Attributes:
        source: The file.
        predicted: Whether to take the chains that a system predicted in place of the gold ones, where it has both.
    """

    source: Source
    predicted: bool = False
    _format: Format = field(init=False)

    def __post_init__(self) -> None:
        known = formats.known("coreference", self.source.start.format)
        object.__setattr__(self, "_format", known or _recognize(self.source))

    @property
    def format(self) -> str:
        """The name of what was recognized."""
        return self._format.name

    def documents(self, skipped: Skipped) -> Iterator[CoreferenceDocument]:
        """Every document; what cannot be shown is counted in `skipped`, what is broken raises InputError."""
        documents: Iterator[CoreferenceDocument]
        if self.predicted and self._format.read is jsonlines.documents:
            documents = jsonlines.documents(self.source, skipped, predicted=True)
        else:
            documents = self._format.read(self.source, skipped)
        return documents


def check_coreference(source: Source) -> None:
    """Read it once to its end; raises InputError for a file that cannot be read, or in which nothing corefers."""
    corpus = CoreferenceCorpus(source)
    chained = False
    for document in corpus.documents(Skipped()):
        chained = chained or len({mention.cluster for mention in document.mentions}) < len(document.mentions)
    if not chained:
        raise InputError(
            f"Read as {corpus.format}, the file has no chain of two mentions.", where=source.name, hint=HINT
        )


def _recognize(source: Source) -> Format:
    """The format, from the first line that is neither blank nor a comment, and the comments before it."""
    lines = []
    for number, text in source.lines():
        if text.strip():
            lines.append((number, text))
            if not text.startswith("#"):
                break
    if not lines or lines[-1][1].startswith("#"):
        raise InputError("The file contains no words.", where=source.name, hint=HINT)
    recognized = formats.recognize("coreference", lines)
    if recognized is None:
        raise InputError("This is not a coreference file.", where=source.name, hint=HINT)
    return recognized
