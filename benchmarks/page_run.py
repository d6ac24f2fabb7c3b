"""What a change of the head costs the server: CPU seconds of one run of each page, nothing else changed.

A visitor opens each page over Streamlit's own websocket and then changes the head again and again, without a pause.
With `--against` another checkout of this project takes turns with this one, with `--models` several models do, whose
results are in the store.

    python -m benchmarks.page_run --runs 24
    python -m benchmarks.page_run --runs 24 --turns 3 --against ../other
    python -m benchmarks.page_run --models 12x12 80x64 --store ../store --settings limit=12
"""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

import psutil

from benchmarks.harness import wait_until_idle
from pages.shared.frame.links import ENTRIES
from tests.support import chromium as browser
from tests.support.visitors import Visitor, visitor

PAGES = [entry.name for entry in ENTRIES]
HEADS = [f"{layer}-{head}" for layer in range(1, 7) for head in range(1, 13)]  # of the demo model, and larger ones


@dataclass(frozen=True)
class Cost:
    """Of one run of a page.   cpu: the server's, user and system, in seconds.   seconds: until the script ended."""

    cpu: float
    seconds: float
    kilobytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=24, help="Head changes on each page.")
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--against", type=Path, help="Another checkout.")
    parser.add_argument("--pages", nargs="*", default=PAGES)
    parser.add_argument("--models", nargs="*", default=["demo"], help="Two at most.")
    parser.add_argument("--store", type=Path, help="A store with their results.")
    parser.add_argument("--settings", nargs="*", default=[], help="Of these results, as limit=4 max_length=16.")
    options = parser.parse_args()
    roots = [browser.ROOT] + ([options.against.resolve()] if options.against else [])
    sides = dict(zip(("this", "other"), ((root, model) for root in roots for model in options.models), strict=False))
    costs = [
        {
            name: _turn(*side, options.pages, options.runs, options.store, options.settings)
            for name, side in sides.items()
        }
        for _ in range(options.turns)
    ]
    for page in options.pages:
        print(f"{page:18}", *(_line([turn[name][page] for turn in costs], name) for name in sides), _ratio(costs, page))
    for name in sides:
        print(f"{name}: {median(mean(c.cpu for c in turn[name].values()) for turn in costs):.4f} s of CPU a page run")


@contextmanager
def _folder(store: Path | None) -> Iterator[Path]:
    """The store given, or an empty one."""
    with tempfile.TemporaryDirectory() as folder:
        yield store or Path(folder) / "store"


def _turn(
    root: Path, model: str, pages: list[str], runs: int, store: Path | None, settings: list[str]
) -> dict[str, Cost]:
    address = {"model": model} | dict(setting.split("=") for setting in settings)
    with _folder(store) as folder, browser.served(folder, root=root) as server_address:
        server = next(c for c in psutil.Process().children() if "streamlit" in " ".join(c.cmdline()))
        with visitor(server_address) as reader:
            reader.open(pages[0], **address)
            wait_until_idle(server)
            return {page: _cost(reader, server, page, runs, address) for page in pages}


def _cost(reader: Visitor, server: psutil.Process, page: str, runs: int, address: dict[str, str]) -> Cost:
    reader.open(page, head=HEADS[-1], **address)
    reader.set("head", string_value=HEADS[-2])
    before = _cpu(server)
    done = [reader.set("head", string_value=HEADS[number % len(HEADS)]) for number in range(runs)]
    spent = _cpu(server) - before
    problems = [problem for run in done for problem in run.exceptions]
    if problems:
        raise RuntimeError(f"{page}: {problems[0]}")
    return Cost(spent / runs, median(run.seconds for run in done), mean(run.bytes for run in done) / 1000)


def _cpu(server: psutil.Process) -> float:
    times = server.cpu_times()
    return times.user + times.system


def _line(turns: list[Cost], name: str) -> str:
    cpu, seconds, size = (median(getattr(turn, what) for turn in turns) for what in ("cpu", "seconds", "kilobytes"))
    return f"{name}: {1000 * cpu:5.0f} ms CPU, {1000 * seconds:5.0f} ms, {size:6.0f} kB  "


def _ratio(costs: list[dict[str, dict[str, Cost]]], page: str) -> str:
    if "other" not in costs[0]:
        return ""
    return f"{median(turn['this'][page].cpu / turn['other'][page].cpu for turn in costs):.2f}"


if __name__ == "__main__":
    main()
