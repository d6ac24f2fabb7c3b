"""Coreference corpora: documents with the chains of mentions that refer to the same thing.

The format is recognized from the content: CoNLL-2012 (12 or more columns), LitBank's 13 columns, 3 columns (index,
token, chains), the reference scorer's test cases (5 or 2 columns), CorefUD (CoNLL-U with `Entity=` in MISC), the
jsonlines of the end-to-end systems, and GAP's table of a pronoun and two names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bertviz_core.corpora.coreference import columns, corefud, gap, jsonlines
from bertviz_core.corpora.coreference.documents import CoreferenceDocument
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.errors import InputError

Reader = Callable[[Source, Skipped], Iterator[CoreferenceDocument]]
HINT = "Give CoNLL-2012, LitBank, 3 columns (index, token, chains), CorefUD, jsonlines or GAP."


@dataclass(frozen=True, slots=True)
class CoreferenceCorpus:
    """Documents, read anew and one at a time on every pass. `format` names what was recognized."""

    source: Source
    format: str
    reader: Reader

    def documents(self, skipped: Skipped) -> Iterator[CoreferenceDocument]:
        """Every document; what cannot be shown is counted in `skipped`, what is broken raises InputError."""
        return self.reader(self.source, skipped)


def read_coreference(source: Source, *, predicted: bool = False) -> CoreferenceCorpus:
    """Recognize the format; raises InputError for a source that is none of them.

    predicted: where a file has both, take the chains a system predicted instead of the gold ones.
    """
    kind = source.start.format or _recognize(source)
    if kind == "jsonlines":
        return CoreferenceCorpus(source, kind, lambda s, left: jsonlines.documents(s, left, predicted=predicted))
    readers: dict[str, Reader] = {"CorefUD": corefud.documents, "GAP": gap.documents}
    return CoreferenceCorpus(source, kind, readers.get(kind, columns.documents))


def check_coreference(source: Source) -> None:
    """Read it once to its end; raises InputError for a file that cannot be read, or in which nothing corefers."""
    corpus = read_coreference(source)
    chained = False
    for document in corpus.documents(Skipped()):
        chained = chained or len({mention.cluster for mention in document.mentions}) < len(document.mentions)
    if not chained:
        raise InputError(
            f"Read as {corpus.format}, the file has no chain of two mentions.", where=source.name, hint=HINT
        )


def _recognize(source: Source) -> str:
    """From the first line that is neither blank nor a comment, and the comments before it."""
    line = ""
    for _, line in source.lines():
        if re.match(r"#\s*(global\.Entity|newdoc|sent_id)\b", line):
            return "CorefUD"
        if line.strip() and not line.startswith("#"):
            break
    if line.startswith("{"):
        return "jsonlines"
    if line.startswith(gap.HEADER):
        return "GAP"
    fields = columns.split(line)
    if len(fields) == 10 and "\t" in line:
        return "CorefUD"
    if kind := columns.kind(fields):
        return kind
    what = (
        "The file contains no words." if not line.strip() or line.startswith("#") else "This is not a coreference file."
    )
    raise InputError(what, where=source.name, hint=HINT)
