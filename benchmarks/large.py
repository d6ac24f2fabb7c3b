"""A model of a billion weights: tokens a second and the peak of the whole process, with the model whole in memory and
with a part of its weights read from the disk for each batch.

`python -m benchmarks.large FOLDER` makes a random Llama of the shape of Llama 3.2 1B (1.24 B weights, bfloat16, the
tokenizer of demo-decoder) in the folder, where there is none, and runs surface patterns on the first segments of the
built-in encyclopedia. --free says how many GB the loading takes the machine to have free.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.harness import Work, alternate, table

SHAPE = {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "head_dim": 64}
SHAPE |= {"num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128_256, "max_position_embeddings": 2048}


def make(folder: Path) -> None:
    """Write the model and its tokenizer, with weights drawn at random."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from bertviz_core.models.checkpoint import find_checkpoint
    from bertviz_core.models.loading import load_tokens

    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    config = LlamaConfig(**SHAPE, tie_word_embeddings=True, bos_token_id=0, eos_token_id=0, dtype="bfloat16")  # type: ignore[arg-type]
    LlamaForCausalLM(config).save_pretrained(folder)
    load_tokens(find_checkpoint("demo-decoder")).tokenizer.save_pretrained(folder)


def run(folder: str, segments: int, batch_tokens: int | None, free: float | None) -> Work:
    """Surface patterns; with `free` GB of memory, the weights for which that is too little wait on the disk."""
    from bertviz_core.analyses.base.request import Request
    from bertviz_core.analyses.run import compute
    from bertviz_core.corpora.files import sample
    from bertviz_core.models import devices, loading
    from bertviz_core.models.checkpoint import find_checkpoint
    from bertviz_core.settings import Execution, Settings

    if free is not None:
        devices._free_memory = lambda _device: {"the machine's": int(free * 1e9)}
    settings = Settings(limit=segments, dtype="bfloat16")
    request = Request("surface_patterns", find_checkpoint(folder), sample("encyclopedia"), settings)
    model = loading.load(request.checkpoint, "cpu", "bfloat16", offload="disk")

    def work() -> int:
        result: Any = compute.compute(request, None, Execution("cpu", batch_tokens), model=model)
        return int(result.provenance["tokens"])

    return work


def rate(costs: Sequence[Any], quantity: str) -> float:
    """Tokens a second of `wall` or `cpu` time, the median of the turns."""
    return median(cost.answer / getattr(cost, quantity) for cost in costs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--segments", type=int, default=32)
    parser.add_argument("--free", type=float, default=1.5)
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    if not (options.folder / "config.json").exists():
        make(options.folder)
    name, segments, free = str(options.folder), options.segments, options.free
    sides = {
        "whole": (run, (name, segments, None, None)),
        f"{free} GB free": (run, (name, segments, None, free)),
        f"{free} GB free, batches of 4,096 tokens": (run, (name, segments, 4096, free)),
    }
    costs = alternate(sides, options.repeats)
    print(table(costs))
    for side, turns in costs.items():
        of_wall, of_cpu = (rate(turns, quantity) for quantity in ("wall", "cpu"))
        print(f"{side}: {of_wall:,.0f} tokens a second, {of_cpu:,.0f} a second of CPU time, of {turns[0].answer:,}")


if __name__ == "__main__":
    main()
