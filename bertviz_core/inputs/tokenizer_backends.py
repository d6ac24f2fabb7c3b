"""Fast tokenizers and those written in Python frame and cut a text in different ways: here it is done for both."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

A, B = -1, -2  # stand for the tokens of two texts


def frame_of(tokenizer: Any, *, pair: bool) -> list[list[int]]:
    """The special ids before, between and after the texts: `[CLS] a [SEP] a [SEP]` gives [[CLS], [SEP], [SEP]]."""
    if tokenizer.is_fast:
        encoding = tokenizer("a", "a", verbose=False) if pair else tokenizer("a", verbose=False)
        return _around(encoding["input_ids"], encoding.sequence_ids(0))
    # Python tokenizers put special ids around any ids.
    framed = tokenizer.build_inputs_with_special_tokens([A], [B] if pair else None)
    return _around(framed, [{A: 0, B: 1}.get(token) for token in framed])


def _around(ids: Sequence[int], texts: Sequence[int | None]) -> list[list[int]]:
    """The ids of no text, in runs before, between and after those of texts; `texts` has the text of each token."""
    runs: list[list[int]] = [[]]
    previous = None
    for token, text in zip(ids, texts, strict=True):
        if text is None:
            runs[-1].append(token)
        elif text != previous:
            runs.append([])
            previous = text
    return runs


def special_names(tokenizer: Any) -> set[str]:
    """The special tokens as a text would spell them."""
    added = (token for token in tokenizer.added_tokens_decoder.values() if token.special)
    return {*tokenizer.all_special_tokens, *map(str, added)} - {""}


def any_of(names: set[str]) -> re.Pattern[str]:
    """A pattern that finds each of these names, the longest first; one that finds nothing where there is none."""
    return re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))) if names else r"(?!)")


def cut(tokenizer: Any, text: str, special: re.Pattern[str]) -> list[int | None]:
    """Ids without special tokens, of a text that may spell some, which `special` finds; None for an unknown token."""
    if tokenizer.is_fast:
        return _ids(tokenizer, text, as_letters=True)
    # Some Python tokenizers (ESM's) find ordinary pieces only where they look for special ones too.
    ids: list[int | None] = []
    for part, is_special in _parts(text, special):
        ids += _ids(tokenizer, part, as_letters=is_special)
    return ids


def word_numbers(tokenizer: Any, text: str) -> list[int | None]:
    """The number of the word that each token of a text is in, as the tokenizer divides it before it cuts words into
    pieces; empty for a tokenizer written in Python, which does not say."""
    if not tokenizer.is_fast:
        return []
    numbers: list[int | None] = tokenizer(
        text, add_special_tokens=False, split_special_tokens=True, verbose=False
    ).word_ids()
    return numbers


def _ids(tokenizer: Any, text: str, *, as_letters: bool) -> list[int | None]:
    return tokenizer(
        text, add_special_tokens=False, split_special_tokens=as_letters, return_attention_mask=False, verbose=False
    )["input_ids"]


def _parts(text: str, special: re.Pattern[str]) -> Iterator[tuple[str, bool]]:
    """The parts of a text, none empty, and whether each is a special token that it spells."""
    end = 0
    for match in special.finditer(text):
        if match.start() > end:
            yield text[end : match.start()], False
        yield match[0], True
        end = match.end()
    if end < len(text):
        yield text[end:], False
