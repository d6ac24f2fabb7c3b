"""A uniform interface to tokenizers: special tokens, the frame of a segment, and the pieces of words."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from bertviz_core.corpora.source import replace_surrogates
from bertviz_core.errors import InputError
from bertviz_core.inputs.tokenizer_backends import any_of, cut, frame_of, special_names
from bertviz_core.text_display import visible

# Where a huge text may be cut, the best place first: no tokenizer joins words across a single space.
CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
CUTS = (
    re.compile(r"(?<=\w) (?=\w)"),
    re.compile(r"(?=\s)"),
    re.compile(rf"(?=[^\w\s]|[_{CJK}])|(?<=[^\w\s])|(?<=[_{CJK}])"),
)
SPACE_MARKS = "Ġ▁ "  # a leading space in byte-level BPE, in SentencePiece, and as a token of its own (ByT5)
SPACE_TOKEN = "   "  # a space that is a token of its own, as in ByT5, between two others
WORD_END = "</w>"  # after the last piece of a word (XLM, Flaubert, OpenAI GPT)
JOINT = "@@"  # after each piece of a word but the last (PhoBERT, BERTweet, CTRL)
# Byte-level BPE writes each byte as a character: printable ones as they are, the others from U+0100 on.
PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
BYTES = {chr(byte): byte for byte in PRINTABLE}
BYTES |= {chr(256 + n): byte for n, byte in enumerate(sorted(set(range(256)) - set(PRINTABLE)))}
BYTE = re.compile("<0x([0-9A-F]{2})>")  # a byte for which a SentencePiece vocabulary has no piece
CALL_CHARACTERS = 50_000  # characters for one call of the tokenizer, which needs some 300 bytes for each
MAX_CACHED_LENGTH = 100  # letters of the longest word that is cached


class Tokens:
    """A tokenizer with what the analyses need; ids are None where the tokenizer has no such token.

    Attributes:
        tokenizer: That of transformers.
        cls: The id of [CLS] or what stands for it.
        sep: The id of [SEP].
        unk: The id of [UNK].
        mask: The id of [MASK].
        pad: The id of padding; 0 without one.
        unknown: The id that stands for text without a token.
        special: (token,) ids of all special tokens, with those of the frames.
        structural: (token,) ids of those that stand for no word: not [MASK] and [UNK], where these are nothing else.
        ordinary: (token,) ids of all others, without those that were added to the vocabulary, which may be untrained.
        punctuation: (token,) ids of full stops and commas.
        prefix: What stands before a piece that continues a word; empty for none.
        suffix: What stands at the end of a word, or of a piece that the next one continues; empty where nothing does.
        one_text: Whether two texts are one to the model, which begins and ends once.
        single: The special ids before and after a lone segment A.
        frame: The special ids before A, between A and B, and after B; those of `single` where two texts are one.
        byte_level: Whether names are written in BYTES.
        marks_spaces: Whether names show where words begin.
        spaced: Whether they do so only after a space, not at the start of a text.
        bytes_as_letters: Whether a name is the letters whose numbers are its bytes, as in ByT5.
    """

    def __init__(self, tokenizer: Any, *, one_text: bool = False) -> None:
        """Look at a tokenizer; `one_text` says that two texts are one to its model, as to decoders."""
        self.tokenizer = t = tokenizer
        self.one_text = one_text
        self.cls: int | None = t.cls_token_id
        self.sep: int | None = t.sep_token_id
        self.unk: int | None = t.unk_token_id
        self.mask: int | None = t.mask_token_id
        self.pad: int = t.pad_token_id if t.pad_token_id is not None else 0
        self.unknown: int = self.pad if self.unk is None else self.unk
        vocabulary = t.get_vocab()
        self.single = frame_of(t, pair=False)
        self.frame = self.single if one_text else frame_of(t, pair=True)
        # Those around a text are special, also where the tokenizer does not name them, such as codes of languages.
        self._reserved = {*t.all_special_ids, *chain(*self.single, *self.frame)}
        self.special = np.array(sorted(self._reserved), dtype=np.int64)
        self.structural = np.array(sorted(self._reserved - self._of_words()), dtype=np.int64)
        self._added = set(t.get_added_vocab())  # written as text, not in BYTES
        learned = [i for token, i in vocabulary.items() if token not in self._added] or list(vocabulary.values())
        self.ordinary = np.setdiff1d(np.array(learned, dtype=np.int64), self.special)
        candidates = [each for each in vocabulary if "." in each or "," in each]  # Few are looked at closely.
        self.punctuation = np.array([vocabulary[each] for each in candidates if _bare(each) in (".", ",")])
        self._spelled = any_of(special_names(t))
        self.prefix = _prefix(t, vocabulary)
        self._cached_encode = lru_cache(100_000)(self.encode)
        bare, after_space, two = (self.names(self.encode(text)) for text in ("a", " a", "a a"))
        marks = tuple(SPACE_MARKS)
        self.byte_level = any(name.startswith("Ġ") for name in after_space)
        self.marks_spaces = any(name.startswith(marks) for name in two[1:])
        self.spaced = self.marks_spaces and not any(name.startswith(marks) for name in bare[:1])
        self.bytes_as_letters = not self.byte_level and self.names(self.encode("é"))[-2:] == ["Ã", "©"]
        self.suffix = "" if self.prefix or self.marks_spaces else _suffix(t, vocabulary)

    def _of_words(self) -> set[int | None]:
        """The special tokens that stand for words: [MASK] and [UNK], where they do not begin, end or pad a text too."""
        t = self.tokenizer
        others = (t.bos_token_id, t.eos_token_id, t.pad_token_id, self.cls, self.sep)
        return {self.mask, self.unk} - {*others, *chain(*self.single, *self.frame)}

    def encode(self, text: str) -> list[int]:
        """Ids without special tokens; "[SEP]" in a text stays text.

        Raises:
            InputError: A word is of absurd length, or the tokenizer cannot read the text.
        """
        ids: list[int | None] = []
        for part in _parts(replace_surrogates(text)):
            try:
                ids += cut(self.tokenizer, part, self._spelled)
            except Exception as error:  # The tokenizer's own code may raise anything.
                kind = type(self.tokenizer).__name__
                what = f"The model's tokenizer ({kind}) cannot read {part[:40]!r} ({type(error).__name__}: {error})."
                raise InputError(what, hint="Choose another model, or take this text out.") from error
        # A SentencePiece vocabulary has "<sep>" as a piece like any other, and finds it in the text.
        return [self.unknown if i is None or i in self._reserved else i for i in ids]

    def spelled(self, text: str) -> int:
        """How many special tokens a text spells out, such as "[SEP]"; `encode` reads them as letters."""
        return sum(1 for _ in self._spelled.finditer(text))

    def names(self, ids: Sequence[int] | np.ndarray) -> list[str]:
        """The tokens of (token,) ids as the vocabulary writes them."""
        numbers = [int(i) for i in ids]
        pieces = self.tokenizer.convert_ids_to_tokens(numbers)
        # A model's table may be longer than the vocabulary, and an untrained row the likeliest.
        return [f"[{i}]" if piece is None else piece for i, piece in zip(numbers, pieces, strict=True)]

    def bytes_of(self, name: str) -> bytes:
        """The bytes of text that a token stands for, of a vocabulary that marks spaces."""
        if name in self._added:
            return name.encode(errors="replace")
        if self.bytes_as_letters and max(name, default="") < "\u0100":
            return name.encode("latin-1")
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
    """A huge text in parts of CALL_CHARACTERS characters, or up to twice as many where it cannot be cut before."""
    start = 0
    while len(text) - start > CALL_CHARACTERS:
        first = start + CALL_CHARACTERS
        last = first + CALL_CHARACTERS
        cut = next((match.start() for kind in CUTS if (match := kind.search(text, first, last))), None)
        if cut is None and len(text) <= last:
            break
        if cut is None:
            what = f"A word of more than {CALL_CHARACTERS:,} letters cannot be read: {text[first : first + 40]!r}."
            raise InputError(what, hint="Write spaces between words.")
        yield text[start:cut]
        start = cut
    yield text[start:]


def _prefix(tokenizer: Any, vocabulary: dict[str, int]) -> str:
    """ "##", which WordPiece writes before a piece that continues a word; "" for other tokenizers."""
    if not tokenizer.is_fast:
        return "##" if any(len(token) > 2 and token.startswith("##") for token in vocabulary) else ""
    return getattr(tokenizer.backend_tokenizer.model, "continuing_subword_prefix", None) or ""


def _suffix(tokenizer: Any, vocabulary: dict[str, int]) -> str:
    """WORD_END or JOINT, or ""."""
    if tokenizer.is_fast:
        return getattr(tokenizer.backend_tokenizer.model, "end_of_word_suffix", None) or ""
    marks = (mark for mark in (WORD_END, JOINT) if any(token.endswith(mark) for token in vocabulary))
    return next(marks, "")


def _bare(token: str) -> str:
    """A token without marks of spaces and ends of words."""
    return token.removesuffix(WORD_END).strip(SPACE_MARKS)


def joined_pieces(tokens: str) -> str:
    """Tokens with spaces between them as text, in which the pieces of a word are joined."""
    marked = tokens.replace(SPACE_TOKEN, " ▁ ")
    names = marked.split(" ") if "Ġ" in marked or "▁" in marked else []
    is_byte_level = _is_byte_level(names)
    if is_byte_level or any(name.startswith("▁") for name in names):
        text = b"".join(_bytes_of(name, is_byte_level=is_byte_level) for name in names).decode(errors="replace")
        return " ".join(text.split())
    return re.sub(r"(?<!\]) ##", "", tokens)  # [CLS] and [SEP] have no further pieces


def read_names(names: Sequence[str]) -> tuple[str, ...]:
    """Tokens of one vocabulary as `labels.token_labels` shows them, by their names alone."""
    is_byte_level = _is_byte_level(names)
    return tuple(_read(name, is_byte_level=is_byte_level) for name in names)


def distinct_labels(names: Sequence[str]) -> list[str]:
    """Different tokens of one vocabulary as `read_names` has them; of those that read alike, those that begin with a
    space show it.

    >>> distinct_labels(["Ġthe", "Ġa", "a", "<s>"])
    ['the', '␣a', 'a', '<s>']
    """
    labels = read_names(names)
    count = Counter(labels)
    return [
        f"␣{label}" if count[label] > 1 and name.startswith(("Ġ", "▁")) else label
        for name, label in zip(names, labels, strict=True)
    ]


@lru_cache(100_000)  # a page has dozens of inputs of the same few hundred tokens
def _read(name: str, *, is_byte_level: bool) -> str:
    """The text of a token, made visible; bytes in hexadecimal where they are no whole character."""
    written = _bytes_of(name, is_byte_level=is_byte_level)
    try:
        text = written.decode()
    except UnicodeDecodeError:
        return "".join(f"<0x{byte:02X}>" for byte in written)
    return visible(text.strip() or text)


def _is_byte_level(names: Iterable[str]) -> bool:
    """Whether names are written in BYTES; a lone Ġ may be the letter of a WordPiece vocabulary."""
    return any(name.startswith("Ġ") and len(name) > 1 for name in names)


def _bytes_of(name: str, *, is_byte_level: bool) -> bytes:
    """The bytes of a token's text, as `Tokens.bytes_of` has them, without the tokenizer."""
    if is_byte_level and BYTES.keys() >= set(name):
        return bytes(BYTES[letter] for letter in name)
    byte = BYTE.fullmatch(name)
    text = name.removesuffix(WORD_END) or name
    return bytes.fromhex(byte[1]) if byte else text.replace("▁", " ").encode(errors="replace")
