"""Section 20 of the methods word for word: the library's own eager model, one head, one position and one dimension at a
time."""

from typing import Any

import numpy as np


class Gpt2:
    """Where a GPT-2 has what the formula asks for; its norms subtract the mean."""

    is_centered = True
    head = "lm_head"
    last = "transformer.ln_f"

    def __init__(self, model: Any) -> None:
        self.layers = list(model.transformer.h)
        self.heads = model.config.n_head
        self.epsilon = model.config.layer_norm_epsilon

    def values(self, layer: Any, states: np.ndarray) -> np.ndarray:
        """(token, head, width of a head) what each token passes on."""
        width = states.shape[1]
        weight, bias = (array(each)[..., 2 * width :] for each in (layer.attn.c_attn.weight, layer.attn.c_attn.bias))
        normed = norm(states, array(layer.ln_1.weight), self.epsilon, True) + array(layer.ln_1.bias)
        return (normed @ weight + bias).reshape(len(states), self.heads, -1)

    def written(self, layer: Any) -> np.ndarray:
        """(head, width of a head, width) W_O of each head."""
        weight = array(layer.attn.c_proj.weight)
        return weight.reshape(self.heads, -1, weight.shape[1])


class Llama:
    """Where a Llama has it; its norms do not, and two heads share one value."""

    is_centered = False
    head = "lm_head"
    last = "model.norm"

    def __init__(self, model: Any) -> None:
        self.layers = list(model.model.layers)
        self.heads = model.config.num_attention_heads
        self.shared = self.heads // model.config.num_key_value_heads
        self.epsilon = model.config.rms_norm_eps

    def values(self, layer: Any, states: np.ndarray) -> np.ndarray:
        normed = norm(states, array(layer.input_layernorm.weight), self.epsilon, False)
        values = (normed @ array(layer.self_attn.v_proj.weight).T).reshape(len(states), self.heads // self.shared, -1)
        return np.stack([values[:, head // self.shared] for head in range(self.heads)], 1)

    def written(self, layer: Any) -> np.ndarray:
        weight = array(layer.self_attn.o_proj.weight)
        return np.stack([part.T for part in np.split(weight, self.heads, axis=1)])


FAMILIES = {"gpt2": Gpt2, "llama": Llama}


def array(parameter: Any) -> np.ndarray:
    return np.asarray(parameter.detach().double().numpy())


def scale(state: np.ndarray, epsilon: float, is_centered: bool) -> float:
    """Sigma of one token."""
    middle = sum(state) / len(state) if is_centered else 0.0
    return float((sum((each - middle) ** 2 for each in state) / len(state) + epsilon) ** 0.5)


def norm(states: np.ndarray, gain: np.ndarray, epsilon: float, is_centered: bool) -> np.ndarray:
    middles = states.mean(1, keepdims=True) if is_centered else 0.0
    scales = np.array([scale(state, epsilon, is_centered) for state in states])
    return (states - middles) / scales[:, None] * gain


class Literal:
    """An eager model that predicts next words, taken apart."""

    def __init__(self, family: str, model: Any) -> None:
        self.model = model.eval()
        self.parts = FAMILIES[family](model)

    def run(self, ids: list[int]) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], list[np.ndarray]]:
        """(token, word) logits, (token, width) what the last norm gets, what each layer gets, and each layer's maps."""
        import torch

        last = []
        handle = self.model.get_submodule(self.parts.last).register_forward_pre_hook(lambda _m, args: last.append(args))
        with torch.no_grad():
            output = self.model(torch.tensor([ids]), output_attentions=True, output_hidden_states=True)
        handle.remove()
        maps = [array(each)[0] for each in output.attentions]
        states = [array(each)[0] for each in output.hidden_states]
        return array(output.logits)[0], array(last[0][0])[0], states, maps

    def to_next(self, ids: list[int]) -> tuple[np.ndarray, float]:
        """(layer, head) means over the predictions of an input of what each head adds, and that of the logits."""
        logits, final, states, maps = self.run(ids)
        unembedding = array(self.model.get_submodule(self.parts.head).weight)
        gain = array(self.model.get_submodule(self.parts.last).weight)
        mean_row = unembedding.mean(0)
        found = np.zeros((len(self.parts.layers), self.parts.heads))
        for number, layer in enumerate(self.parts.layers):
            values, written = self.parts.values(layer, states[number]), self.parts.written(layer)
            for head in range(self.parts.heads):
                for position, token in enumerate(ids[1:]):
                    output = np.zeros(values.shape[2])
                    for key in range(position + 1):
                        output += maps[number][head, position, key] * values[key, head]
                    vector = output @ written[head]
                    sigma = scale(final[position], self.parts.epsilon, self.parts.is_centered)
                    middle = vector.mean() if self.parts.is_centered else 0.0
                    for dimension, part in enumerate(vector):
                        row = unembedding[token, dimension] - mean_row[dimension]
                        found[number, head] += (part - middle) * gain[dimension] / sigma * row / (len(ids) - 1)
        above = [logits[position, token] - logits[position].mean() for position, token in enumerate(ids[1:])]
        return found, float(np.mean(above))
