"""Sides of a benchmark: each runs in a process of its own, they take turns, and ratios are taken turn by turn.

A side is a function, importable by name, that gets ready (imports, model, data: not timed) and returns the work.
"""

import gc
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from statistics import median
from typing import Any

import psutil

Work = Callable[[], Any]
Side = tuple[Callable[..., Work], tuple[Any, ...]]  # what gets ready, and its arguments


@dataclass(frozen=True)
class Cost:
    """Of the work alone: `wall` and `cpu` (user + system, all threads) in seconds. Of the whole process: `peak`, the
    most memory resident, in MiB. `answer` is what the work returned."""

    wall: float
    cpu: float
    peak: float
    answer: Any


def run_side(ready: Callable[..., Work], *arguments: Any) -> Cost:
    """Run one side in a fresh process; raises RuntimeError where that process dies."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(sender, ready, arguments))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError as error:
        raise RuntimeError(f"{ready.__name__} did not finish") from error
    finally:
        process.join()


def alternate(sides: Mapping[str, Side], repeats: int) -> dict[str, list[Cost]]:
    """A B A B ...: whatever else the machine does meets all sides alike."""
    costs: dict[str, list[Cost]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, (ready, arguments) in sides.items():
            costs[name].append(run_side(ready, *arguments))
    return costs


def ratio(above: Sequence[Cost], below: Sequence[Cost], quantity: str) -> float:
    """The median, over the turns, of above / below."""
    return median(getattr(a, quantity) / getattr(b, quantity) for a, b in zip(above, below, strict=True))


def table(costs: Mapping[str, Sequence[Cost]]) -> str:
    """Medians, a line for each side."""
    width = max(map(len, costs))
    lines = [f"{'':{width}}  {'wall s':>8}  {'CPU s':>8}  {'peak MiB':>8}"]
    for name, turns in costs.items():
        wall, cpu, peak = (median(getattr(cost, quantity) for cost in turns) for quantity in ("wall", "cpu", "peak"))
        lines.append(f"{name:{width}}  {wall:8.2f}  {cpu:8.2f}  {peak:8,.0f}")
    return "\n".join(lines)


def wait_until_idle(server: psutil.Process) -> None:
    """Wait until a server of the app, which goes on importing once it has served its first page, uses a twentieth of a
    processor for two seconds."""
    while server.cpu_percent(interval=2) > 5:
        pass


def _child(sender: Connection, ready: Callable[..., Work], arguments: tuple[Any, ...]) -> None:
    work = ready(*arguments)
    gc.collect()  # Else the work may have to look through what getting ready has left.
    wall, cpu = time.perf_counter(), time.process_time()
    answer = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    sender.send(Cost(wall, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, answer))
