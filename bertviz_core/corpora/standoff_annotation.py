"""Recognizes standoff annotation, which is kept in another file than its text, and says what to give in its place."""

import re
from typing import NamedTuple

from bertviz_core.corpora.format_sampling import Survey

OF_LITBANK = re.compile(r"(?:MENTION|COREF|COP|APPOS)\tT?\S+\t")
OF_BRAT = re.compile(r"T\d+\t\S+ \d+ \d+(?:;\d+ \d+)*\t|(?:[REAM#]\d+|\*)\t\S+ ")
MMAX_TAG = re.compile(r"\s*<(?:\?xml|!DOCTYPE (?:markables|words)|/?(?:markables?|words?|mmax_project))\b")
MMAX = re.compile(r"<(?:!DOCTYPE )?(?:markables|mmax_project)\b|<word id=\"word_")
GIVE_COLUMNS = "Give the same corpus in columns, with words and chains in one file"


class StandOff(NamedTuple):
    """A format that cannot be read, since its annotations stand in another file than its words.

    Attributes:
        what: What the file is, as the end of a sentence.
        hint: What to do.
    """

    what: str
    hint: str


LITBANK = StandOff(
    "annotation of coreference as LitBank's .ann has it, whose words are in the .tsv and .txt files beside it",
    f"{GIVE_COLUMNS}: LitBank's folder coref/conll.",
)
BRAT = StandOff(
    "annotation of brat (.ann), which counts letters of a .txt file beside it",
    f"{GIVE_COLUMNS}, such as CoNLL-2012 or CorefUD; brat's tools export some of them.",
)
OF_MMAX = StandOff(
    "XML of MMAX2, as ARRAU and WikiCoref are published, with words and mentions in several files",
    f"{GIVE_COLUMNS}: WikiCoref has its files of CoNLL beside them, ARRAU's are those of Universal Anaphora (CorefUD).",
)


def find_stand_off(found: Survey) -> StandOff | None:
    """Which of these most rows of a file are; None for another file."""
    for kind, pattern in ((LITBANK, OF_LITBANK), (BRAT, OF_BRAT)):
        if 2 * found.share_of_rows(pattern.match) > 1:
            return kind
    has_tags = 2 * found.share_of_rows(MMAX_TAG.match) > 1 and any(map(MMAX.search, found.texts))
    return OF_MMAX if has_tags else None
