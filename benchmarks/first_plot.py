"""How long a newcomer waits: title and first plot of the default page, in headless Chromium, split by who is at work.

Every turn starts a server with an empty store and a browser with an empty cache, opens the page (`fresh`), closes it,
and opens it once more in the same browser (`again`: the server and the browser's cache are warm).

    python -m benchmarks.first_plot --turns 5
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any

from tests.support import chromium as browser

SHOWN = """
const seen = (window.seen = {});
const plot = () =>
  document.querySelector("[data-testid=stPlotlyChart] .scatterlayer .points path") ||
  [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")].some((host) =>
    host.shadowRoot?.querySelector(".point path"));
function look() {
  if (document.querySelector("h1")) seen.title ??= performance.now();
  if (plot()) seen.plot ??= performance.now();
  else requestAnimationFrame(look);
}
look();
"""
FIGURE = (b'"scatter"', b'"symbol"')  # one of these is in the message that brings a figure
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Visit:
    """Seconds since the navigation began: the browser has loaded Streamlit's own code and asks for the page; the title
    stands; the figure's data is there; its markers stand; the script has ended and everything is drawn. And user CPU
    seconds, until then, of the server and of all of the browser's processes."""

    asked: float
    title: float
    sent: float
    plot: float
    done: float
    server_cpu: float
    browser_cpu: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--path", default="", help="Of the page; empty for the first one.")
    parser.add_argument("--idle", type=float, default=3.0, help="Seconds between the server's start and the visit.")
    options = parser.parse_args()
    turns = [turn(options.path, options.idle) for _ in range(options.turns)]
    print(f"{'':12}" + "".join(f"{field.name:>13}" for field in fields(Visit)))
    for name in ("fresh", "again"):
        for show, label in ((median, name), (min, "  least"), (max, "  most")):
            values = (show(getattr(one[name], field.name) for one in turns) for field in fields(Visit))
            print(f"{label:12}" + "".join(f"{value:13.2f}" for value in values))


def turn(path: str, idle: float) -> dict[str, Visit]:
    """Both visits."""
    with tempfile.TemporaryDirectory() as folder, browser.served(Path(folder) / "store") as address:
        server = next(child for child in _children(os.getpid()) if b"streamlit" in _command(child))
        time.sleep(idle)
        with browser.browser() as chromium:
            context = chromium.new_context(viewport={"width": 1280, "height": 900})
            return {name: visit(context, f"{address}/{path}", server) for name in ("fresh", "again")}


def visit(context: Any, address: str, server: int) -> Visit:
    """Open the page and wait until it is all there."""
    arrived: dict[str, float] = {}
    page = context.new_page()
    page.add_init_script(SHOWN)
    page.on("websocket", lambda socket: _listen(socket, arrived))
    before = _cpu([server]), _cpu(_browser_processes(server))
    start = time.time()
    page.goto(address, wait_until="commit")
    page.wait_for_function("window.seen?.plot", timeout=60_000)
    browser.settle(page)
    done = time.time() - start
    after = _cpu([server]), _cpu(_browser_processes(server))
    began = page.evaluate("performance.timeOrigin") / 1000
    seen = page.evaluate("window.seen")
    page.close()
    return Visit(
        arrived["asked"] - began,
        seen["title"] / 1000,
        arrived["sent"] - began,
        seen["plot"] / 1000,
        done,
        after[0] - before[0],
        after[1] - before[1],
    )


def _listen(socket: Any, arrived: dict[str, float]) -> None:
    def received(payload: bytes | str) -> None:
        if isinstance(payload, bytes) and any(mark in payload for mark in FIGURE):
            arrived.setdefault("sent", time.time())

    socket.on("framesent", lambda payload: arrived.setdefault("asked", time.time()))
    socket.on("framereceived", received)


def _browser_processes(server: int) -> list[int]:
    return [process for process in _descendants(os.getpid()) if process != server and b"chrom" in _command(process)]


def _descendants(process: int) -> Iterator[int]:
    for child in _children(process):
        yield child
        yield from _descendants(child)


def _children(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def _cpu(processes: list[int]) -> float:
    """User seconds of these processes so far."""
    total = 0
    for process in processes:
        try:
            total += int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11])
        except OSError:
            continue
    return total / TICKS


if __name__ == "__main__":
    main()
