"""One input, run alone: a text, a pair or a segment, with tokens masked or not, its attention maps, and predictions for
its masked tokens (docs/methods.md, section 10)."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import isqrt
from typing import Any

import numpy as np

from bertviz_core.errors import InputError
from bertviz_core.models.attention import forward
from bertviz_core.models.encoding import Encoded, collate, framed
from bertviz_core.models.labels import Layout, labels_of, layout_of, relabel, token_labels, visible
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.tokens import Tokens
from bertviz_core.settings import Settings

TOP = 5  # predictions shown for a masked token
MAX_BYTES = 512 << 20  # of one input's maps, which are all in memory: BERT-large's on 512 tokens have 384 MB


@dataclass(frozen=True)
class OneInput:
    """An encoded input with its labels.

    Attributes:
        example: What the model reads.
        layout: The labels of its tokens and words.
        cut: Tokens at its end that did not fit.
    """

    example: Encoded
    layout: Layout
    cut: int = 0

    def digest(self) -> str:
        """sha256 (hex) of what the model sees: equal inputs, equal digests."""
        return hashlib.sha256(self.example.ids.tobytes() + b"/" + self.example.types.tobytes()).hexdigest()

    def can_mask(self, position: int, tokens: Tokens) -> bool:
        """Whether the model has a [MASK] and a token that is not special stands at `position`, from 0."""
        return (
            tokens.mask is not None and 0 <= position < len(self.example) and not self.layout.tokens.special[position]
        )


def from_text(text: str, second: str, tokens: Tokens, settings: Settings, *, pre_split: bool = False) -> OneInput:
    """`[CLS] A [SEP]`, or `[CLS] A [SEP] B [SEP]` where there is a second text; what is too long loses the end of its
    longer side. pre_split: words are what stands between spaces, each cut into pieces on its own, as in treebanks.

    Raises InputError for a text in which the tokenizer finds nothing.
    """
    texts = [part for part in (text, second) if part.strip()]
    sides = [_word_pieces(part, tokens) if pre_split else [tokens.encode(part)] for part in texts]
    if not any(chain(*sides)):
        raise InputError("There is no token in this text.", hint="Write a sentence.")
    frame = tokens.frame if len(sides) == 2 else tokens.single
    lengths = [sum(map(len, side)) for side in sides]
    selected = _fit(lengths, settings.max_length - sum(map(len, frame)))
    cut = [_cut(side, length) for side, length in zip(sides, selected, strict=True)]
    ids, types, owners = framed(cut, frame, 0 if settings.paper else 1)
    example = Encoded(0, "the text", ids, types, owners if pre_split else None)
    begin = len(frame[0]) + selected[0] + len(frame[1]) if len(sides) == 2 else len(example)
    layout = layout_of(example, tokens, begin)
    if pre_split:
        layout = _labeled(layout, example, " ".join(texts).split())
    unknown = [_unknown_words(text.split(), tokens) if pre_split else tokens.unknown_parts(text) for text in texts]
    layout = _with_unknown(layout, (example.ids == tokens.unk) & ~layout.tokens.special, unknown)
    return OneInput(example, layout, sum(lengths) - sum(selected))


def mask(original: OneInput, positions: Sequence[int], tokens: Tokens) -> OneInput:
    """The tokens at `positions` replaced by the model's [MASK]; raises InputError where that cannot be."""
    wrong = [p for p in positions if not original.can_mask(p, tokens)]
    if wrong:
        raise InputError(
            f"Position {wrong[0] + 1} has no token that this model can mask.",
            hint=f"Choose a non-special token from 1 to {len(original.example)}, and a model with a mask token.",
        )
    ids = original.example.ids.copy()
    ids[list(positions)] = tokens.mask
    labels, words = labels_of(ids, original.layout.owner, tokens)
    unmasked = zip(original.layout.tokens.labels, labels, ids != tokens.mask, strict=True)
    labels = tuple(before if same else now for before, now, same in unmasked)
    merged = list(original.layout.words.labels)
    for word in set(original.layout.owner[list(positions)]):
        whole = (ids[original.layout.owner == word] == tokens.mask).all()
        merged[word] = token_labels(np.array([tokens.mask]), tokens)[0] if whole else words[word]
    return OneInput(replace(original.example, ids=ids), relabel(original.layout, labels, tuple(merged)), original.cut)


