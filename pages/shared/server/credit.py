"""How many runs of a page each connection of a public server may still request: some at once, then a few a second."""

import ipaddress
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st
from starlette.types import Scope

from pages.shared.turns import NOT_HASTY

RATE = 0.5  # runs of a page that a connection may request, per second
BURST = 20.0  # at once
MAX_DEBT = 3.0  # runs that a connection may owe: somebody who comes to an address of a flood does not wait for minutes
HEADER = "bertviz-connection"  # by which a run of a page finds the credit of its connection; set by the server alone


class Credit:
    """The credit of one connection, which grows with time.

    Attributes:
        free: The runs that were left at the time `at`; below zero where they are owed.
        at: Seconds of the monotonic clock.
        page: The page that was requested last, while it waits or runs. An earlier one may take longer to end.
    """

    def __init__(self) -> None:
        self.page: object | None = None
        self.free = BURST
        self.at = time.monotonic()

    def left(self) -> float:
        """The runs that are left now."""
        return min(BURST, self.free + RATE * (time.monotonic() - self.at))

    @property
    def is_hasty(self) -> bool:
        """Whether its reader has used most of the free runs."""
        return self.left() < NOT_HASTY * BURST

    def spend(self, runs: float) -> float:
        """Take runs; returns the seconds until they are paid for."""
        self.free = max(-MAX_DEBT, self.left() - runs)
        self.at = time.monotonic()
        return max(0.0, -self.free / RATE)


class Credits:
    """The credits of all open connections. Whoever closes a connection and opens another has no new runs by that: a
    new connection takes over the lowest credit that one from the same address has left behind.

    Readers behind one router have one address: none is slowed as long as none of them asks for more than a reader does.
    """

    def __init__(self) -> None:
        self._open: dict[str, Credit] = {}
        self._left_behind: dict[str, list[Credit]] = defaultdict(list)

    @contextmanager
    def connection(self, scope: Scope) -> Iterator[tuple[Credit, Scope]]:
        """The credit of a connection while it is open, and its scope, with the header by which pages find it."""
        address = _network(scope)
        name = secrets.token_hex(16)
        credit = self._open[name] = self._take_over(address)
        headers = [pair for pair in scope["headers"] if pair[0].lower() != HEADER.encode()]
        try:
            yield credit, {**scope, "headers": [*headers, (HEADER.encode(), name.encode())]}
        finally:
            del self._open[name]
            credit.page = None
            self._left_behind[address].append(credit)

    @contextmanager
    def page(self) -> Iterator[Callable[[], float]]:
        """While a page waits and runs: the share of its free runs that its connection has left; 1 for one without."""
        credit = self._open.get(st.context.headers.get(HEADER) or "") or Credit()
        page = credit.page = object()
        try:
            yield lambda: credit.left() / BURST
        finally:
            if credit.page is page:
                credit.page = None

    def hasty_pages(self) -> int:
        """The pages of hasty readers that are under way."""
        return sum(credit.page is not None and credit.is_hasty for credit in self._open.values())

    def _take_over(self, address: str) -> Credit:
        for each in list(self._left_behind):
            self._left_behind[each] = [credit for credit in self._left_behind[each] if credit.left() < BURST]
            if not self._left_behind[each]:
                del self._left_behind[each]
        left_behind = self._left_behind.get(address)
        if not left_behind:
            return Credit()
        lowest = min(left_behind, key=Credit.left)
        left_behind.remove(lowest)
        return lowest


credits_of_server = Credits()


def _network(scope: Scope) -> str:
    """The address that a connection comes from, of IPv6 its first 64 bits, of which one machine has all; that of the
    proxy where the proxy names none."""
    host = (scope.get("client") or ("", 0))[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else host
