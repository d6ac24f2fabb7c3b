"""Masked tokens and pins in the address: positions counted from 1, as on the screen. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable


def masked(parameter: str) -> list[int]:
    """ "3,7" as positions from 0, [2, 6]; what is not a position is ignored."""
    return sorted({int(part) - 1 for part in parameter.split(",") if re.fullmatch(r"[1-9]\d{0,4}", part)})


def to_mask(positions: Iterable[int]) -> str:
    """The parameter that `masked` reads: positions from 0 as "3,7", counted from 1."""
    return ",".join(str(position + 1) for position in sorted(positions))


def placed(parameter: str) -> list[tuple[str, int]]:
    """ "from3,to7" as [("from", 2), ("to", 6)]: sides, and positions from 0."""
    sides = ((pin, "from" if pin.startswith("from") else "to") for pin in pins(parameter))
    return [(side, int(pin.removeprefix(side)) - 1) for pin, side in sides]


def pins(parameter: str) -> list[str]:
    """ "from3,to7" as ["from3", "to7"]; what is not a pin is ignored."""
    return [part for part in parameter.split(",") if re.fullmatch(r"(from|to)[1-9]\d{0,4}", part)]
