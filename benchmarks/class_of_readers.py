"""A class on one server: how long pages take, what a session weighs, and whether memory stays flat.

Visitors come over Streamlit's own websocket, each with pages and heads in an order of their own, a pause of up to a
second between pages. First one visitor, then all, then all beside an analysis by a model of BERT-base's size.

    python -m benchmarks.class_of_readers --visitors 30 --rounds 2
    python -m benchmarks.class_of_readers --memory
    python -m benchmarks.class_of_readers --visitors 10 --rounds 1 --bombs
"""

import argparse
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import psutil
from websockets.exceptions import WebSocketException

from benchmarks.harness import wait_until_idle
from benchmarks.hostile_inputs import CASES
from pages.shared.frame.links import ENTRIES
from tests.support import chromium as browser
from tests.support.visitors import Run, Visit, Visitor, crowd, visitor

PAGES = [entry.name for entry in ENTRIES]
IDLE = 300  # sessions that stay, to weigh one
CAME = 100  # sessions that come and go
SESSIONS_AT_ONCE = 10
BOMBS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=2, help="Times that each visitor opens every page.")
    parser.add_argument("--pages", nargs="*", default=PAGES, help="Those that another checkout has too.")
    parser.add_argument("--memory", action="store_true", help="Weigh sessions instead.")
    parser.add_argument("--bombs", action="store_true", help="Hostile uploads beside them, on a public server.")
    parser.add_argument("--root", type=Path, default=browser.ROOT, help="Of another checkout.")
    options = parser.parse_args()
    if options.bombs:
        os.environ["BERTVIZ_PUBLIC"] = "1"
    with tempfile.TemporaryDirectory() as folder, browser.served(Path(folder) / "store", root=options.root) as address:
        server = next(c for c in psutil.Process().children() if "streamlit" in " ".join(c.cmdline()))
        if options.memory:
            _memory(address, server)
            return
        pages = options.pages * options.rounds
        print(_report("one visitor", crowd(address, 1, pages), server))
        wait_until_idle(server)
        print(_report(f"{options.visitors} visitors", crowd(address, options.visitors, pages), server))
        others, name = (_bombs(address), "bombs") if options.bombs else (_analysis(address, Path(folder)), "a job")
        with others:
            print(_report(f"{options.visitors} beside {name}", crowd(address, options.visitors, pages), server))


@contextmanager
def _bombs(address: str) -> Iterator[None]:
    """As many strangers as BOMBS, in a process of their own, each of whom uploads another hostile input at once."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=os.nice, initargs=(19,)) as strangers:
        bombs = strangers.submit(_throw, address)
        time.sleep(15)  # until they have been made, and are on their way
        yield
        print("the bombs:", "under way at the end," * (not bombs.done()), Counter(bombs.result()))


def _throw(address: str) -> list[str]:
    """Upload all hostile inputs at once; how each was answered."""
    bombs = [case.data() for case in list(CASES.values())[:BOMBS]]
    with ThreadPoolExecutor(BOMBS) as pool:
        return list(pool.map(partial(_upload, address), bombs))


def _upload(address: str, bomb: bytes) -> str:
    try:
        with visitor(address) as stranger:
            stranger.open("surface_patterns")
            return "refused" if stranger.upload("bomb.txt", bomb).of("alert") else "read"
    except (OSError, WebSocketException) as error:  # no space, or the server has ended
        return type(error).__name__


@contextmanager
def _analysis(address: str, folder: Path) -> Iterator[None]:
    """An analysis of the sample text, by random weights of BERT-base's shape, under way."""
    from transformers import AutoTokenizer, BertConfig, BertForMaskedLM

    from bertviz_core.models.checkpoint import DEMO_FOLDER

    BertForMaskedLM(BertConfig()).save_pretrained(folder)
    AutoTokenizer.from_pretrained(DEMO_FOLDER).save_pretrained(folder)
    with visitor(address) as reader:
        reader.open("sep_gradients", model=str(folder))
        reader.press(next(label for label in reader.widgets if label.startswith("Analyze")))
        time.sleep(5)
        yield
        print("the job:", "under way" if reader.open("sep_gradients").of("progress") else "ended before the visitors")


def _report(name: str, visits: list[Visit], server: psutil.Process) -> str:
    seconds = sorted(value for visit in visits for value in visit.seconds)
    p50, p95 = (seconds[min(len(seconds) - 1, int(share * len(seconds)))] for share in (0.5, 0.95))
    boxes, errors = (sum(len(getattr(visit, kind)) for visit in visits) for kind in ("boxes", "errors"))
    times = server.cpu_times()
    return (
        f"{name}: {len(seconds)} page runs, p50 {p50:.2f} s, p95 {p95:.2f} s, most {seconds[-1]:.2f} s; "
        f"{boxes} error boxes, {errors} errors; server: {times.user + times.system:.1f} s of CPU so far, "
        f"{_mebibytes(server):,.0f} MiB"
    )


def _memory(address: str, server: psutil.Process) -> None:
    crowd(address, 2, PAGES)  # caches are full
    before, used = _mebibytes(server), server.cpu_times().user
    with ExitStack() as stack:
        readers = [stack.enter_context(visitor(address)) for _ in range(IDLE)]
        errors = sum(len(_open(reader, number).exceptions) for number, reader in enumerate(readers))
        print(
            f"{IDLE} idle sessions: {(_mebibytes(server) - before) / IDLE:.2f} MiB each, {errors} error boxes, "
            f"{server.num_fds()} file descriptors, {server.cpu_times().user - used:.0f} s of CPU for a page each"
        )
    with ThreadPoolExecutor(SESSIONS_AT_ONCE) as pool:
        list(pool.map(lambda number: _come_and_go(address, number), range(CAME)))
    print(f"after {CAME} more that came and went: {_mebibytes(server):,.0f} MiB (at first {before:,.0f})")


def _come_and_go(address: str, number: int) -> None:
    with visitor(address) as reader:
        _open(reader, number)
        _open(reader, number + 1)


def _open(reader: Visitor, number: int) -> Run:
    return reader.open(PAGES[number % len(PAGES)], head=f"{number % 6 + 1}-{number % 8 + 1}")


def _mebibytes(server: psutil.Process) -> float:
    return server.memory_info().rss / 2**20


if __name__ == "__main__":
    main()
