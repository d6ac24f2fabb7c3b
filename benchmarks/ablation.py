"""Switching off every head of a model of BERT-base's shape: from each head's own layer on, against whole passes; CPU
seconds.

    OMP_NUM_THREADS=1 python -m benchmarks.ablation [--segments 4] [--turns 2]

Both sides have the same batches of masked segments, switch off one head at a time (its output is replaced by zeros),
and hand only the masked positions on to the vocabulary layer. Building the model and the segments is not timed.
"""

from __future__ import annotations

import argparse
from itertools import islice
from typing import Any

import numpy as np

from benchmarks import harness
from benchmarks.harness import Work

REQUIRED = 1.7


def model_and_batch(segments: int) -> tuple[Any, Any, Any]:
    """A model with random parameters, and masked segments of the built-in sample with their labels."""
    import torch
    from transformers import AutoConfig, AutoModelForMaskedLM

    from bertviz_core.corpora.files import sample
    from bertviz_core.models.attention import register
    from bertviz_core.models.checkpoint import find
    from bertviz_core.models.encoding import collate
    from bertviz_core.models.loading import load_tokens, prepare
    from bertviz_core.models.masked_lm import mask
    from bertviz_core.models.masking import Masking
    from bertviz_core.models.segments import Segments
    from bertviz_core.settings import Settings

    checkpoint = find("demo")
    tokens = load_tokens(checkpoint)
    torch.manual_seed(0)
    config = AutoConfig.for_model("bert")  # BERT-base
    loaded = AutoModelForMaskedLM.from_config(config, attn_implementation=register())
    model = prepare(loaded.base_model, tokens, checkpoint, masked_lm=loaded)
    examples = list(islice(Segments(sample("encyclopedia"), tokens, Settings()), segments))
    masked, labels = mask(collate(examples, tokens, "cpu"), Masking.of(tokens, 0))
    return model, masked, labels


def whole_passes(segments: int) -> Work:
    """Every head by a pass of its own through the whole model."""
    import torch

    from bertviz_core.models.ablation import SwitchedOff
    from bertviz_core.models.attention import at_least_float32
    from bertviz_core.models.masked_lm import predictions_of, selecting
    from bertviz_core.models.masking import IGNORED

    model, batch, labels = model_and_batch(segments)

    def work() -> np.ndarray:
        losses = np.zeros((model.layers, model.heads))
        with torch.inference_mode(), selecting(model, labels != IGNORED):
            for layer, head in np.ndindex(model.layers, model.heads):
                off = torch.zeros(len(labels), model.layers, model.heads, dtype=torch.bool)
                off[:, layer, head] = True
                output = model.masked_lm(**batch.inputs(model), combine=SwitchedOff(off))
                losses[layer, head] = predictions_of(at_least_float32(output.logits[0]), labels)[1].loss.mean()
        return losses

    return work


def from_own_layer(segments: int) -> Work:
    """The product's way: one whole pass forward and back, then every head from its own layer on."""
    import torch

    from bertviz_core.models.ablation import Restart, predict_whole, predict_without

    model, batch, labels = model_and_batch(segments)
    restart = Restart(model)

    def work() -> np.ndarray:
        whole = predict_whole(restart, batch, labels)
        losses = np.zeros((model.layers, model.heads))
        for layer in range(model.layers):
            heads = torch.zeros(model.heads, model.layers, model.heads, dtype=torch.bool)
            heads[:, layer].fill_diagonal_(True)
            each = predict_without(restart, batch, labels, whole.inputs, heads, batch_tokens=model.batch_tokens)
            losses[layer] = [after.loss.mean() for after in each]
        return losses

    return work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=4)
    parser.add_argument("--turns", type=int, default=2)
    given = parser.parse_args()
    sides: dict[str, harness.Side] = {
        "whole passes": (whole_passes, (given.segments,)),
        "from the head's own layer": (from_own_layer, (given.segments,)),
    }
    costs = harness.alternate(sides, given.turns)
    print(harness.table(costs))
    whole, own = costs.values()
    print(f"CPU time: {harness.ratio(whole, own, 'cpu'):.2f} times less (required: {REQUIRED})")
    print(f"Largest difference of a loss: {np.abs(whole[0].answer - own[0].answer).max():.1e} nats")


if __name__ == "__main__":
    main()
