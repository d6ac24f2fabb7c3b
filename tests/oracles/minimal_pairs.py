"""Section 19 of the methods word for word: the library's own eager model and tokenizer, one sentence and one head at a
time, always through the whole model."""

from typing import Any

import numpy as np

from tests.oracles.ablation import Ablated


def words_of_tokens(tokenizer: Any, text: str) -> tuple[list[int], list[int]]:
    """The ids of a text with special tokens, and the word between spaces of each; -1 for special ones."""
    encoded = tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True)
    owners = []
    for (start, end), special in zip(encoded["offset_mapping"], encoded["special_tokens_mask"], strict=True):
        last = max(start, end - 1)
        owners.append(-1 if special else text[: last + 1].count(" ") - (text[last] == " "))
    return encoded["input_ids"], owners


def inputs_of(tokenizer: Any, text: str, other: str, *, causal: bool, pll: bool) -> list[dict[str, list[int]]]:
    """The inputs whose labels, -100 where a token is not asked for, are asked for to score a sentence."""
    ids, owners = words_of_tokens(tokenizer, text)
    zeros = [0] * len(ids)
    if causal:
        return [{"input_ids": ids, "token_type_ids": zeros, "labels": [*ids[1:], -100]}]
    ours, theirs = text.split(), other.split()
    differing = [k for k in range(len(ours)) if len(ours) == len(theirs) and ours[k] != theirs[k]]
    moved = {ours[k] for k in differing} & {theirs[k] for k in differing}
    if len(ours) == len(theirs) and not moved and not pll:
        masked = [owner in differing for owner in owners]
        shown = [tokenizer.mask_token_id if hidden else i for i, hidden in zip(ids, masked, strict=True)]
        labels = [i if hidden else -100 for i, hidden in zip(ids, masked, strict=True)]
        return [{"input_ids": shown, "token_type_ids": zeros, "labels": labels}]
    inputs = []
    owners = [-1 if word is None else word for word in tokenizer(text).word_ids()]  # A mark is a word to the tokenizer.
    for at, owner in enumerate(owners):
        if owner >= 0:
            shown = [
                tokenizer.mask_token_id if place >= at and owners[place] == owner else i for place, i in enumerate(ids)
            ]
            labels = [i if place == at else -100 for place, i in enumerate(ids)]
            inputs.append({"input_ids": shown, "token_type_ids": zeros, "labels": labels})
    return inputs


class Margins:
    """The margin of a pair without any set of heads."""

    def __init__(self, model: Ablated, tokenizer: Any, *, has_types: bool, causal: bool, pll: bool = False) -> None:
        self.model, self.tokenizer, self.has_types, self.causal, self.pll = model, tokenizer, has_types, causal, pll

    def inputs(self, good: str, bad: str) -> list[list[dict[str, list[int]]]]:
        both = ((good, bad), (bad, good))
        return [inputs_of(self.tokenizer, *texts, causal=self.causal, pll=self.pll) for texts in both]

    def margin(self, good: str, bad: str, off: set[tuple[int, int]], mean: Any = None, uniform: bool = False) -> float:
        scores = []
        for inputs in self.inputs(good, bad):
            score = 0.0
            for example in inputs:
                count = sum(label != -100 for label in example["labels"])
                loss = (
                    self.uniform(example, off) if uniform else self.model.without(example, self.has_types, off, mean)[0]
                )
                score -= loss * count
            scores.append(score)
        return scores[0] - scores[1]

    def uniform(self, example: dict[str, list[int]], off: set[tuple[int, int]]) -> float:
        """The loss with the outputs of some heads replaced by the mean of the values that each token sees."""
        model, values = self.model, {}

        def keep(layer: int, value: Any) -> Any:
            values[layer] = value.reshape(-1, value.shape[-1])[
                :, -model.heads * model.width :
            ]  # of a fused one the last
            return value

        def replace(layer: int, mixed: Any) -> Any:
            mixed = mixed.clone()
            for head in range(model.heads):
                part = slice(head * model.width, (head + 1) * model.width)
                for token in range(mixed.shape[-2]):
                    seen = values[layer][: token + 1] if self.causal else values[layer]
                    if (layer, head) in off:
                        mixed[..., token, part] = seen[:, part].mean(0)
            return mixed

        with model.hooked(model.values, "post", keep), model.hooked(model.outputs, "pre", replace):
            return float(model.run(example, self.has_types)[0])


def changes(with_heads: list[float], without: list[float]) -> np.ndarray:
    """The changes of the accuracy and of the margin."""
    right = [float(margin > 0) for margin in with_heads]
    still = [float(margin > 0) for margin in without]
    count = len(right)
    return np.array([(sum(still) - sum(right)) / count, (sum(without) - sum(with_heads)) / count])
