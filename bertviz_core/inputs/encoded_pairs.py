"""Minimal pairs as encoded examples, and which tokens of a sentence belong to which of its words."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.pairs import MinimalPair, PairCorpus
from bertviz_core.inputs.encoded_corpus import EncodedCorpus, Reading
from bertviz_core.inputs.encoding import Encoded, encode_text, framed
from bertviz_core.inputs.tokenizer_backends import word_numbers
from bertviz_core.inputs.tokens import Tokens

MAX_PAIRS = 100_000  # pairs of one run, of each of which the margins without every head are in memory
SAME = "a pair of sentences that have the same tokens, as of words that the tokenizer does not know"


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedPair(Encoded):
    """An encoded minimal pair: the tokens of the grammatical sentence, then those of the other. Its `document_number`
    is that of its unit: of its template where the file names one, of a treebank's sentence or document, else its own.

    Attributes:
        pair: The two sentences.
        sides: The two inputs, special tokens included; their `words` are not known.
    """

    pair: MinimalPair
    sides: tuple[Encoded, Encoded]


@dataclass
class Pairs(EncodedCorpus[EncodedPair]):
    """The minimal pairs of a file whose sentences both fit; others are counted."""

    unit = "pairs"

    def encoded(self, reading: Reading) -> Iterator[EncodedPair]:
        """Every pair.

        Raises:
            InputError: There are more than MAX_PAIRS.
        """
        corpus = PairCorpus(self.source)
        phenomena = set[str]()
        units: dict[tuple[str, str], int] = {}
        reading.counts |= {"format": corpus.form, "unit": "pairs"}
        for pair in corpus.pairs(reading.skipped):
            where = f"line {pair.line}"
            changed = Skipped()
            sides = [self._side(pair.number, text, where, changed) for text in (pair.good, pair.bad)]
            if max(map(len, sides)) > self.settings.max_length:
                reason = f"a pair with a sentence of more than {self.settings.max_length} tokens"
                reading.skipped.add(reason, where, unit="pairs")
                continue
            if np.array_equal(sides[0].ids, sides[1].ids):
                reading.skipped.add(SAME, where, unit="pairs")
                continue
            reading.skipped.merge(changed)
            phenomena.add(pair.phenomenon)
            reading.counts["phenomena"] = len(phenomena)
            if pair.template:
                reading.counts["unit"] = corpus.unit
            owner = pair.phenomenon if corpus.unit == "templates" else ""
            unit = units.setdefault((owner, pair.template or f"line {pair.line}"), len(units))
            if pair.number >= MAX_PAIRS:
                what = f"The file has more than {MAX_PAIRS:,} pairs."
                raise self.source.error(what, f"Read the first ones alone: limit={MAX_PAIRS}.", pair.line)
            ids, types = (np.concatenate([getattr(side, name) for side in sides]) for name in ("ids", "types"))
            yield EncodedPair(
                pair.number, where, ids, types, pair=pair, sides=(sides[0], sides[1]), document_number=unit
            )

    def _side(self, number: int, text: str, where: str, skipped: Skipped) -> Encoded:
        """One of the sentences, as the tokenizer frames it."""
        ids = encode_text(text, self.tokens, where, skipped)
        return Encoded(number, where, *framed([[ids]], self.tokens.single)[:2])


def words_of(text: str, tokens: Tokens) -> tuple[list[list[int]], list[int]]:
    """Divide the tokens of a text among its words between spaces.

    Args:
        text: With single spaces.
        tokens: The model's tokenizer.

    Returns:
        The tokens of each piece, and for each word the number of its piece. A piece is a word, or several words where
        the tokenizer joins them across a space.
    """
    ids = tokens.encode(text)
    pieces: list[list[int]] = []
    piece_of: list[int] = []
    end = 0
    beginning = ""
    for word in text.split():
        beginning = f"{beginning} {word}".lstrip()
        start = tokens.encode(beginning)
        piece_of.append(len(pieces))
        if len(start) > end and ids[: len(start)] == start:
            pieces.append(ids[end : len(start)])
            end = len(start)
    if end < len(ids):  # The last word is joined to those before it.
        pieces.append(ids[end:])
    return pieces, [min(part, len(pieces) - 1) for part in piece_of]


def own_words(text: str, tokens: Tokens) -> list[int]:
    """The number of the word that each token of a text is in, as the tokenizer divides it: many take a punctuation mark
    for a word of its own. Where it does not say, words are what stands between spaces."""
    numbers = word_numbers(tokens.tokenizer, text)
    if len(numbers) == len(tokens.encode(text)) and None not in numbers:
        return [number for number in numbers if number is not None]
    pieces, _ = words_of(text, tokens)
    return [number for number, piece in enumerate(pieces) for _ in piece]
