"""Parsing of numbers from untrusted text, and formatting of numbers."""

import math
import re

SINGULAR = {"analyses": "analysis", "passes": "pass"}  # singulars of plurals that do not add an s
SHOWN_UNITS = {"segments": "passages"}  # units as results count them -> their names on the screen
NATS = ", nats"  # unit at the end of a label
SCALE_OF_NATS = 20.0  # of a change of a log-probability: from 1 to 2e-9


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
    size, bracket, note = value.partition(" (")
    return f"{name} {size}{' nats' if name != label else ''}{bracket}{note}"


def percentage(share: float) -> str:
    """A share in percent; a dash for NaN."""
    return "–" if math.isnan(share) else f"{share:.1%}"


def p_value(value: float) -> str:
    """What follows a "p": "= 0.041", or "< 0.001" for smaller values; a dash where there is none."""
    if math.isnan(value):
        return "–"
    return f"= {value:.3f}" if value >= 0.001 else "< 0.001"


def measured(
    value: float,
    half: float | None,
    sign: str = "",
    *,
    percent: bool = False,
    unit: str = "",
    scale: float = math.inf,
    units: str = "",
) -> str:
    """A value and half of its 95% interval, of which two digits are shown, and the value to the last of them: the
    precision that the sample has. Beyond six decimals they are powers of ten; without an interval, and where that has
    no width, the value is as `number` has it, percents and points with one decimal. Of a value that has a scale, an
    interval that is wider than the scale, or not known, says nothing.

    Args:
        half: None, or NaN, where no interval is known.
        sign: May be "+".
        percent: Whether it is a share, which is shown in percent.
        unit: What follows both.
        scale: How far the largest possible value is from the smallest.
        units: What intervals are over, in the plural.

    >>> measured(0.18234, 0.0031), measured(60.12, 1.3), measured(-0.000015, 0.0002)
    ('0.1823 ± 0.0031', '60.1 ± 1.3', '-0.00002 ± 0.00020')
    >>> measured(0.672, 0.0351, percent=True), measured(-5, 2.1, "+", unit=" points")
    ('67.2% ± 3.5%', '-5.0 ± 2.1 points')
    >>> measured(2.5, 2049.7, "+", unit=" points", scale=200, units="pairs")
    '+2.5 points (too few pairs to say)'
    """
    factor, mark = (100, "%") if percent else (1, "")
    value, half = factor * value, factor * (math.nan if half is None else float(half))
    width = 0.0 if math.isnan(half) else float(f"{half:.1e}")
    scale = factor * scale
    alone = (f"{value:{sign}.1f}" if percent or 100 <= scale < math.inf else number(value, sign)) + mark
    if scale < math.inf and not 2 * half <= scale:
        return f"{alone}{unit} (too few {unit_name(units)} to say)"
    if not width:
        return f"{alone} ± {'0' if half == 0 else '–'}{unit}"
    decimals = max(0, 1 - math.floor(math.log10(width)))
    if decimals > 6:
        digits = math.floor(math.log10(abs(value) or width)) + decimals
        return f"{value:{sign}.{max(0, digits)}e}{mark} ± {width:.1e}{mark}{unit}"
    return f"{value:{sign}z,.{decimals}f}{mark} ± {width:,.{decimals}f}{mark}{unit}"


def nats(value: float, half: float | None, units: str, unit: str = " nats") -> str:
    """A change of a loss or of a log-probability, with half of its 95% interval, as `measured` has it; one
    that is wider than SCALE_OF_NATS says nothing.

    >>> nats(0.021, 0.0042, "pairs"), nats(1.5, 1300.0, "pairs")
    ('+0.0210 ± 0.0042 nats', '+1.500 nats (too few pairs to say)')
    """
    return measured(value, half, "+", unit=unit, scale=SCALE_OF_NATS, units=units)


def fixed(value: float, decimals: int = 3) -> str:
    """A number in a column of fixed decimals: "< 0.001" for a positive one that they would round to nothing, "> -0.001"
    for a negative one, a dash for NaN."""
    if math.isnan(value):
        return "–"
    least = 10.0**-decimals
    if 0 < abs(value) < least / 2:
        return f"< {least:.{decimals}f}" if value > 0 else f"> -{least:.{decimals}f}"
    return f"{value:,.{decimals}f}"


def duration(seconds: float) -> str:
    """A time in seconds, from 90 on in minutes.

    >>> duration(41.4), duration(90), duration(722)
    ('41 s', '2 min', '12 min')
    """
    return f"{seconds:,.0f} s" if seconds < 90 else f"{seconds / 60:,.0f} min"


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
