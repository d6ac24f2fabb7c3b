"""Steps of the training on two cores: two processes of one thread each against one process with two threads.

With `--against`, another checkout of the project takes part, in one process with two threads, as its trainer is there.
Wall time counts here, not CPU time: how well two cores are used is the question.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.harness import Work, alternate, ratio, table

ROOT = Path(__file__).parents[1]
MODEL, TEXT = "bertviz_core/assets/demo-bert", "bertviz_core/assets/corpora/encyclopedia.txt"
BATCH, LENGTH, MICRO_BATCHES = 32, 128, 2
REQUIRED = 1.6  # times the tokens per second


def steps(root: Path, count: int, processes: int, threads: int) -> Work:
    """`count` steps by the trainer of the checkout `root`, on the demo model and a sample of this one."""
    sys.path.insert(0, str(root))
    import torch
    from transformers import BertTokenizer

    from training import loop
    from training.batches import Batches
    from training.model import continued_model
    from training.text import load_text

    assert Path(loop.__file__).is_relative_to(root)
    torch.set_num_threads(threads)
    folder = Path(tempfile.mkdtemp())
    tokenizer = BertTokenizer.from_pretrained(ROOT / MODEL)
    text = load_text([ROOT / TEXT], tokenizer, folder / "cache")
    shared = hasattr(loop, "Team")
    micro_batches = MICRO_BATCHES if shared else 1
    recipe = loop.Recipe(BATCH, LENGTH, rate=1e-4, **({"micro_batches": micro_batches} if shared else {}))
    batches = Batches(text, BATCH // micro_batches, LENGTH, len(tokenizer), seed=0)
    plan = loop.Plan(steps=1_000, decay=1)
    more = {"processes": processes} if shared else {}
    run = loop.Run(folder, continued_model(ROOT / MODEL), tokenizer, batches, batches, recipe, plan, **more)
    run.open_curves()
    if shared:
        run.team.start()
    for _ in range(3):  # what is compiled and allocated once
        run.advance()

    def work() -> None:
        for _ in range(count):
            run.advance()

    return work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, help="another checkout, such as one of an earlier commit")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    sides = {
        "two processes": (steps, (ROOT, options.steps, 2, 1)),
        "one process, two threads": (steps, (ROOT, options.steps, 1, 2)),
    }
    if options.against is not None:
        sides["the other checkout, two threads"] = (steps, (options.against.resolve(), options.steps, 1, 2))
    costs = alternate(sides, options.repeats)
    print(table(costs))
    ours, *others = costs.values()
    for name, turns in zip(list(costs)[1:], others, strict=True):
        print(f"{ratio(turns, ours, 'wall'):.2f} times the tokens per second of {name} (required: {REQUIRED})")
    tokens = options.steps * BATCH * LENGTH
    print(*(f"{name}: {tokens / min(c.wall for c in turns):,.0f} tokens/s" for name, turns in costs.items()), sep="; ")


if __name__ == "__main__":
    main()
