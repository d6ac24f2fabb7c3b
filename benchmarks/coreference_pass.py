"""Coreference heads on the demo model, from the file to the result: all of it, and its forward passes alone."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.harness import Work, alternate, ratio, table
from bertviz_core.analyses.coreference_heads.measure import Selections
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import compute
from bertviz_core.corpora.files import find_source
from bertviz_core.engine import stream
from bertviz_core.engine.progress import Progress
from bertviz_core.models.annotated import Windows
from bertviz_core.models.checkpoint import find
from bertviz_core.models.loading import load
from bertviz_core.settings import Execution, Settings

SECONDS = 60  # of wall time, for 50 documents of 2,000 words on two cores


def whole(name: str) -> Work:
    """What the command does once the model is loaded: the corpus read twice, every head's choices, the result."""
    request = Request("coreference_heads", find("demo"), find_source(name), Settings())
    model = load(request.checkpoint, "cpu")

    def work() -> int:
        return int(compute(request, None, Execution(device="cpu"), model=model).default_view().n[0])

    return work


def passes(name: str, counted: bool) -> Work:
    """The same windows through the model, with nobody looking or with the choices counted."""
    model = load(find("demo"), "cpu")
    windows = list(Windows(find_source(name), model.tokens, Settings()))

    def work() -> None:
        seen = [Selections(model.layers, model.heads, model.device, first_piece=False)] if counted else []
        stream.run(model, windows, seen, Progress())

    return work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", default="coreference", help="a coreference corpus, or the sample's name")
    parser.add_argument("--repeats", type=int, default=2)
    given = parser.parse_args()
    name = str(Path(given.file).resolve()) if Path(given.file).exists() else given.file
    sides = {
        "from file to result": (whole, (name,)),
        "passes with choices counted": (passes, (name, True)),
        "forward passes alone": (passes, (name, False)),
    }
    costs = alternate(sides, given.repeats)
    print(table(costs))
    print(f"mentions scored: {costs['from file to result'][0].answer:,}")
    added = ratio(costs["passes with choices counted"], costs["forward passes alone"], "cpu")
    print(f"counting every head's choices: {added - 1:.0%} of the forward passes' CPU time")
    print(f"aim for 50 documents of 2,000 words: {SECONDS} s of wall time on two cores")


if __name__ == "__main__":
    main()
