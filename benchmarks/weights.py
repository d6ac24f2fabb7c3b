"""Weights of heads, from models in GPT-2's shape, its vocabulary included: of random weights, of which heads copy no
token, and of heads that write back what they read, which copy nearly every one."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.harness import Work, alternate, table

WORDS = 50_257  # of GPT-2


def analyzed(is_copying: bool) -> Work:
    """The analysis of 500 tokens, all heads and all pairs of heads; returns the mean copying score."""
    import torch
    from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

    import bertviz_core as bv
    from bertviz_core.models.checkpoint import find_checkpoint

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(find_checkpoint("demo").folder)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=WORDS, bos_token_id=None, eos_token_id=None))
    if is_copying:
        copy_tokens(model)

    def work() -> float:
        return float(bv.analyze("weights", model=(model, tokenizer), store=False)["copy"].mean())

    return work


def copy_tokens(model: Any) -> None:
    """Let every head write back the part of the residual stream that it reads, in random dimensions of its own."""
    import torch

    with torch.no_grad():
        for layer in model.transformer.h:
            width = model.config.n_embd
            read = torch.randn(width, width) / width**0.5
            layer.attn.c_attn.weight[:, -width:] = read
            layer.attn.c_proj.weight.copy_(read.T)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="turns")
    options = parser.parse_args()
    sides = {"random weights": (analyzed, (False,)), "heads that copy": (analyzed, (True,))}
    costs = alternate(sides, options.repeats)
    print(table(costs))
    for name, turns in costs.items():
        print(f"{name}: mean copying score {turns[0].answer:.1%}")


if __name__ == "__main__":
    main()
