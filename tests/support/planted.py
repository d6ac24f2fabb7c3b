"""A model whose heads do what a test says: to the token before or after, to [SEP], or to everything alike.

Its tokenizer is the demo model's. Only the position and [SEP] reach a query or a key, and no layer changes what
the next sees, so that any head can be planted anywhere.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bertviz_core.models.checkpoint import DEMO_FOLDER

LAYERS, HEADS, SIZE, POSITIONS = 2, 2, 32, 128
SHARP = 3.0  # how far the planted key's score stands out


def save(folder: Path, heads: Mapping[tuple[int, int], str]) -> Path:
    """Write the model; `heads`: (layer, head) from 0 -> "previous", "next" or "sep"; others look at all alike."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForMaskedLM

    tokenizer = AutoTokenizer.from_pretrained(DEMO_FOLDER)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=HEADS * 2 * SIZE,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=8,
        max_position_embeddings=POSITIONS,
    )
    model = BertForMaskedLM(config).eval()
    frequencies = np.random.default_rng(0).uniform(0, np.pi, SIZE // 2)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1.0 if name.endswith("LayerNorm.weight") else 0.0)
        embeddings = model.bert.embeddings
        waves = torch.from_numpy(positions(frequencies, 0)).float()
        embeddings.position_embeddings.weight[:, :SIZE] = waves
        embeddings.position_embeddings.weight[:, SIZE : 2 * SIZE] = -waves  # so that their mean is 0
        embeddings.word_embeddings.weight[tokenizer.sep_token_id, 2 * SIZE] = 4.0
        embeddings.word_embeddings.weight[tokenizer.sep_token_id, 2 * SIZE + 1] = -4.0
        for (layer, head), kind in heads.items():
            plant(model.bert.encoder.layer[layer].attention.self, head, kind, frequencies)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def positions(frequencies: np.ndarray, shift: int) -> np.ndarray:
    """(position, size) sines and cosines of the position moved by `shift`."""
    angles = (np.arange(POSITIONS)[:, None] + shift) * frequencies
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


def plant(attention, head: int, kind: str, frequencies: np.ndarray) -> None:
    """Set one head's queries and keys."""
    import torch

    rows = slice(head * 2 * SIZE, head * 2 * SIZE + SIZE)
    if kind == "sep":
        attention.query.bias[rows] = SHARP
        attention.key.weight[rows, 2 * SIZE] = SHARP
        return
    turned, *_ = np.linalg.lstsq(
        positions(frequencies, 0), positions(frequencies, -1 if kind == "previous" else 1), rcond=None
    )
    attention.query.weight[rows, :SIZE] = SHARP * torch.from_numpy(turned.T).float()
    attention.key.weight[rows, :SIZE] = torch.eye(SIZE)