def attention(model: AttentionModel, example: Encoded) -> np.ndarray:
    """(layer, head, query, key) float32 between the tokens of one input; raises InputError where that takes more than
    MAX_BYTES."""
    size = len(example)
    each = 4 * model.layers * model.heads  # bytes, of one query and one key
    needed = each * size**2
    if needed > MAX_BYTES:
        raise InputError(
            f"The attention maps of {size:,} tokens take {needed / 1e6:,.0f} MB with this model; at most "
            f"{MAX_BYTES / 1e6:,.0f} MB are allowed.",
            hint=f"Choose a maximum length of {isqrt(MAX_BYTES // each):,} tokens or less.",
        )
    maps = np.empty((model.layers, model.heads, size, size), dtype=np.float32)

    def observe(observed: Any) -> None:
        maps[observed.layer] = observed.weights[0].cpu().numpy()

    forward(model, collate([example], model.tokens, model.device), observe)
    return maps


def _word_pieces(text: str, tokens: Tokens) -> list[list[int]]:
    """A word that cleans to nothing is unknown, so that words and rows stay aligned."""
    return [tokens.pieces(word) or [tokens.unknown] for word in text.split()]


def _fit(lengths: Sequence[int], budget: int) -> list[int]:
    """Number of tokens that each side may have."""
    selected = list(lengths)
    while sum(selected) > budget:
        selected[selected.index(max(selected))] -= 1
    return selected


def _cut(side: list[list[int]], length: int) -> Iterator[list[int]]:
    """The pieces of a side's words, `length` of them in all."""
    for pieces in side:
        yield pieces[:length]
        length = max(0, length - len(pieces))


def _labeled(layout: Layout, example: Encoded, words: Sequence[str]) -> Layout:
    """Words labeled by what was given, which the tokenizer may have cleaned or not known."""
    pairs = zip(np.asarray(example.words)[layout.words.start], layout.words.labels, strict=True)
    labels = tuple(visible(words[word]) if word >= 0 else label for word, label in pairs)
    return relabel(layout, layout.tokens.labels, labels)


def _unknown_words(words: Sequence[str], tokens: Tokens) -> list[str]:
    """What each [UNK] stands for among words that are cut into pieces on their own; a whole word that has no piece."""
    return list(chain.from_iterable(tokens.unknown_parts(w) if tokens.pieces(w) else [w] for w in words))


def _with_unknown(layout: Layout, unknown: np.ndarray, parts: Sequence[Sequence[str]]) -> Layout:
    """[UNK], where `unknown` (token,) says so, with the text that it stands for, in tokens and in words; `parts` has
    these texts of each side, of which those at its end may have been cut off."""
    tokens, words = list(layout.tokens.labels), list(layout.words.labels)
    for side, texts in enumerate(parts):
        for position, part in zip(np.flatnonzero(unknown & (layout.tokens.side == side)), texts, strict=False):
            word = layout.owner[position]
            if words[word] == tokens[position]:
                words[word] = f"{tokens[position]} {visible(part)}"
            tokens[position] = f"{tokens[position]} {visible(part)}"
    return relabel(layout, tuple(tokens), tuple(words))


@dataclass(frozen=True)
class Prediction:
    """The model's prediction for one masked position.

    Attributes:
        position: From 0.
        original: Label of the token that was masked.
        probability: Probability of the original token.
        rank: Rank of the original token, from 1.
        best: (label, probability) of the TOP likeliest tokens, the likeliest first.
    """

    position: int
    original: str
    probability: float
    rank: int
    best: tuple[tuple[str, float], ...]


def predict(
    model: AttentionModel, original: OneInput, masked: OneInput, off: np.ndarray | None = None
) -> tuple[Prediction, ...]:
    """What the model's MLM head says at every position where the two differ; () for a model without one. The outputs
    of heads in `off`, (layer, head) bool, are replaced by zeros (docs/methods.md, section 12)."""
    import torch

    from bertviz_core.models.ablation import SwitchedOff

    positions = np.flatnonzero(original.example.ids != masked.example.ids)
    if model.language_model is None or not len(positions):
        return ()
    batch = collate([masked.example], model.tokens, model.device)
    without = {} if off is None else {"combine": SwitchedOff(torch.from_numpy(off)[None].to(model.device))}
    with torch.inference_mode():
        logits = model.language_model(**batch.inputs(model), **without).logits[0, positions]
    shares = logits.float().softmax(-1).cpu().numpy()  # (position, vocabulary)
    return tuple(_prediction(int(p), row, original, model.tokens) for p, row in zip(positions, shares, strict=True))


def _prediction(position: int, shares: np.ndarray, original: OneInput, tokens: Tokens) -> Prediction:
    was = original.example.ids[position]
    best = np.argsort(-shares, kind="stable")[:TOP]
    labels = token_labels(best, tokens)
    return Prediction(
        position,
        original.layout.tokens.labels[position],
        float(shares[was]),
        int((shares > shares[was]).sum()) + 1,
        tuple((label, float(shares[i])) for label, i in zip(labels, best, strict=True)),
    )
