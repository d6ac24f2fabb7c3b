"""Sentences of a treebank as encoded examples: `[CLS] words [SEP]`, words and pieces aligned.

Definitions: docs/methods.md, sections 1 and 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np

from bertviz_core.corpora.annotated import Treebank
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Start
from bertviz_core.corpora.treebank.trees import Sentence
from bertviz_core.models.encoding import Encoded, encode_words
from bertviz_core.models.reading import Examples, Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedSentence(Encoded):
    """An encoded sentence with its words, governors and relations."""

    sentence: Sentence


@dataclass
class Sentences(Examples[EncodedSentence]):
    """The encoded sentences of a treebank; a reading's `split_words` are the words in several pieces."""

    unit: ClassVar[str] = "sentences"

    def __post_init__(self) -> None:
        self.treebank = Treebank(self.source)

    def read(self, reading: Reading) -> Iterator[EncodedSentence]:
        reading.counts |= {"format": self.treebank.form.name, "words": 0, "split_words": 0}
        return islice(self._encoded(reading), self.settings.limit)

    def _encoded(self, reading: Reading) -> Iterator[EncodedSentence]:
        maximum = self.settings.max_length
        for sentence in self.treebank.sentences(reading.skipped):
            noted = Skipped()
            encoded = encode_words(sentence.words, self.tokens, sentence.number, sentence.where, noted)
            if len(encoded) > maximum:
                reading.skipped.add(f"a sentence of more than {maximum} tokens", sentence.where)
                continue
            for reason, entry in noted.reasons.items():
                reading.skipped.add(reason, sentence.where, entry["count"])
            pieces = np.bincount(np.asarray(encoded.words) + 1)[1:]  # the special tokens' -1 counted apart
            reading.counts["words"] += len(pieces)
            reading.counts["split_words"] += int((pieces > 1).sum())
            reading.start = Start(sentence.line, -1, sentence.number, format=self.treebank.form.name)
            yield EncodedSentence(
                encoded.number, encoded.where, encoded.ids, encoded.types, encoded.words, sentence=sentence
            )
