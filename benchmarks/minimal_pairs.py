"""Minimal pairs without each head: the sample with the demo model, and, with random weights in GPT-2's shape, what a
token costs beside ablation."""

from __future__ import annotations

import argparse
from statistics import median
from typing import Any

from benchmarks.harness import Work, alternate, ratio, table

SETTINGS: dict[str, dict[str, Any]] = {
    "demo: minimal pairs": {"analysis": "minimal_pairs", "model": "demo", "corpus": "pairs"},
    "GPT-2: minimal pairs": {"analysis": "minimal_pairs", "model": "gpt2", "corpus": "pairs", "limit": 4},
    "GPT-2: ablation": {"analysis": "ablation", "model": "gpt2", "corpus": "encyclopedia", "limit": 1},
}


def analyzed(analysis: str, model: str, corpus: str, limit: int | None = None) -> Work:
    """An analysis of a sample, of so many inputs; returns how many tokens its inputs have."""
    import bertviz_core as bv

    source = "demo" if model == "demo" else _gpt2()
    options = {} if limit is None else {"limit": limit}

    def work() -> int:
        bv.analyze(analysis, model=source, corpus=corpus, **options, store=False)
        return _token_count(analysis, corpus, limit)

    return work


def _gpt2() -> tuple[Any, Any]:
    """A model of random weights with the demo's tokenizer."""
    import torch
    from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

    from bertviz_core.models.checkpoint import find_checkpoint

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(find_checkpoint("demo").folder)
    config = GPT2Config(vocab_size=len(tokenizer), bos_token_id=None, eos_token_id=None)
    return GPT2LMHeadModel(config), tokenizer


def _token_count(analysis: str, corpus: str, limit: int | None) -> int:
    from bertviz_core.corpora.files import sample
    from bertviz_core.inputs.encoded_pairs import Pairs
    from bertviz_core.inputs.segments import Segments
    from bertviz_core.models.checkpoint import find_checkpoint
    from bertviz_core.models.loading import load_tokens
    from bertviz_core.settings import Settings

    tokens, settings = load_tokens(find_checkpoint("demo")), Settings(limit=limit)
    if analysis == "ablation":
        return sum(map(len, Segments(sample(corpus), tokens, settings)))
    return sum(len(side) for pair in Pairs(sample(corpus), tokens, settings) for side in pair.sides)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1, help="turns, of four minutes each")
    options = parser.parse_args()
    sides = {name: (analyzed, tuple(settings.values())) for name, settings in SETTINGS.items()}
    costs = alternate(sides, options.repeats)
    print(table(costs))
    demo, pairs, ablation = costs.values()
    per_token = ratio(pairs, ablation, "cpu") * ablation[0].answer / pairs[0].answer
    seconds = median(cost.cpu for cost in demo)
    print(f"All pairs of the sample: {seconds:.1f} s of CPU; a token of GPT-2 costs {per_token:.1f} times ablation's")


if __name__ == "__main__":
    main()
