"""One input, run alone: its attention maps, and predictions for its masked tokens (docs/methods.md, section 10)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, chain
from math import isqrt, log

import numpy as np

from bertviz_core.errors import InputError
from bertviz_core.inputs.encoding import Encoded, collate, framed
from bertviz_core.inputs.labels import Layout, labels_of, layout_of, token_labels
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.attention import LayerAttention, forward
from bertviz_core.models.model import AttentionModel, running, word_scores
from bertviz_core.models.surroundings import in_standard_arithmetic
from bertviz_core.settings import Settings
from bertviz_core.text_display import visible

TOP = 5  # predictions shown for a masked token
# Bytes of one input's maps, which are all in memory: those of BERT-large on 512 tokens have 384 MB.
MAX_BYTES = 512 << 20


@dataclass(frozen=True)
class OneInput:
    """An encoded input with its labels.

    Attributes:
        layout: Its tokens and words, with labels.
        cut: The number of tokens that were cut off.
        spelled: The number of special tokens that the text spells out, which are read as letters.
    """

    example: Encoded
    layout: Layout
    cut: int = 0
    spelled: int = 0

    def digest(self) -> str:
        """sha256 (hex) of what the model sees: equal inputs, equal digests."""
        return hashlib.sha256(self.example.ids.tobytes() + b"/" + self.example.types.tobytes()).hexdigest()

    def notices(self, model: AttentionModel) -> list[str]:
        """What a reader must know of the model and of the text as it was read, in sentences."""
        spelled = []
        if self.spelled:
            spelled.append(
                f"Special tokens that the text spells out are read as letters ({self.spelled:,} here); a JSON corpus "
                "gives them as `tokens`."
            )
        return [*model.notices, *spelled, *filter(None, [self.unknown(model.tokens)])]

    def unknown(self, tokens: Tokens) -> str:
        """What the token means that stands for text without one, as [UNK], in a sentence; empty where none stands."""
        if tokens.unk is None or tokens.unk in tokens.structural or tokens.unk not in self.example.ids:
            return ""
        (name,) = tokens.names([tokens.unk])
        return f"{name}: what the model's vocabulary lacks."

    def can_mask(self, position: int, tokens: Tokens) -> bool:
        """Whether the model has a [MASK] and a token that is not special stands at `position`, from 0."""
        special = self.layout.tokens.special
        return tokens.mask is not None and 0 <= position < len(special) and not special[position]


def from_text(
    text: str | Sequence[str],
    second: str | Sequence[str],
    tokens: Tokens,
    settings: Settings,
    *,
    pre_split: bool = False,
) -> OneInput:
    """Encode `[CLS] A [SEP]`, or `[CLS] A [SEP] B [SEP]`; the longer side loses its end if they are too long. Where
    two texts are one to the model, A and B are its lines.

    Args:
        text: A, or its words, each of which stays one whatever is in it.
        second: B, likewise; empty for none.
        tokens: The model's tokenizer.
        settings: Their maximum length and mode.
        pre_split: Whether the words of a text are what stands between spaces, as where the other one is given in words;
            else the tokenizer decides.

    Raises:
        InputError: There is no token in the text.
    """
    pre_split = pre_split or not (isinstance(text, str) and isinstance(second, str))
    written = _sides(text, second, pre_split=pre_split, one_text=tokens.one_text)
    encode = partial(_pieces, tokens=tokens) if pre_split else tokens.encode
    sides = [[encode(word) for word in words] for words in written]
    if not any(chain(*sides)):
        raise InputError("There is no token in this text.", hint="Write a sentence.")
    frame = tokens.frame if len(sides) == 2 else tokens.single
    length = sum(map(len, chain(*sides)))
    fitting = _cut(sides, settings.max_length - sum(map(len, frame)))
    ids, types, owners = framed(sides, frame, 0 if settings.paper else 1)
    example = Encoded(0, "the text", ids, types, owners if pre_split else None)
    layout = layout_of(example, tokens, second=len(frame[0]) + fitting[0] + len(frame[1]))
    if pre_split:
        layout = _with_words(layout, owners, list(chain(*written)))
    return OneInput(example, layout, length - sum(fitting), sum(map(tokens.spelled, chain(*written))))


def _sides(
    text: str | Sequence[str], second: str | Sequence[str], *, pre_split: bool, one_text: bool
) -> list[list[str]]:
    """The words of each side that has any, each side as one word where the tokenizer is to find them; a single side
    where two texts are one to the model."""
    sides = [_words(part, pre_split) for part in (text, second)]
    sides = [words for words in sides if any(word.strip() for word in words)]
    if not one_text or not sides:
        return sides
    joined = [*chain(*sides)]
    return [joined if pre_split else ["\n".join(joined)]]


def _cut(sides: list[list[list[int]]], most: int) -> list[int]:
    """Cut tokens off the end of the longer side, in place, until `most` are left; the lengths that fit."""
    fitting = [sum(map(len, side)) for side in sides]
    while sum(fitting) > most:
        fitting[fitting.index(max(fitting))] -= 1
    for side, length in zip(sides, fitting, strict=True):
        starts = accumulate(map(len, side), initial=0)
        side[:] = [pieces[: max(0, length - start)] for pieces, start in zip(side, starts, strict=False)]
    return fitting


def _with_words(layout: Layout, owners: np.ndarray, names: Sequence[str]) -> Layout:
    """The layout with words named as they were written: the tokenizer may have cleaned them, or not know them.

    Args:
        layout: The tokens and words of an input.
        owners: (token,) the number of each token's word, -1 for none.
        names: The words by number.
    """
    labels = list(layout.words.labels)
    for unit, word in enumerate(owners[layout.words.start]):
        if word >= 0:
            labels[unit] = visible(names[word])
    return replace(layout, words=replace(layout.words, labels=tuple(labels)))


def _words(part: str | Sequence[str], pre_split: bool) -> list[str]:
    """The words of a text; the text alone where the tokenizer is to find them."""
    if isinstance(part, str):
        return part.split() if pre_split else [part]
    return list(part)


def _pieces(word: str, tokens: Tokens) -> list[int]:
    """A word's ids; one that is empty or cleans to nothing is unknown, so that words and rows stay aligned."""
    return (word.strip() and tokens.pieces(word)) or [tokens.unknown]


