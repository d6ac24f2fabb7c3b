"""Turns of pages that run: they share one interpreter, and a few at a time are sooner done than all at once."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

MAX_RUNNING_PAGES = 2
LONG_S = 2.0  # seconds after which others no longer wait for a page that runs: it may be loading a large model
MAX_WAIT_S = 30.0  # seconds after which a page runs without a turn
NOT_HASTY = 0.75  # share of a reader's free runs that must be left for a page to have any of the turns
REST = 2  # times the seconds that a hasty page ran, for which it then keeps its turn from other hasty ones
MAX_REST_S = 1.0


@dataclass(eq=False)
class Turn:
    """A page that runs, or waits for that.

    Attributes:
        credit: The share of the free runs that are left to its reader now, 1 at most.
        is_stopped: Whether nobody waits for this page any more: its reader has asked for another one, or is gone.
        ready: Set when it has its turn.
        since: When that was, in seconds of the monotonic clock.
    """

    credit: Callable[[], float]
    is_stopped: Callable[[], bool]
    ready: threading.Event = field(default_factory=threading.Event)
    since: float = 0.0

    @property
    def hasty(self) -> bool:
        """Whether the reader has used most of the free runs by now: whoever floods asks on while a page waits."""
        return self.credit() < NOT_HASTY

    @property
    def is_long(self) -> bool:
        """Whether it has run for so long that others no longer wait for it."""
        return time.monotonic() - self.since > LONG_S


class Turns:
    """The turns of a server. The page of the reader who has used the fewest runs is the next. A hasty reader's begins
    while no other page runs, and they have a third of the time at most: whoever reads at the usual pace hardly notices.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: list[Turn] = []
        self._waiting: list[Turn] = []  # in the order in which they came
        self._current = threading.local()

    @contextmanager
    def page_turn(
        self, credit: Callable[[], float] = lambda: 1.0, is_stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[None]:
        """Wait for a turn, no longer than a page may, and have it in this thread."""
        turn = Turn(credit, is_stopped)
        self._take(turn)
        self._current.turn = turn
        began = time.monotonic()
        try:
            yield
        finally:
            self._current.turn = None
            if turn.hasty and turn in self._running:
                time.sleep(min(MAX_REST_S, REST * (time.monotonic() - began)))
            self._give_back(turn)

    @contextmanager
    def given_back(self) -> Iterator[None]:
        """Let another page have the turn of this thread, if it has one, while this one waits for something else."""
        turn: Turn | None = getattr(self._current, "turn", None)
        if turn is None:
            yield
            return
        self._give_back(turn)
        try:
            yield
        finally:
            self._take(turn)

    def _take(self, turn: Turn) -> None:
        turn.ready.clear()
        with self._lock:
            self._waiting.append(turn)
        self._call_next()
        end = time.monotonic() + MAX_WAIT_S
        while not turn.ready.wait(min(LONG_S, MAX_WAIT_S)) and time.monotonic() < end:
            self._call_next()  # A page that runs may have become a long one.
        with self._lock:
            if turn in self._waiting:
                self._waiting.remove(turn)

    def _give_back(self, turn: Turn) -> None:
        with self._lock:
            if turn in self._running:
                self._running.remove(turn)
        self._call_next()

    def _call_next(self) -> None:
        with self._lock:
            self._let_stopped_go()
            while self._waiting:
                running = [each for each in self._running if not each.is_long]
                # Of equal ones the first that came.
                turn = max(self._waiting, key=lambda each: (not each.hasty, each.credit()))
                if len(running) >= (1 if turn.hasty else MAX_RUNNING_PAGES):
                    return
                self._waiting.remove(turn)
                self._running.append(turn)
                turn.since = time.monotonic()
                turn.ready.set()

    def _let_stopped_go(self) -> None:
        """End the waiting of pages that nobody waits for: their scripts end at their next command."""
        for turn in [each for each in self._waiting if each.is_stopped()]:
            self._waiting.remove(turn)
            turn.ready.set()


turns = Turns()
