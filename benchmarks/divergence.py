"""Divergences between all pairs of heads: against the authors' loop, as released (float16) and in float32.

The same maps for every side, BERT-base's shape: 144 heads, 128 tokens. CPU time, one thread each. `benchmarks.gpu`
measures a GPU, and how close it comes to its limit of logarithms.
"""

import argparse
import subprocess
import time

import numpy as np

from benchmarks.harness import Work, alternate, ratio, table

HEADS, TOKENS = 144, 128
SMOOTHING = 0.001
REQUIRED = {"float16": 150, "float32": 8}  # times less CPU time
TIMES = 20  # our side goes over the maps so often, to be timed at all
PER_CLOCK = 16  # special-function results of one multiprocessor, from compute capability 5.0 on


def maps(documents: int) -> np.ndarray:
    """(document, head, query, key) float32 with entropies from 0.5 to 4.8 nats, as BERT's heads have them."""
    rng = np.random.default_rng(0)
    sharpness = np.geomspace(0.1, 8, HEADS)[:, None, None]
    logits = rng.normal(size=(documents, HEADS, TOKENS, TOKENS)) * sharpness
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def release(documents: int, dtype: str) -> Work:
    """The authors' loop: each head in turn, smoothed, against all heads, smoothed again each time."""
    held = maps(documents).astype(dtype)

    def work() -> np.ndarray:
        found = np.zeros([HEADS, HEADS])
        for everyone in held:
            for head in range(HEADS):
                p = SMOOTHING / TOKENS + everyone[head][None] * (1 - SMOOTHING)
                q = SMOOTHING / TOKENS + everyone * (1 - SMOOTHING)
                m = (p + q) / 2
                js = -p * np.log(m / p)
                js += -q * np.log(m / q)
                js /= 2
                found[head] += js.sum(-1).sum(-1)
        return found

    return work


def ours(documents: int, native: bool) -> Work:
    """Smoothed likewise, so that the answers can be compared; batches of one document."""
    import torch

    from bertviz_core.analyses.clustering import measure as divergence
    from bertviz_core.analyses.clustering.measure import divergences

    torch.set_num_threads(1)
    if not native:
        divergence.build_kernel = lambda: None  # type: ignore[assignment]
    held = torch.from_numpy(maps(documents)).flatten(2)  # (document, head, position)
    divergences(held[0].clone(), TOKENS)  # what happens once in a process is not counted: building, first memory

    def work() -> np.ndarray:
        found = torch.zeros(HEADS, HEADS, dtype=torch.float64)
        for _ in range(TIMES):
            for one in held:
                found += divergences(SMOOTHING / TOKENS + one * (1 - SMOOTHING), TOKENS)
        return found.numpy() / TIMES

    return work


def on_device(device: str, documents: int) -> tuple[float, float]:
    """Logarithms a second, and seconds for each document."""
    import torch

    from bertviz_core.analyses.clustering.measure import divergences

    one = torch.from_numpy(maps(1)).flatten(2)[0].to(device)
    held = one.repeat(1, documents)
    divergences(held, documents * TOKENS)
    start = time.perf_counter()
    divergences(held, documents * TOKENS).cpu()  # which waits for the device
    seconds = time.perf_counter() - start
    return HEADS * (HEADS + 1) / 2 * held.shape[1] / seconds, seconds / documents


def sums_on(device: str) -> np.ndarray:
    """(head, head) sums over the rows of one document, in nats."""
    import torch

    from bertviz_core.analyses.clustering.measure import divergences

    return divergences(torch.from_numpy(maps(1)).flatten(2)[0].to(device, copy=True), TOKENS).cpu().numpy()


def special_function_limit() -> float:
    """Logarithms a second that the CUDA device can compute at its highest clock."""
    import torch

    query = ["nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits", "--id=0"]
    clock = float(subprocess.run(query, check=True, capture_output=True, text=True).stdout) * 1e6
    return PER_CLOCK * torch.cuda.get_device_properties(0).multi_processor_count * clock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1, help="the float16 loop takes half a minute for each")
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    n = options.documents
    sides = {
        "the release's loop, float16": (release, (n, "float16")),
        "the release's loop, float32": (release, (n, "float32")),
        f"ours, torch, {TIMES} times": (ours, (n, False)),
        f"ours, native kernel, {TIMES} times": (ours, (n, True)),
    }
    costs = alternate(sides, options.repeats)
    half, single, *both = costs.values()
    print(table(costs))
    for name, mine in zip(("torch", "native kernel"), both, strict=True):
        for dtype, theirs in (("float16", half), ("float32", single)):
            less = TIMES * ratio(theirs, mine, "cpu")
            print(f"{name}: {less:.0f} times less CPU time than in {dtype} (required: {REQUIRED[dtype]})")
        off = [np.abs(theirs[0].answer - mine[0].answer).max() / (n * TOKENS) for theirs in (half, single)]
        print(f"{name}: differs by at most {off[0]:.1e} nats a token from float16, {off[1]:.1e} from float32")


if __name__ == "__main__":
    main()
