"""What a model is asked to score a sentence: inputs with labels, whose log-probabilities add up to its score
(docs/methods.md, section 19)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch

from bertviz_core.corpora.pairs import are_aligned, differing_words
from bertviz_core.inputs.encoded_pairs import EncodedPair, own_words, words_of
from bertviz_core.inputs.encoding import Encoded, framed
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.loss import Labels, Predictions

Score = Literal["differing", "pll"]  # which words of a sentence a masked model is asked for: those that differ, or all


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Encoded):
    """An input of which some tokens are asked for.

    Attributes:
        pair: The place of its pair in the list.
        positions: (asked token,) where the model predicts these tokens.
        targets: (asked token,) the tokens.
        signs: (asked token,) 1 for a token of the grammatical sentence, -1 for one of the other.
    """

    pair: int
    positions: np.ndarray
    targets: np.ndarray
    signs: np.ndarray


def next_words(place: int, example: EncodedPair) -> list[Question]:
    """Of each sentence every token but the first, of a model that predicts next words."""
    return [
        _question(place, sentence, np.arange(len(sentence) - 1), sentence.ids[1:], sign)
        for sign, sentence in zip((1, -1), example.sides, strict=True)
    ]


def masked_words(place: int, example: EncodedPair, tokens: Tokens, score: Score) -> list[Question]:
    """Of each sentence the words that differ, all masked in one input; or every token in turn, with the later tokens of
    its word masked too, where all are asked for or the words that differ cannot be aligned.

    Where the two sentences are the same without the words that differ, they are one question.
    """
    pair = example.pair
    is_aligned = score == "differing" and are_aligned(pair.good, pair.bad)
    differing = differing_words(pair.good, pair.bad)
    questions = []
    for side, text in enumerate((pair.good, pair.bad)):
        pieces, part_of = words_of(text, tokens)
        ids, types, words = framed([pieces], tokens.single)
        sentence = replace(example.sides[side], ids=ids, types=types, words=words)
        sign = 1 - 2 * side
        if is_aligned:
            positions = np.flatnonzero(np.isin(words, [part_of[word] for word in differing[side]]))
            questions.append(_masked(place, sentence, positions, positions, sign, tokens))
        else:
            in_turn = np.flatnonzero(words >= 0)
            words[in_turn] = own_words(text, tokens)
            questions += [
                _masked(place, sentence, _to_the_end_of_its_word(at, words), np.array([at]), sign, tokens)
                for at in in_turn.tolist()
            ]
    return _joined(*questions) if is_aligned else questions


def _joined(good: Question, bad: Question) -> list[Question]:
    """Both questions, as one where they show the model the same."""
    if not np.array_equal(good.ids, bad.ids):
        return [good, bad]
    positions = np.concatenate([good.positions, bad.positions])
    order = np.argsort(positions, kind="stable")
    targets = np.concatenate([good.targets, bad.targets])[order]
    signs = np.concatenate([good.signs, bad.signs])[order]
    return [replace(good, positions=positions[order], targets=targets, signs=signs)]


def _to_the_end_of_its_word(at: int, words: np.ndarray) -> np.ndarray:
    """The position of a token and those of the later tokens of its word."""
    same = np.flatnonzero(words == words[at])
    return same[same >= at]


def _masked(
    place: int, sentence: Encoded, hidden: np.ndarray, positions: np.ndarray, sign: int, tokens: Tokens
) -> Question:
    ids = sentence.ids.copy()
    ids[hidden] = tokens.mask
    return _question(place, replace(sentence, ids=ids), positions, sentence.ids[positions], sign)


def _question(place: int, sentence: Encoded, positions: np.ndarray, targets: np.ndarray, sign: int) -> Question:
    return Question(
        sentence.number,
        sentence.where,
        sentence.ids,
        sentence.types,
        pair=place,
        positions=positions,
        targets=targets,
        signs=np.full(len(targets), sign),
    )


def labels_of(questions: Iterable[Question], device: str) -> Labels:
    """What a batch of questions asks for."""
    rows = list(questions)
    counts = np.array([len(each.positions) for each in rows])
    arrays = (
        np.repeat(np.arange(len(rows)), counts),
        np.concatenate([each.positions for each in rows]),
        np.concatenate([each.targets for each in rows]),
        counts,
    )
    return Labels(*(torch.from_numpy(array).to(device) for array in arrays))


def log_probabilities(predictions: Predictions) -> np.ndarray:
    """(asked token,) the log-probability of each, nats."""
    log_probability: np.ndarray = -predictions.word_loss.cpu().double().numpy()
    return log_probability


def add_margins(margins: np.ndarray, questions: Sequence[Question], scores: np.ndarray) -> None:
    """Add log-probabilities to the margins of their pairs, those of grammatical sentences with their sign, others
    against it.

    Args:
        margins: (set, pair) to which it is added, nats.
        questions: The questions of one batch.
        scores: (set, asked token) the log-probabilities, nats.
    """
    signs = np.concatenate([each.signs for each in questions])
    places = np.repeat([each.pair for each in questions], [len(each.signs) for each in questions])
    np.add.at(margins, (np.arange(len(margins))[:, None], places[None]), scores * signs)
