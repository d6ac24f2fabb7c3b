"""The one pass (surface patterns and entropy together) of two decoders, against their own eager attention: its maps are
returned and measured afterwards, with the same segments, batches and measures.

Random weights in GPT-2's shape (12 layers of 12 heads, 768 wide, 124 million weights) and in Llama's of comparable size
(12 layers of 12 query heads, 4 of keys and values, 768 wide).
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks.harness import Work, alternate, ratio, table
from benchmarks.surface_pass import MAX_LENGTH, segments_of
from bertviz_core.analyses.base.accumulators import SegmentSums
from bertviz_core.analyses.entropy import measure as entropy
from bertviz_core.analyses.surface_patterns import measure as surface_patterns
from bertviz_core.engine import forward_pass
from bertviz_core.engine.progress import Progress
from bertviz_core.inputs.encoding import collate
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.attention import LayerAttention, register
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.models.loading import load_tokens, prepare

BATCH = 4  # segments: 512 tokens, as the pass has them on a CPU
SHAPES = ("gpt2", "llama")


def _tokens() -> Tokens:
    """The demo's tokenizer, as that of a decoder."""
    return Tokens(load_tokens(find_checkpoint("demo")).tokenizer, one_text=True)


def one_pass(shape: str, count: int) -> Work:
    """Maps reduced inside the layer, nothing kept."""
    tokens = _tokens()
    segments = segments_of(tokens, count)
    model = prepare(_decoder(shape, register()), tokens, find_checkpoint("demo"))

    def work() -> dict[str, np.ndarray]:
        sums = _sums(model)
        forward_pass.run(model, segments, sums, Progress())
        return _means(sums)

    return work


def returned(shape: str, count: int) -> Work:
    """The maps of all layers returned by the model's own attention, then measured."""
    import torch

    tokens = _tokens()
    segments = sorted(segments_of(tokens, count), key=len)
    decoder = _decoder(shape, "eager").eval().requires_grad_(False)
    decoder.config.use_cache = False
    model = prepare(_decoder(shape, register()), tokens, find_checkpoint("demo"))
    model.encoder = None

    def work() -> dict[str, np.ndarray]:
        sums = _sums(model)
        for start in range(0, len(segments), BATCH):
            batch = collate(segments[start : start + BATCH], tokens, "cpu")
            parts = [part.new_empty() for part in sums]
            with torch.inference_mode():
                maps = decoder(batch.ids, attention_mask=batch.mask.long(), output_attentions=True).attentions
                for layer, weights in enumerate(maps):
                    for part in parts:
                        part.update(batch, LayerAttention(layer, weights, None, causal=True))
            for whole, part in zip(sums, parts, strict=True):
                whole.merge(part)
        return _means(sums)

    return work


def _sums(model: Any) -> list[SegmentSums]:
    shape = (model.layers, model.heads, model.device)
    return [SegmentSums(part.QUANTITIES, part.measure, *shape) for part in (surface_patterns, entropy)]


def _means(sums: list[SegmentSums]) -> dict[str, np.ndarray]:
    results = [part.result() for part in sums]
    return {name: mean for part in results for name, mean in zip(part["quantities"], part["mean"], strict=True)}


def _decoder(shape: str, attention: str) -> Any:
    import torch
    from transformers import AutoModel, GPT2Config, LlamaConfig

    torch.manual_seed(0)
    if shape == "gpt2":
        return AutoModel.from_config(GPT2Config(), attn_implementation=attention)
    sizes = {"hidden_size": 768, "intermediate_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 12}
    config = LlamaConfig(vocab_size=32_000, num_key_value_heads=4, max_position_embeddings=1024, **sizes)
    return AutoModel.from_config(config, attn_implementation=attention)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=32, help=f"Of at most {MAX_LENGTH} tokens.")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--shapes", nargs="*", default=SHAPES, choices=SHAPES)
    options = parser.parse_args()
    for shape in options.shapes:
        arguments = (shape, options.segments)
        sides = {f"{shape}: one pass": (one_pass, arguments), f"{shape}: returned maps": (returned, arguments)}
        costs = alternate(sides, options.repeats)
        one_pass_runs, eager_runs = costs.values()
        print(table(costs))
        print(
            f"CPU time: {ratio(eager_runs, one_pass_runs, 'cpu'):.2f} times less; "
            f"peak memory: {ratio(eager_runs, one_pass_runs, 'peak'):.2f}",
            end="",
        )
        known = {name: mean for name, mean in one_pass_runs[0].answer.items() if not np.isnan(mean).all()}
        difference = max(np.nanmax(np.abs(mean - eager_runs[0].answer[name])) for name, mean in known.items())
        print(f"; the averages differ by at most {difference:.1e}", flush=True)


if __name__ == "__main__":
    main()
