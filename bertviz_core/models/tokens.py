"""A uniform interface to tokenizers: special tokens, the frame of a segment, and the pieces of words."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from bertviz_core.corpora.source import replace_surrogates
from bertviz_core.errors import InputError

# Where a huge text may be cut, the best place first: no tokenizer joins words across a single space.
CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
CUTS = (
    re.compile(r"(?<=\w) (?=\w)"),
    re.compile(r"(?=\s)"),
    re.compile(rf"(?=[^\w\s]|[_{CJK}])|(?<=[^\w\s])|(?<=[_{CJK}])"),
)
SPACE_MARKS = "Ġ▁"  # a leading space in byte-level BPE and in SentencePiece
# Byte-level BPE writes each byte as a character: printable ones as they are, the others from U+0100 on.
PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
BYTES = {chr(byte): byte for byte in PRINTABLE}
BYTES |= {chr(256 + n): byte for n, byte in enumerate(sorted(set(range(256)) - set(PRINTABLE)))}
BYTE = re.compile("<0x([0-9A-F]{2})>")  # a byte for which a SentencePiece vocabulary has no piece
AT_ONCE = 50_000  # characters for one call of the tokenizer, which needs some 300 bytes for each
MAX_CACHED_LENGTH = 100  # of a word, in letters


class Tokens:
    """A tokenizer with what the analyses need; ids are None where the tokenizer has no such token."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = t = tokenizer
        self.cls: int | None = t.cls_token_id
        self.sep: int | None = t.sep_token_id
        self.unk: int | None = t.unk_token_id
        self.mask: int | None = t.mask_token_id
        self.pad: int = t.pad_token_id if t.pad_token_id is not None else 0
        self.unknown: int = self.pad if self.unk is None else self.unk  # for what has no token
        vocabulary = t.get_vocab()
        self._reserved = set(t.all_special_ids)
        self.special = np.array(sorted(self._reserved), dtype=np.int64)
        self.ordinary = np.setdiff1d(np.array(list(vocabulary.values()), dtype=np.int64), self.special)
        self.punctuation = np.array([i for token, i in vocabulary.items() if token.strip(SPACE_MARKS) in (".", ",")])
        backend = getattr(t, "backend_tokenizer", None)
        # "##", which WordPiece writes before a piece that continues a word; "" for other tokenizers.
        self.prefix: str = getattr(getattr(backend, "model", None), "continuing_subword_prefix", None) or ""
        self._cached_encode = lru_cache(100_000)(self.encode)
        self.single = _around(t("a", verbose=False))  # special ids before and after a lone A
        self.frame = _around(t("a", "a", verbose=False))  # before A, between A and B, after B
        bare, after_space, two = (self.names(self.encode(text)) for text in ("a", " a", "a a"))
        marks = tuple(SPACE_MARKS)
        self.byte_level = any(name.startswith("Ġ") for name in after_space)  # names are in BYTES
        # Whether names show where words begin, and whether only after a space, not at a text's start
        self.marks_spaces = any(name.startswith(marks) for name in two[1:])
        self.spaced = self.marks_spaces and not any(name.startswith(marks) for name in bare[:1])

    def encode(self, text: str) -> list[int]:
        """Ids without special tokens; "[SEP]" in a text stays text. Raises InputError for a word of absurd length."""
        options = {"add_special_tokens": False, "split_special_tokens": True, "return_attention_mask": False}
        ids = list[int]()
        for part in _parts(replace_surrogates(text)):
            ids += self.tokenizer(part, **options, verbose=False)["input_ids"]
        # A SentencePiece vocabulary has "<sep>" as a piece like any other, and finds it in the text.
        return [self.unknown if i in self._reserved else i for i in ids]

    def names(self, ids: Sequence[int] | np.ndarray) -> list[str]:
        """As the vocabulary writes them."""
        return self.tokenizer.convert_ids_to_tokens([int(i) for i in ids])

    def bytes_of(self, name: str) -> bytes:
        """The bytes of text that a token stands for, of a vocabulary that marks spaces."""
        if self.byte_level:
            return bytes(BYTES[c] for c in name) if BYTES.keys() >= set(name) else name.encode(errors="replace")
        byte = BYTE.fullmatch(name)
        return bytes.fromhex(byte[1]) if byte else name.replace("▁", " ").encode(errors="replace")

    def ids(self, names: Sequence[str]) -> tuple[list[int], int]:
        """The ids of tokens given by name, and how many of them the vocabulary lacks (they become unknown)."""
        numbers = self.tokenizer.convert_tokens_to_ids(list(names))
        known = self.tokenizer.unk_token
        lacking = sum(i in (None, self.unk) and name != known for i, name in zip(numbers, names, strict=True))
        return [self.unknown if i is None else i for i in numbers], lacking

    def pieces(self, word: str) -> list[int]:
        """A word's ids, cut on its own and never joined to its neighbors; [] where it cleans to nothing."""
        text = f" {word}" if self.spaced else word
        return self._cached_encode(text) if len(word) <= MAX_CACHED_LENGTH else self.encode(text)


def _parts(text: str) -> Iterator[str]:
    """A huge text in parts of AT_ONCE characters, or up to twice as many where it cannot be cut before."""
    start = 0
    while len(text) - start > AT_ONCE:
        first = start + AT_ONCE
        last = first + AT_ONCE
        cut = next((match.start() for kind in CUTS if (match := kind.search(text, first, last))), None)
        if cut is None and len(text) <= last:
            break
        if cut is None:
            what = f"A word of more than {AT_ONCE:,} letters cannot be read: {text[first : first + 40]!r}."
            raise InputError(what, hint="Write spaces between words.")
        yield text[start:cut]
        start = cut
    yield text[start:]


def _around(encoding: Any) -> list[list[int]]:
    """The special ids before, between and after the parts: `[CLS] a [SEP] a [SEP]` gives [[CLS], [SEP], [SEP]]."""
    runs: list[list[int]] = [[]]
    previous = None
    for token, part in zip(encoding["input_ids"], encoding.sequence_ids(0), strict=True):
        if part is None:
            runs[-1].append(token)
        elif part != previous:
            runs.append([])
            previous = part
    return runs
