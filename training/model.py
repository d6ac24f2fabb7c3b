"""The model that is trained: made new or continued, its attention, its two losses, and the folder it becomes."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import AttentionInterface, BertConfig, BertForPreTraining, BertTokenizer

from training.batches import Batch
from training.penalty import EntropyPenalty
from training.text import whole_folder

HIDDEN_SCORE = -1e4  # added to the scores of padding; finite in bfloat16


def written_out_attention(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float = 1.0,
    dropout: float = 0.0,
    penalty: EntropyPenalty | None = None,
    terms: list[Tensor] | None = None,
    **_: object,
) -> tuple[Tensor, None]:
    """Attention in the inputs' own type, softmax too: on a CPU its backward is faster than the fused one's.

    With a `penalty`, the layer's term is appended to `terms`, which layers fill in order.
    """
    with torch.autocast(query.device.type, enabled=False):
        scores = (query * scaling) @ key.transpose(2, 3)  # (batch, head, query, key)
        if attention_mask is not None:
            scores = scores + attention_mask.to(scores.dtype)
        attention = scores.softmax(-1)
        if penalty is not None and terms is not None and attention_mask is not None:
            terms.append(penalty.term(len(terms), attention, attention_mask[:, 0, 0] > HIDDEN_SCORE / 2))
        weights = torch.nn.functional.dropout(attention, dropout, module.training)
        return (weights @ value.to(weights.dtype)).transpose(1, 2), None


AttentionInterface.register("written_out", written_out_attention)


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a new model."""

    layers: int
    heads: int
    width: int
    positions: int


def new_model(shape: Shape, vocabulary: int, seed: int) -> BertForPreTraining:
    """Random weights, wide, and sinusoidal position embeddings: with them attention leaves its first plateau sooner."""
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=4 * shape.width,
        max_position_embeddings=shape.positions,
        initializer_range=0.05,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = BertForPreTraining(config)
    model.set_attn_implementation("written_out")
    waves = torch.from_numpy(sinusoids(shape.positions, shape.width)) * config.initializer_range * 2**0.5
    model.bert.embeddings.position_embeddings.weight.data.copy_(waves)
    return model


def sinusoids(positions: int, width: int) -> NDArray[np.float32]:
    """Sines, then cosines, of the position at wavelengths from 2 pi to 10,000 times that: (position, width)."""
    frequencies = 10_000.0 ** -(np.arange(0, width, 2) / width)
    angles = np.arange(positions)[:, None] * frequencies
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)[:, :width].astype(np.float32)


def continued_model(folder: Path) -> BertForPreTraining:
    """The model of a folder, its weights as float32."""
    return BertForPreTraining.from_pretrained(folder, dtype=torch.float32, attn_implementation="written_out")


@dataclass(frozen=True, slots=True)
class Scores:
    """One batch: mean losses in nats, the penalty on entropy (0 without one), and how often each answer was right."""

    mlm_loss: Tensor
    nsp_loss: Tensor
    penalty: Tensor
    mlm_right: Tensor
    nsp_right: Tensor


def scores(model: BertForPreTraining, batch: Batch, penalty: EntropyPenalty | None = None) -> Scores:
    """Masked-word and next-sentence losses, in bfloat16 but for the softmax over the vocabulary."""
    terms: list[Tensor] = []
    device = model.device
    ids, types, masked, answers, random_next = (
        torch.from_numpy(a).to(device) for a in (batch.ids, batch.types, batch.masked, batch.answers, batch.random_next)
    )
    hide = torch.from_numpy(np.where(batch.real, 0, HIDDEN_SCORE).astype(np.float32)).to(device)[:, None, None]
    with torch.autocast(device.type, torch.bfloat16):
        hidden = outputs(model, ids, types, hide, masked, {"penalty": penalty, "terms": terms})
        words = model.cls.predictions(hidden[len(ids) :]).float()  # (masked, vocabulary)
        pooler: Any = model.bert.pooler
        pooled = pooler(hidden[: len(ids), None])
        follows = model.cls.seq_relationship(pooled).float()  # (batch, 2)
    return Scores(
        torch.nn.functional.cross_entropy(words, answers),
        torch.nn.functional.cross_entropy(follows, random_next),
        torch.stack(terms).sum() if terms else words.new_zeros(()),
        (words.argmax(-1) == answers).float().mean(),
        (follows.argmax(-1) == random_next).float().mean(),
    )


def outputs(
    model: BertForPreTraining, ids: Tensor, types: Tensor, hide: Tensor, masked: Tensor, options: dict[str, object]
) -> Tensor:
    """The encoder's output where a loss needs it; the last layer is not computed anywhere else, but for its attention.

    Args:
        ids: (batch, token).
        types: (batch, token).
        hide: (batch, 1, 1, token), added to the scores of attention.
        masked: (masked,) positions through the whole batch.
        options: For the attention.

    Returns:
        (batch + masked, width): of every [CLS], then of the masked tokens.
    """
    layers: list[Any] = list(model.bert.encoder.layer)
    last = layers.pop()
    hidden = model.bert.embeddings(ids, token_type_ids=types)
    for layer in layers:
        hidden = layer(hidden, hide, **options)
    context, _ = last.attention.self(hidden, hide, **options)
    wanted = torch.cat([torch.arange(0, ids.numel(), ids.shape[1], device=ids.device), masked])
    attended = last.attention.output(context.flatten(0, 1)[wanted], hidden.flatten(0, 1)[wanted])
    result: Tensor = last.output(last.intermediate(attended), attended)
    return result


def save_model(model: BertForPreTraining, tokenizer: BertTokenizer, folder: Path) -> None:
    """Write a float16 model folder, whole or not at all."""
    with whole_folder(folder) as started:
        copy.deepcopy(model).half().save_pretrained(started)
        tokenizer.save_pretrained(started)
