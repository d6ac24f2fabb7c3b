"""Whether a tokenizer cuts texts as its tokenizer.json says: classes of transformers 5 take the vocabulary from it, and
normalize and split a text in their own way."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bertviz_core.inputs.tokens import Tokens

FILE = "tokenizer.json"
CASED = 0.01  # share of a vocabulary; one of lower-cased words has none but special tokens
TRIED = 100  # pieces with capital letters
AS_IN_FILE = "write PreTrainedTokenizerFast as `tokenizer_class` into tokenizer_config.json to have it read as it is"
# Texts in which normalizers and splitters differ: case, accents, digits, punctuation, spaces, scripts, ligatures.
PROBES = (
    *("the cat sat on the mat", "The Cat Sat", "naïve café", "École", "12345", "3.14", "don't", "re-read", "foo_bar"),
    *("a, b.", "(a)", "a  b", "a\nb", "$5%", "x²", "Straße", "привет", "Αθήνα", "東京", "カタカナ", "नमस्ते"),
    *("\ufb01ne", "\uff21\uff22"),
)


def notices(tokens: Tokens, folder: Path) -> tuple[str, ...]:
    """What a reader must know of how texts are cut, in sentences."""
    return tuple(_cut_otherwise(tokens, folder)) or tuple(_lower_cased(tokens))


def _lower_cased(tokens: Tokens) -> Iterator[str]:
    """A notice where wordpieces have capital letters and the tokenizer lower-cases, as BERT's does unless told."""
    if not tokens.prefix:
        return
    tokenizer = tokens.tokenizer
    vocabulary = tokenizer.get_vocab()
    added = tokenizer.get_added_vocab()
    cased = [piece for piece in vocabulary if piece.isalpha() and piece != piece.lower() and piece not in added]
    if len(cased) < CASED * len(vocabulary):
        return
    if not any(tokens.names(tokens.encode(piece)) == [piece] for piece in cased[:TRIED]):
        yield (
            f"The tokenizer lower-cases, and {len(cased):,} pieces of its vocabulary have capitals ({cased[0]}): "
            'if the model was trained with these, write `"do_lower_case": false` into tokenizer_config.json.'
        )


def _cut_otherwise(tokens: Tokens, folder: Path) -> Iterator[str]:
    """A notice, with the first of PROBES that differs, where the file of a folder gives other pieces; else nothing."""
    path = folder / FILE
    if not (tokens.tokenizer.is_fast and path.is_file()):
        return
    written = _read(path)
    for text in PROBES:
        used = tokens.tokenizer(text, add_special_tokens=False, verbose=False).tokens()
        expected = written.encode(text, add_special_tokens=False).tokens
        if used != expected:
            yield (
                f"transformers does not cut texts as the model's {FILE} says: {text!r} becomes {_shown(used)}, by the "
                f"file {_shown(expected)}. If the model was trained with the file, {AS_IN_FILE}."
            )
            return


def _read(path: Path) -> Any:
    """The tokenizer of a file, without padding and truncation: they are of the last call before it was saved."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _shown(pieces: Sequence[str]) -> str:
    return " ".join(pieces) or "nothing"
