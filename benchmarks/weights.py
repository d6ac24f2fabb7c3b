"""Weights of heads, from a model of random weights in GPT-2's shape, its vocabulary included."""

from __future__ import annotations

import argparse
from statistics import median

from benchmarks.harness import Work, alternate, table

WORDS = 50_257  # of GPT-2


def analyzed() -> Work:
    """The analysis of 500 tokens, all heads and all pairs of heads; returns the number of heads."""
    import torch
    from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

    import bertviz_core as bv
    from bertviz_core.models.checkpoint import find_checkpoint

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(find_checkpoint("demo").folder)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=WORDS, bos_token_id=None, eos_token_id=None))

    def work() -> int:
        return int(bv.analyze("weights", model=(model, tokenizer), store=False)["eigenvalue_copying"].size)

    return work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="turns")
    options = parser.parse_args()
    costs = alternate({"GPT-2: weights": (analyzed, ())}, options.repeats)
    print(table(costs))
    (turns,) = costs.values()
    print(f"{turns[0].answer} heads: {median(cost.cpu for cost in turns):.1f} s of CPU")


if __name__ == "__main__":
    main()
