"""What follows from the weights of heads, slowly: every product of matrices is written out, as wide as the model or as
the vocabulary (docs/methods.md, section 21)."""

from typing import Any, NamedTuple

import numpy as np
import torch


class HeadMatrices(NamedTuple):
    """Matrices of one head: (width, width of a head) W_Q, W_K and W_V, (width of a head, width) W_O; (width of a head,)
    b_V, b_Q and b_K."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    output: np.ndarray
    bias: np.ndarray
    query_bias: np.ndarray
    key_bias: np.ndarray


def array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().double().numpy()


def gpt2_heads(model: Any) -> list[list[HeadMatrices]]:
    """Of a GPT2LMHeadModel: queries, keys and values are columns of one matrix."""
    width, heads = model.config.n_embd, model.config.n_head
    size = width // heads
    layers = []
    for block in model.transformer.h:
        fused, bias, output = (
            array(block.attn.c_attn.weight),
            array(block.attn.c_attn.bias),
            array(block.attn.c_proj.weight),
        )
        layer = []
        for head in range(heads):
            own = slice(head * size, (head + 1) * size)
            query, key, value = (fused[:, part * width : (part + 1) * width][:, own] for part in range(3))
            query_bias, key_bias, value_bias = (bias[part * width :][own] for part in range(3))
            layer.append(HeadMatrices(query, key, value, output[own], value_bias, query_bias, key_bias))
        layers.append(layer)
    return layers


def llama_heads(model: Any) -> list[list[HeadMatrices]]:
    """Of a LlamaForCausalLM: several heads share a key and a value."""
    config = model.config
    size, shared = config.head_dim, config.num_attention_heads // config.num_key_value_heads
    layers = []
    for block in model.model.layers:
        attention = block.self_attn
        layer = []
        for head in range(config.num_attention_heads):
            own = slice(head * size, (head + 1) * size)
            common = slice(head // shared * size, (head // shared + 1) * size)
            query = array(attention.q_proj.weight)[own].T
            key, value = array(attention.k_proj.weight)[common].T, array(attention.v_proj.weight)[common].T
            output, none = array(attention.o_proj.weight)[:, own].T, np.zeros(size)
            layer.append(HeadMatrices(query, key, value, output, none, none, none))
        layers.append(layer)
    return layers


def folded(head: HeadMatrices, gain: np.ndarray, centers: bool) -> HeadMatrices:
    """With the gain of the norm before it, and without the part along (1, ..., 1) where the norm subtracts means."""
    width = len(gain)
    center = np.eye(width) - (np.ones((width, width)) / width if centers else 0)
    query, key, value = (center @ np.diag(gain) @ part for part in (head.query, head.key, head.value))
    return head._replace(query=query, key=key, value=value, output=head.output @ center)


def rotation(offset: int, size: int, base: float) -> np.ndarray:
    """R with q R k = (q at position `offset`) (k at position 0), rotary positions of pairs (k, k + size / 2)."""
    turned = np.zeros((size, size))
    for pair in range(size // 2):
        angle = offset * base ** (-2 * pair / size)
        first, second = pair, pair + size // 2
        turned[first, first] = turned[second, second] = np.cos(angle)
        turned[first, second], turned[second, first] = np.sin(angle), -np.sin(angle)
    return turned


def composition(earlier: HeadMatrices, later: HeadMatrices, part: str, turn: np.ndarray) -> float:
    """|W_OV W| / (|W_OV| |W|), W what the later head makes of the part: W_Q R W_K^T, its transpose, or W_V W_O."""
    writes = earlier.value @ earlier.output
    scores = later.query @ turn @ later.key.T
    reads = {"query": scores, "key": scores.T, "value": later.value @ later.output}[part]
    return float(np.linalg.norm(writes @ reads) / (np.linalg.norm(writes) * np.linalg.norm(reads)))


def eigenvalue_share(head: HeadMatrices, embedding: np.ndarray, unembedding: np.ndarray) -> float:
    """The sum of the eigenvalues of the (word, word) matrix W_E W_V W_O W_U over that of their absolute values."""
    values = np.linalg.eigvals(embedding @ head.value @ head.output @ unembedding.T)
    return float(values.sum().real / np.abs(values).sum())


def copies(logits: np.ndarray, token: int) -> bool:
    """Whether a token is one of the five with the highest logits."""
    return token in np.argsort(-logits)[:5].tolist()


def mean_score(key: np.ndarray, queries: list[np.ndarray], head: HeadMatrices, turns: list[np.ndarray]) -> float:
    """The mean score of a token for each of the queries at each of the offsets; all are vectors after the norm."""
    scores = [
        (query @ head.query + head.query_bias) @ turn @ (key @ head.key + head.key_bias)
        for query in queries
        for turn in turns
    ]
    return float(np.mean(scores))
