"""Whether memory grows with the corpus: the peak of a whole process, and its CPU time, over ever more inputs.

The demo model, or a random decoder of its shape (GPT-2's layers, the demo's tokenizer), on the CPU. Each run is a
process of its own; sizes take turns.
"""

import argparse
from statistics import median
from typing import Any

from benchmarks.harness import Work, alternate, table


def run(analysis: str, corpus: str, limit: int | None, decoder: bool) -> Work:
    import bertviz_core as bv
    from bertviz_core.models.checkpoint import Model

    model: Model = _decoder() if decoder else "demo"

    def work() -> None:
        bv.analyze(analysis, model=model, corpus=corpus, limit=limit, device="cpu", store=False)

    return work


def _decoder() -> tuple[Any, Any]:
    import torch
    from transformers import GPT2Config, GPT2Model

    from bertviz_core.models.checkpoint import find_checkpoint
    from bertviz_core.models.loading import load_tokens

    torch.manual_seed(0)
    config = GPT2Config(vocab_size=30_522, n_embd=384, n_layer=6, n_head=12)
    return GPT2Model(config), load_tokens(find_checkpoint("demo")).tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+", help="one with --limits, or several to compare")
    parser.add_argument("--analysis", default="surface_patterns")
    parser.add_argument("--limits", type=int, nargs="*", default=[])
    parser.add_argument("--decoder", action="store_true")
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    runs = [(corpus, limit) for corpus in options.corpora for limit in options.limits or [None]]
    sides = {
        f"{corpus.rpartition('/')[2]}, {limit or 'all'}": (run, (options.analysis, corpus, limit, options.decoder))
        for corpus, limit in runs
    }
    costs = alternate(sides, options.repeats)
    print(table(costs))
    first, *_, last = (median(turn.peak for turn in turns) for turns in costs.values())
    print(f"{options.analysis}{', decoder' * options.decoder}: the last peak is {last / first:.3f} of the first")


if __name__ == "__main__":
    main()
