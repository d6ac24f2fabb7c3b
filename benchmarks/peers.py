"""The one pass beside what people would pick: TransformerLens, and the authors' release.

TransformerLens: one `analyze` of attention to the previous, the current and the first token, entropy, and the largest
weight of every head, on the same tokens and random weights in GPT-2's shape. It is not among the requirements: run this
in an environment that has both, or with `--parts release`. Nothing is downloaded. TransformerLens computes the model's
predictions besides, which cannot be left out while its cache is filled.

The release: the sides of `surface_pass`, with words looked up as it does, by one-hot rows, and by index.

Beside both: the products of the linear layers alone, which all sides share, as a bound of what can be reached.
"""

import argparse
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import Work, alternate, ratio, table

TOKENS = 128
VOCABULARY = 50_257
LAYERS, WIDTH = 12, 768  # of GPT-2 and of BERT-base
LENS_BATCH = 4  # segments in a batch of TransformerLens
QUANTITIES = ("previous", "current", "to_first", "entropy", "max_weight")
GOAL = 1.5  # times less CPU time than TransformerLens
PRODUCTS = "the linear layers' products alone"


def texts(count: int) -> list[str]:
    """Segments of TOKENS words, each of which is one token."""
    ids = np.random.default_rng(0).integers(1, VOCABULARY, (count, TOKENS))
    return [" ".join(f"w{i}" for i in row) for row in ids.tolist()]


def gpt2() -> tuple[Any, Any]:
    """(model, tokenizer); the tokenizer knows the words w0, w1, ... and adds no special token."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(VOCABULARY)}, unk_token="w0"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    model = GPT2LMHeadModel(GPT2Config(attn_implementation="eager")).eval()
    return model, PreTrainedTokenizerFast(tokenizer_object=words, unk_token="w0", eos_token="w0")


def ours(count: int) -> Work:
    """Both analyses from the one pass that they share."""
    import tempfile

    import bertviz_core as bv
    from bertviz_core.analyses.base.registry import ANALYSES

    pair = gpt2()
    corpus = texts(count)
    analyze = bv.analyze  # imported here, as TransformerLens is: the library loads it when it is first used
    for name in ("surface_patterns", "entropy", "reach"):  # Those that share the pass.
        import_module(f"{type(ANALYSES[name]).__module__.rpartition('.')[0]}.measure")

    def work() -> dict[str, np.ndarray]:
        with tempfile.TemporaryDirectory() as store:
            results = [
                analyze(name, model=pair, corpus=corpus, max_length=TOKENS, store=store, device="cpu")
                for name in ("surface_patterns", "entropy")
            ]
        means = {name: result[name] for result in results for name in set(QUANTITIES) & set(result.quantities())}
        return {name: means[name] for name in QUANTITIES}

    return work


def linear_products(count: int, batch_tokens: int = 512) -> Work:
    """The products of the linear layers that a pass over full segments needs up to the last layer's maps."""
    import torch

    generator = torch.Generator().manual_seed(0)
    projections = [(WIDTH, 3 * WIDTH)] * LAYERS
    others = [(WIDTH, WIDTH), (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)] * (LAYERS - 1)
    weights = [torch.randn(shape, generator=generator) for shape in (*projections, *others)]
    biases = [torch.zeros(weight.shape[1]) for weight in weights]
    inputs = {size: torch.randn(batch_tokens, size, generator=generator) for size in (WIDTH, 4 * WIDTH)}

    def work() -> None:
        with torch.inference_mode():
            for start in range(0, count * TOKENS, batch_tokens):
                rows = min(batch_tokens, count * TOKENS - start)
                for weight, bias in zip(weights, biases, strict=True):
                    torch.addmm(bias, inputs[len(weight)][:rows], weight)

    return work


def transformer_lens(count: int, batch: int) -> Work:
    """Its cache of the patterns of all layers, reduced in torch as its users do."""
    import torch
    from transformer_lens.model_bridge import TransformerBridge

    model, tokenizer = gpt2()
    lens = TransformerBridge.boot_transformers("gpt2", hf_model=model, tokenizer=tokenizer, device="cpu")
    ids = torch.tensor([tokenizer(text)["input_ids"] for text in texts(count)])

    def work() -> dict[str, np.ndarray]:
        sums = torch.zeros(len(QUANTITIES), 12, 12, dtype=torch.float64)
        with torch.inference_mode():
            for tokens in ids.split(batch):
                _, cache = lens.run_with_cache(tokens, names_filter=lambda name: name.endswith("hook_pattern"))
                patterns = torch.stack([cache[f"blocks.{layer}.attn.hook_pattern"] for layer in range(12)], 1)
                sums += reduced(patterns).double().sum(1)
        return dict(zip(QUANTITIES, (sums / len(ids)).numpy(), strict=True))

    return work


def reduced(patterns: Any) -> Any:
    """(quantity, batch, layer, head) from patterns (batch, layer, head, query, key)."""
    import torch

    rows = patterns.shape[-1]
    previous = patterns.diagonal(-1, -2, -1).sum(-1) / rows
    current = patterns.diagonal(0, -2, -1).mean(-1)
    first = patterns[..., 1:, 0].mean(-1)
    entropy = torch.special.entr(patterns).sum(-1).mean(-1)
    return torch.stack([previous, current, first, entropy, patterns.amax(-1).mean(-1)])


def beside_transformer_lens(segments: int, repeats: int) -> None:
    sides = {
        "TransformerLens, run_with_cache": (transformer_lens, (segments, LENS_BATCH)),
        "analyze": (ours, (segments,)),
        PRODUCTS: (linear_products, (segments,)),
    }
    costs = alternate(sides, repeats)
    theirs, mine, products = costs.values()
    print(table(costs))
    print(f"CPU time: {ratio(theirs, mine, 'cpu'):.2f} times less (goal: {GOAL}; ", end="")
    print(f"the products alone {ratio(theirs, products, 'cpu'):.2f}); ", end="")
    print(f"peak memory: {ratio(theirs, mine, 'peak'):.2f} times less")
    for name, values in mine[0].answer.items():
        print(f"{name:>14}: differs by at most {np.abs(values - theirs[0].answer[name]).max():.1e}")


def beside_release(segments: int, repeats: int) -> None:
    from benchmarks import surface_pass  # not before, as TransformerLens's process would import it all

    sides = {
        "the release's way": (surface_pass.release, (segments,)),
        "the same, words by index": (surface_pass.release, (segments, True)),
        "one pass": (surface_pass.one_pass, (segments,)),
        PRODUCTS: (linear_products, (segments,)),
    }
    costs = alternate(sides, repeats)
    theirs, by_index, mine, products = costs.values()
    print(table(costs))
    print(f"CPU time: {ratio(theirs, mine, 'cpu'):.2f} times less (goal: {surface_pass.REQUIRED}; ", end="")
    print(f"the products alone {ratio(theirs, products, 'cpu'):.2f}), ", end="")
    print(f"{ratio(by_index, mine, 'cpu'):.2f} if the release took words by index; ", end="")
    print(f"peak memory: {ratio(theirs, mine, 'peak'):.2f} and {ratio(by_index, mine, 'peak'):.2f} times less")


PARTS = {"transformer_lens": beside_transformer_lens, "release": beside_release}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=24)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    options = parser.parse_args()
    for name in options.parts:
        PARTS[name](options.segments, options.repeats)


if __name__ == "__main__":
    main()
