"""Parsing of numbers from untrusted text, and formatting of numbers."""

import math
import re

SINGULAR = {"analyses": "analysis", "passes": "pass"}  # singulars of plurals that do not add an s
SHOWN_UNITS = {"segments": "passages"}  # units as results count them -> their names on the screen
NATS = ", nats"  # unit at the end of a label


def small_int(text: str) -> int | None:
    """The number of one to nine ASCII digits, None for another text; `int` also reads ٣ and 1_0."""
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else None


def number(value: float, sign: str = "") -> str:
    """Three decimals, from 10 on one; below 0.1 three significant digits (0.00042), below 0.0001 two (-2.1e-09). `sign`
    may be "+"."""
    size = abs(value)
    if size >= 10:
        return f"{value:{sign},.1f}"
    if size >= 0.1 or size == 0:
        return f"{value:{sign}.3f}"
    return f"{value:{sign}.3g}" if size >= 1e-4 else f"{value:{sign}.1e}"


def column_decimals(largest: float) -> int:
    """Decimals of a column of numbers, of which the largest has this size: three, or what shows three of its digits.
    The size is NaN where the column has no number.

    >>> column_decimals(0.72), column_decimals(0.042), column_decimals(0.0), column_decimals(math.nan)
    (3, 4, 3, 3)
    """
    return 3 if largest == 0 or math.isnan(largest) else min(9, max(3, 2 - math.floor(math.log10(largest))))


def quantity(label: str, value: str) -> str:
    """A label with its value, then its unit: "entropy 4.2 nats"."""
    name = label.removesuffix(NATS)
    return f"{name} {value}" + (" nats" if name != label else "")


def percentage(share: float) -> str:
    """A share in percent; a dash for NaN."""
    return "–" if math.isnan(share) else f"{share:.1%}"


def p_value(value: float) -> str:
    """What follows a "p": "= 0.041", or "< 0.001" for smaller values; a dash where there is none."""
    if math.isnan(value):
        return "–"
    return f"= {value:.3f}" if value >= 0.001 else "< 0.001"


def half_width(value: float | None, form: str = ".2g") -> str:
    """Half of an interval; a dash for none, "<0.001" for what the form would round to nothing."""
    if value is None or math.isnan(value):
        return "–"
    text = format(value, form if value < 99 else ",.0f")
    is_lost = value > 0 and not re.search("[1-9]", text)
    return "<" + re.sub("0(?=%?$)", "1", text) if is_lost else text


def plus_minus(half: float, form: str, *, scale: float, units: str, unit: str = "") -> str:
    """What follows a value that has a scale: half its 95% interval, and its unit. An interval that is wider than the
    scale, or not known (NaN), says nothing.

    Args:
        scale: How far the largest possible value is from the smallest, in the unit of `half`.
        units: What intervals are over, in the plural.

    >>> f"+2.5{plus_minus(3.14, '.1f', scale=200, units='pairs', unit=' points')}"
    '+2.5 ± 3.1 points'
    >>> f"+2.5{plus_minus(2049.7, '.1f', scale=200, units='pairs', unit=' points')}"
    '+2.5 points (too few pairs to say)'
    """
    if 2 * half <= scale:
        return f" ± {half_width(half, form)}{unit}"
    return f"{unit} (too few {unit_name(units)} to say)"


def measured(value: float, half: float) -> str:
    """A value and half of its 95% interval, both to the first digit of that half: the precision that the sample has.
    Beyond six decimals they are powers of ten; without an interval the value is as `number` has it.

    >>> measured(0.18234, 0.0031), measured(60.12, 1.3), measured(-0.000015, 0.0002)
    ('0.182 ± 0.003', '60 ± 1', '0.0000 ± 0.0002')
    """
    if math.isnan(half) or half == 0:
        return f"{number(value)} ± {half_width(half, '.1g')}"
    first = float(f"{half:.0e}")
    decimals = max(0, -math.floor(math.log10(first)))
    if decimals > 6:
        return f"{value:.1e} ± {first:.0e}"
    return f"{value:z,.{decimals}f} ± {first:,.{decimals}f}"


def fixed(value: float, decimals: int = 3) -> str:
    """A number in a column of fixed decimals: "< 0.001" for a positive one that they would round to nothing, "> -0.001"
    for a negative one, a dash for NaN."""
    if math.isnan(value):
        return "–"
    least = 10.0**-decimals
    if 0 < abs(value) < least / 2:
        return f"< {least:.{decimals}f}" if value > 0 else f"> -{least:.{decimals}f}"
    return f"{value:,.{decimals}f}"


def unit_name(units: str) -> str:
    """What is counted, in the plural, as readers know it."""
    return SHOWN_UNITS.get(units, units)


def plural(count: int, units: str) -> str:
    """A number of things in the plural, as "1 document" or "2,000 words"."""
    units = unit_name(units)
    if count == 1:
        singular = units.removesuffix("s")
        units = SINGULAR.get(units, singular)
    return f"{count:,} {units}"
