"""What the decoder that ships does, by the maps and scores that transformers gives, without code of the project."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from bertviz_core.models.checkpoint import DEMO_DECODER, find_checkpoint

N = 50  # tokens of a sequence
FOLDER = find_checkpoint(DEMO_DECODER).folder


@pytest.fixture(scope="module")
def decoder() -> Any:
    return AutoModelForCausalLM.from_pretrained(FOLDER, dtype=torch.float32, attn_implementation="eager").eval()


def run(decoder: Any, inputs: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """(layer, input, head, query, key) maps, and (input, token) what each token but the first costs, in nats."""
    with torch.no_grad():
        output = decoder(input_ids=inputs, output_attentions=True)
    costs = torch.nn.functional.cross_entropy(output.logits[:, :-1].mT, inputs[:, 1:], reduction="none")
    return torch.stack(output.attentions).numpy(), costs.numpy()


def random_tokens(repeated: bool) -> torch.Tensor:
    """(16, 1 + 2N): BOS, then distinct pieces, none of the single bytes, the second N the first ones again or others."""
    draw = np.random.default_rng(11)
    rows = [draw.choice(np.arange(257, 4096), 2 * N, replace=False) for _ in range(16)]
    inputs = [np.r_[0, row[:N], row[:N] if repeated else row[N:]] for row in rows]
    return torch.from_numpy(np.stack(inputs))


def on_diagonal(maps: np.ndarray, back: int) -> np.ndarray:
    """(layer, head) mean attention from the second N tokens to the token so far back."""
    rows = np.arange(N + 1, 2 * N + 1)
    return maps[..., rows, rows - back].mean((1, 3))


def test_an_induction_head_a_previous_token_head_and_a_cheaper_second_copy(decoder: Any) -> None:
    maps, costs = run(decoder, random_tokens(repeated=True))
    prefix = on_diagonal(maps, N - 1)
    control = on_diagonal(run(decoder, random_tokens(repeated=False))[0], N - 1)
    best = np.unravel_index(prefix.argmax(), prefix.shape)
    assert prefix[best] > 0.5 and control[best] < 0.05
    assert on_diagonal(maps, 1).max() > 0.7
    assert costs[:, 1:N].mean() - costs[:, N + 1 :].mean() > 1.0


def test_the_first_token_is_the_sink_of_several_heads(decoder: Any) -> None:
    """The sink rate: in how many texts a head gives the first token more than 30% of its attention."""
    texts = [
        "The river rises in the hills and flows north.",
        "She had never seen such a house before, and said so.",
    ]
    tokenizer = AutoTokenizer.from_pretrained(FOLDER)
    rates = np.zeros((decoder.config.num_hidden_layers, decoder.config.num_attention_heads))
    for text in texts:
        maps, _ = run(decoder, torch.tensor([tokenizer(text).input_ids]))
        rates += (maps[:, 0, :, :, 0].mean(-1) > 0.3) / len(texts)
    assert (rates > 0.5).sum() >= 3