def mask(original: OneInput, positions: Sequence[int], tokens: Tokens) -> OneInput:
    """The input with the tokens at some positions, from 0, replaced by the model's [MASK].

    Raises:
        InputError: A position has no token that can be masked, or the model has no [MASK].
    """
    for position in positions:
        if not original.can_mask(position, tokens):
            what = f"Position {position + 1} has no token that this model can mask."
            hint = f"Choose a non-special token from 1 to {len(original.example)}, and a model with a mask token."
            raise InputError(what, hint=hint)
    layout = original.layout
    ids = original.example.ids.copy()
    ids[list(positions)] = tokens.mask
    labels, merged = labels_of(ids, layout.owner, tokens)
    words = list(layout.words.labels)
    for position in positions:
        word = layout.owner[position]
        is_whole = (ids[layout.owner == word] == tokens.mask).all()
        words[word] = labels[position] if is_whole else merged[word]
    tokens_shown = replace(layout.tokens, labels=labels)
    words_shown = replace(layout.words, labels=tuple(words))
    layout = Layout(tokens_shown, words_shown, layout.owner)
    return replace(original, example=replace(original.example, ids=ids), layout=layout)


def most_tokens(layers: int, heads: int) -> int:
    """The number of tokens whose maps, four bytes a weight, have MAX_BYTES at most."""
    return isqrt(MAX_BYTES // (4 * layers * heads))


@in_standard_arithmetic
def attention(model: AttentionModel, example: Encoded) -> np.ndarray:
    """(layer, head, query, key) float32 of one input.

    Raises:
        InputError: The maps take more than MAX_BYTES.
    """
    size = len(example)
    needed = 4 * model.layers * model.heads * size**2
    if needed > MAX_BYTES:
        what = f"The attention maps of {size:,} tokens take {needed / 1e6:,.0f} MB with this model"
        hint = f"Choose a maximum length of {most_tokens(model.layers, model.heads):,} tokens or less."
        raise InputError(f"{what}; at most {MAX_BYTES / 1e6:,.0f} MB are allowed.", hint=hint)
    maps = np.empty((model.layers, model.heads, size, size), dtype=np.float32)

    def observe(observed: LayerAttention) -> None:
        maps[observed.layer] = observed.weights[0].cpu().numpy()

    forward(model, collate([example], model.tokens, model.device), observe)
    return maps


@dataclass(frozen=True)
class Prediction:
    """What a model predicts in the place of a masked token.

    Attributes:
        position: The position of the token, from 0.
        original: The label of the masked token.
        probability: The probability of that token.
        rank: The rank of that token, from 1.
        best: (label, probability) of the TOP likeliest tokens, the likeliest first.
    """

    position: int
    original: str
    probability: float
    rank: int
    best: tuple[tuple[str, float], ...]

    @property
    def loss(self) -> float:
        """The cross-entropy of the masked token, - log of its probability, nats."""
        return -log(self.probability or 1e-38)  # 0 has no logarithm.


@in_standard_arithmetic
def token_shares(
    model: AttentionModel, example: Encoded, positions: Sequence[int], ablated: np.ndarray | None = None
) -> np.ndarray:
    """(position, token of the vocabulary) the probabilities that a model gives at positions of an input.

    Args:
        model: One that predicts words.
        positions: From 0.
        ablated: (layer, head) bool, the heads whose outputs are replaced by zeros; None for no head.
    """
    import torch

    from bertviz_core.models.ablation import AblatedAttention

    assert model.language_model is not None, "the model predicts words"
    inputs = model.inputs(collate([example], model.tokens, model.device))
    if ablated is not None:
        inputs["combine"] = AblatedAttention(torch.from_numpy(ablated)[None])
    with torch.inference_mode(), running(model, inputs["input_ids"]):
        logits = word_scores(model.language_model(**inputs))[0, np.asarray(positions)]
    return np.asarray(logits.float().softmax(-1).cpu().numpy())


def predict(
    model: AttentionModel, original: OneInput, masked: OneInput, ablated: np.ndarray | None = None
) -> tuple[Prediction, ...]:
    """Predict the words that are masked.

    Args:
        original: The input without masks.
        masked: The same input with masks.
        ablated: (layer, head) bool, the heads whose outputs are replaced by zeros; None for no head.

    Returns:
        A prediction for each position where the two differ; none without a head that predicts words.
    """
    positions = np.flatnonzero(original.example.ids != masked.example.ids).tolist()
    if model.language_model is None or not positions:
        return ()
    shares = token_shares(model, masked.example, positions, ablated)
    predictions = []
    for position, row in zip(positions, shares, strict=True):
        share = row[original.example.ids[position]]
        best = np.argsort(-row, kind="stable")[:TOP]
        likeliest = zip(token_labels(best, model.tokens), row[best].tolist(), strict=True)
        label = original.layout.tokens.labels[position]
        rank = int((row > share).sum()) + 1
        predictions.append(
            Prediction(position=position, original=label, probability=float(share), rank=rank, best=tuple(likeliest))
        )
    return tuple(predictions)
