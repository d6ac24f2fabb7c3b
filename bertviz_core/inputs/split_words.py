"""How many words of a corpus a tokenizer splits: many where its vocabulary is one of another language."""

import re
from collections.abc import Iterator
from itertools import islice

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.annotated import CoreferenceCorpus, Treebank
from bertviz_core.corpora.authors_json import ExampleCorpus
from bertviz_core.corpora.format_detection import CJK
from bertviz_core.corpora.readers import read_text
from bertviz_core.corpora.source import Source
from bertviz_core.inputs.tokens import Tokens

SAMPLE = 2000  # words from the beginning
WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+")  # of running text, without punctuation


def split_share(kind: str, source: Source, tokens: Tokens) -> float:
    """The share, from 0 to 1, of a corpus's first words that are split into several pieces; 0 without any.

    Raises:
        InputError: The source cannot be read.
    """
    words = list(islice(_words(kind, source), SAMPLE))
    return sum(len(tokens.pieces(word)) > 1 for word in words) / max(1, len(words))


def _words(kind: str, source: Source) -> Iterator[str]:
    if kind == "treebank":
        for sentence in Treebank(source).sentences(Skipped()):
            yield from sentence.words
    elif kind == "coreference":
        for document in CoreferenceCorpus(source).documents(Skipped()):
            yield from document.words
    else:
        corpus = read_text(source)
        if isinstance(corpus, ExampleCorpus):
            for record in corpus.records():
                yield from WORD.findall(record.value) if record.form == "text" else record.value
        else:
            for paragraph in corpus.paragraphs():
                yield from WORD.findall(paragraph.text)
