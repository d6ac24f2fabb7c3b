"""Readers of a public server beside a flood: connections that ask for pages as fast as they can, close, and come back.

Readers come first and stay; each opens a page every `--pause` seconds on the average. Then the same beside `--flood`
connections of the same address, each of which sends 60 requests at 20 a second and is replaced by a new one.

    python -m benchmarks.flood --visitors 30 --flood 40 --seconds 60
"""

import argparse
import multiprocessing
import os
import random
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event
from pathlib import Path

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests.support import chromium as browser
from tests.support.visitors import Visitor, visitor

PAGES = ("", "entropy", "dependency_heads", "surface_patterns", "clustering")
REQUESTS = 60  # of a connection of the flood
GAP = 0.05  # seconds between two of them


@dataclass
class Run:
    """What readers met in one part: the seconds of each page, and how many were cut off or saw an error."""

    seconds: list[float] = field(default_factory=list)
    errors: int = 0

    def __str__(self) -> str:
        ordered = sorted(self.seconds)
        p50, p95 = (ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.95))
        times = f"p50 {p50:.2f} s, p95 {p95:.2f} s, most {ordered[-1]:.2f} s"
        return f"{len(ordered)} page runs, {times}, {self.errors} errors"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--flood", type=int, default=40, help="Connections of the flood.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pause", type=float, default=8.0, help="Seconds between two pages of a reader.")
    parser.add_argument("--root", type=Path, default=browser.ROOT, help="Of another checkout.")
    options = parser.parse_args()
    os.environ["BERTVIZ_PUBLIC"] = "1"
    with (
        tempfile.TemporaryDirectory() as folder,
        browser.served(Path(folder) / "store", root=options.root) as address,
        ExitStack() as stack,
    ):
        server = next(c for c in psutil.Process().children() if "streamlit" in " ".join(c.cmdline()))
        readers = [stack.enter_context(visitor(address)) for _ in range(options.visitors)]
        for number, reader in enumerate(readers):
            reader.open(PAGES[number % len(PAGES)])
        print("alone:", _read(readers, options.seconds, options.pause))
        over = multiprocessing.Event()
        flood = multiprocessing.Process(target=_flood_all, args=(address, options.flood, over), daemon=True)
        flood.start()
        print("beside the flood:", _read(readers, options.seconds, options.pause))
        with visitor(address) as newcomer:
            print(f"somebody who comes during the flood: {newcomer.open('entropy').seconds:.2f} s")
        over.set()
        flood.join()
        print(f"the server: {server.memory_info().rss / 2**20:,.0f} MiB")


def _read(readers: list[Visitor], seconds: float, pause: float) -> Run:
    """What these readers meet in so many seconds."""
    run = Run()
    end = time.monotonic() + seconds
    with ThreadPoolExecutor(len(readers)) as pool:
        for each in [pool.submit(_walk, reader, number, end, pause, run) for number, reader in enumerate(readers)]:
            each.result()
    return run


def _walk(reader: Visitor, seed: int, end: float, pause: float, run: Run) -> None:
    """Open pages until the end, as a reader does, with pauses of up to twice the average."""
    draws = random.Random(seed)
    while time.monotonic() < end:
        time.sleep(2 * pause * draws.random())
        try:
            page = reader.open(draws.choice(PAGES), head=f"{draws.randint(1, 6)}-{draws.randint(1, 8)}")
        except (OSError, WebSocketException):
            run.errors += 1
            return
        run.seconds.append(page.seconds)
        run.errors += len(page.exceptions)


def _flood_all(address: str, connections: int, over: Event) -> None:
    """The flood, in a process of its own: readers measure the server, and not a client that is busy with the flood."""
    with ThreadPoolExecutor(connections) as pool:
        floods = [pool.submit(_flood, address, over) for _ in range(connections)]
        print("the flood:", sum(each.result() for each in floods), "connections")


def _flood(address: str, over: Event) -> int:
    """Connect, ask for pages at once, and again with a new connection; returns how many connections there were."""
    count = 0
    host = address.partition("://")[2]
    while not over.is_set():
        count += 1
        with suppress(OSError, WebSocketException, TimeoutError):
            uri = f"ws://{host}/_stcore/stream"
            with connect(uri, subprotocols=["streamlit"], origin=address, max_size=None) as socket:  # type: ignore[list-item,arg-type]
                _ask_at_once(socket, over)
    return count


def _ask_at_once(socket: object, over: Event) -> None:
    for number in range(REQUESTS):
        message = BackMsg()
        message.rerun_script.page_name = PAGES[number % len(PAGES)]
        message.rerun_script.query_string = f"head=1-{number % 8 + 1}"
        message.rerun_script.is_history_navigation = True
        socket.send(message.SerializeToString())  # type: ignore[attr-defined]
        if over.wait(GAP):
            return


if __name__ == "__main__":
    main()
