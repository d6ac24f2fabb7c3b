"""The one pass (surface patterns and entropy together) through norms, against the same pass through attention weights.

Model and segments are those of `surface_pass`: BERT-base's shape, random weights.
"""

from __future__ import annotations

import argparse

from benchmarks.harness import alternate, ratio, table
from benchmarks.surface_pass import forward_alone, one_pass

ALLOWED = 8  # percent more CPU time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    sides = {
        "attention weights": (one_pass, (options.segments,)),
        "norms": (one_pass, (options.segments, "norms")),
        "forward passes alone": (forward_alone, (options.segments,)),
    }
    costs = alternate(sides, options.repeats)
    weights, norms, bare = costs.values()
    print(table(costs))
    over, alone = (100 * (ratio(norms, other, "cpu") - 1) for other in (weights, bare))
    print(f"norms: {over:.1f}% over attention weights (allowed: {ALLOWED}), {alone:.1f}% over the forward passes alone")


if __name__ == "__main__":
    main()
