"""Recognizes annotated files that no reader reads, and says what to give in their place: standoff annotation, which is
in another file than its words, bracketed parses, and triples of words and relations."""

import re
from typing import NamedTuple

from bertviz_core.corpora.format_sampling import Survey

OF_LITBANK = re.compile(r"(?:MENTION|COREF|COP|APPOS)\tT?\S+\t")
OF_BRAT = re.compile(r"T\d+\t\S+ \d+ \d+(?:;\d+ \d+)*\t|(?:[REAM#]\d+|\*)\t\S+ ")
MMAX_TAG = re.compile(r"\s*<(?:\?xml|!DOCTYPE (?:markables|words)|/?(?:markables?|words?|mmax_project))\b")
MMAX = re.compile(r"<(?:!DOCTYPE )?(?:markables|mmax_project)\b|<word id=\"word_")
# A row of the Penn Treebank's brackets: ( (S (NP ..., or further below (VP (VBD sat)).
TAG = r"\([A-Z][A-Z0-9$|=*-]*"
OF_BRACKETS = re.compile(rf"\s*(?:\(\s*\([A-Z]|{TAG}\s*\(|{TAG}\s+[^\s()]+\)|\([^\s()\w]+ [^\s()]+\))")
OF_TRIPLES = re.compile(r"\s*[a-z]+(?:[:_][a-z_:]+)?\(\S{1,80}-\d+'*, ?\S{1,80}-\d+'*\)\s*$")
GIVE_COLUMNS = "Give the same corpus in columns, with words and chains in one file"


class UnsupportedFormat(NamedTuple):
    """A format of annotated files that cannot be read.

    Attributes:
        what: What the file is, as the end of a sentence.
    """

    what: str
    hint: str


LITBANK = UnsupportedFormat(
    "annotation of coreference as LitBank's .ann has it, whose words are in the .tsv and .txt files beside it",
    f"{GIVE_COLUMNS}: LitBank's folder coref/conll.",
)
BRAT = UnsupportedFormat(
    "annotation of brat (.ann), which counts letters of a .txt file beside it",
    f"{GIVE_COLUMNS}, such as CoNLL-2012 or CorefUD; brat's tools export some of them.",
)
OF_MMAX = UnsupportedFormat(
    "XML of MMAX2, as ARRAU and WikiCoref are published, with words and mentions in several files",
    f"{GIVE_COLUMNS}: WikiCoref has its files of CoNLL beside them, ARRAU's are those of Universal Anaphora (CorefUD).",
)
BRACKETS = UnsupportedFormat(
    "a constituency treebank in brackets, as the Penn Treebank's .mrg files are",
    "Convert it to dependencies in CoNLL-U, as Stanford CoreNLP's UniversalDependenciesConverter does, or give its "
    "words alone.",
)
TRIPLES = UnsupportedFormat(
    "a list of relations as the Stanford parser prints them, such as det(cat-2, The-1)",
    "Let the parser write CoNLL-U (-outputFormat conllu).",
)


def find_unsupported(found: Survey) -> UnsupportedFormat | None:
    """Which of these most rows of a file are; None for another file."""
    rows = ((LITBANK, OF_LITBANK), (BRAT, OF_BRAT), (BRACKETS, OF_BRACKETS), (TRIPLES, OF_TRIPLES))
    for kind, pattern in rows:
        if 2 * found.share_of_rows(pattern.match) > 1:
            return kind
    has_tags = 2 * found.share_of_rows(MMAX_TAG.match) > 1 and any(map(MMAX.search, found.texts))
    return OF_MMAX if has_tags else None
