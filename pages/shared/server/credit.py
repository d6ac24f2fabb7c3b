"""How many runs of a page each connection of a public server may still request: some at once, then a few a second."""

import ipaddress
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st
from starlette.types import Scope

RATE = 0.5  # runs of a page that a connection may request, per second
BURST = 20.0  # at once
QUICK_RATE = 3.0  # runs that one connection may have begun per second, however many are left
QUICK_BURST = 5.0
HEADER = "bertviz-connection"  # by which a run of a page finds the credit of its connection; set by the server alone


class Credit:
    """The credit of one connection, which grows with time.

    Attributes:
        rate: Runs by which it grows per second.
        burst: The runs that it grows to at most.
        free: The runs that were left at the time `at`; below zero where they are owed.
        at: Seconds of the monotonic clock.
        is_open: Whether the connection is open.
    """

    def __init__(self, rate: float = RATE, burst: float = BURST, free: float | None = None) -> None:
        self.rate = rate
        self.burst = burst
        self.free = burst if free is None else free
        self.at = time.monotonic()
        self.is_open = True

    def left(self) -> float:
        """The runs that are left now."""
        return min(self.burst, self.free + self.rate * (time.monotonic() - self.at))

    def spend(self, runs: float) -> float:
        """Take runs; returns the seconds until they are paid for."""
        self.free = self.left() - runs
        self.at = time.monotonic()
        return max(0.0, -self.free / self.rate)

    def is_inherited(self) -> bool:
        """Whether somebody who comes from the same address has what is left of it rather than new runs: it was left
        behind, or it is used up, perhaps by a connection whose end the server has not seen yet."""
        return self.left() < (1.0 if self.is_open else self.burst)


class Credits:
    """The credits of all connections. Whoever closes a connection and opens another has no new runs by that: a new
    connection begins with the lowest credit that one from the same address has left behind or used up. Each is passed
    on once.

    Readers behind one router have one address: none is slowed as long as none of them asks for more than a reader does.
    """

    def __init__(self) -> None:
        self._open: dict[str, Credit] = {}
        self._known: dict[str, list[Credit]] = {}  # address -> those that were not passed on

    @contextmanager
    def connection(self, scope: Scope) -> Iterator[tuple[Credit, Scope]]:
        """The credit of a connection while it is open, and its scope, with the header by which pages find it."""
        name = secrets.token_hex(16)
        credit = self._open[name] = self._begin(_network(scope))
        headers = [pair for pair in scope["headers"] if pair[0].lower() != HEADER.encode()]
        try:
            yield credit, {**scope, "headers": [*headers, (HEADER.encode(), name.encode())]}
        finally:
            del self._open[name]
            credit.is_open = False

    def of_page(self) -> Callable[[], float]:
        """The share of its free runs that the connection has left for which this page runs; 1 for one without."""
        credit = self._open.get(st.context.headers.get(HEADER) or "")
        return (lambda: 1.0) if credit is None else (lambda: credit.left() / BURST)

    def _begin(self, address: str) -> Credit:
        """The credit of a new connection from this address."""
        self._forget()
        known = self._known.setdefault(address, [])
        credit = Credit()
        if inherited := [each for each in known if each.is_inherited()]:
            lowest = min(inherited, key=Credit.left)
            known.remove(lowest)
            credit = Credit(free=lowest.left())
        known.append(credit)
        return credit

    def _forget(self) -> None:
        """Drop credits of ended connections that have grown to their full size."""
        kept = {
            address: [each for each in known if each.is_open or each.is_inherited()]
            for address, known in self._known.items()
        }
        self._known = {address: known for address, known in kept.items() if known}


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
