"""Sentences of a treebank as encoded examples: `[CLS] words [SEP]`, words and pieces aligned.

Definitions: docs/methods.md, sections 1 and 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.treebank.reader import Treebank
from bertviz_core.corpora.treebank.trees import Sentence
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.segments import encode_words
from bertviz_core.models.tokens import Tokens
from bertviz_core.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedSentence(Encoded):
    """An encoded sentence with its words, governors and relations."""

    sentence: Sentence


@dataclass
class Sentences:
    """The encoded sentences of a treebank, made anew on every iteration; counts what it left out as it goes."""

    source: Source
    tokens: Tokens
    settings: Settings
    skipped: Skipped = field(default_factory=Skipped)
    words: int = 0
    split_words: int = 0

    unit: ClassVar[str] = "sentences"

    def __post_init__(self) -> None:
        self.treebank = Treebank(self.source)

    def __iter__(self) -> Iterator[EncodedSentence]:
        self.skipped, self.words, self.split_words = Skipped(), 0, 0
        return islice(self._encoded(), self.settings.limit)

    def counts(self) -> dict[str, Any]:
        """What the treebank holds, as far as the last iteration came: `split_words` are those in several pieces."""
        return {"format": self.treebank.format, "words": self.words, "split_words": self.split_words}

    def _encoded(self) -> Iterator[EncodedSentence]:
        maximum = self.settings.max_length
        for sentence in self.treebank.sentences(self.skipped):
            noted = Skipped()
            encoded = encode_words(sentence.words, self.tokens, sentence.number, sentence.where, noted)
            if len(encoded) > maximum:
                self.skipped.add(f"a sentence of more than {maximum} tokens", sentence.where)
                continue
            for reason, entry in noted.reasons.items():
                self.skipped.add(reason, sentence.where, entry["count"])
            pieces = np.bincount(np.asarray(encoded.words) + 1)[1:]  # the special tokens' -1 counted apart
            self.words, self.split_words = self.words + len(pieces), self.split_words + int((pieces > 1).sum())
            yield EncodedSentence(
                encoded.number, encoded.where, encoded.ids, encoded.types, encoded.words, sentence=sentence
            )
