"""Small figures and lines of one head as SVG in the text color of where they stand, without scripts."""

import textwrap
from collections.abc import Callable, Sequence
from math import isnan
from operator import attrgetter

import numpy as np

from bertviz_core.analyses.base.head_figures import HeadCurve, HeadFigure, HeadRow, WordList
from bertviz_core.plotting import BEST
from bertviz_core.plotting.arcs import escaped
from bertviz_core.text_display import cut_end, display_width, isolated

LEGEND = (
    "Dot: this head, with its 95% interval where one is known. Band: the middle 90% of all heads, with their median. "
    "Triangle: the baseline."
)
FAINTEST = 0.04  # the least weight that is drawn as a line
# In pixels
WIDTH = 420
ROW = 40  # height of a row
TRACK = 26  # height of the middle of a row's scale
CURVE = 150  # height of a curve's area
LEFT = 44  # room for the numbers of an axis
LINE = 19  # height of a token
LETTER = 6.5  # width of a letter of a row
DIGIT = 6.5  # width of a digit at an axis


def figure_svg(figure: HeadFigure, text: Callable[[HeadRow], str] = attrgetter("text")) -> str:
    """The rows, lists and curve of a figure, one below the other; `text` says what stands at the right of a row."""
    parts: list[str] = []
    values: list[str] = []
    marks: dict[str, str] = {}
    height = 0
    for row in figure.rows:
        names = _name_lines(row.name, text(row))
        y = height + TRACK + LINE * (len(names) - 1)
        for look, path in _scale(row, y).items():
            marks[look] = marks.get(look, "") + path
        parts.append(_row(row, names, height, y))
        values.append(_text(text(row), WIDTH - 4, height + 14))
        height += ROW + LINE * (len(names) - 1)
    # What looks alike in all rows stands together, which takes fewer bytes: drawings are most of a page.
    parts = [f'<path d="{path}" {look}/>' for look, path in marks.items()] + parts
    parts += [f'<g text-anchor="end" font-weight="600">{"".join(values)}</g>'] if values else []
    height -= 2 if figure.rows else 0
    for each in figure.lists:
        lines = _word_lines(each)
        parts.append(_list(each, lines, height))
        height += LINE * (len(lines) + 1) + 6
    if figure.curve:
        parts.append(_curve(figure.curve, height))
        height += CURVE + 40
    return _svg(parts, height, figure.title)


def lines_svg(labels: Sequence[str], weights: np.ndarray, name: str, keys: Sequence[str] | None = None) -> str:
    """Tokens left and right, and lines as dark as the (query, key) weights; `keys` are the right ones where those are
    others."""
    keys = labels if keys is None else keys
    left, right = round(0.38 * WIDTH), round(0.62 * WIDTH)
    parts = ['<g stroke="currentColor" stroke-width="2">']
    for query, key in np.argwhere(weights >= FAINTEST).tolist():
        weight = float(weights[query, key])
        note = escaped(f"{labels[query]} to {keys[key]}: {weight:.2f}")
        path = f"M{left + 5},{_middle(query)} {right - 5},{_middle(key)}"
        parts.append(f'<path d="{path}" opacity="{min(weight, 1):.2f}"><title>{note}</title></path>')
    parts.append('</g><g text-anchor="end">')
    parts += [_text(label, left, _middle(place) + 4) for place, label in enumerate(map(cut_end, labels))]
    parts.append("</g>")
    parts += [_text(label, right, _middle(place) + 4) for place, label in enumerate(map(cut_end, keys))]
    return _svg(parts, LINE * (max(len(labels), len(keys)) + 0.4), name)


def _middle(place: int) -> int:
    """The height of the middle of a token, from 0."""
    return round((place + 0.7) * LINE)


def _svg(parts: Sequence[str], height: float, name: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" '
        f'height="{height:.0f}" style="max-width: 100%; height: auto" role="img" aria-label="{escaped(name)}" '
        f'fill="currentColor" font-size="13">{"".join(parts)}</svg>'
    )


def _text(text: str, x: float, y: float, look: str = "") -> str:
    return f'<text x="{_short(x)}" y="{_short(y)}"{look and " "}{look}>{escaped(text)}</text>'


def _short(pixels: float) -> str:
    return f"{pixels:.1f}".removesuffix(".0")


def _name_lines(name: str, text: str) -> list[str]:
    """The name of a row in lines that leave room for the text at its right."""
    room = int((WIDTH - 8) / LETTER) - 2 - len(text)
    return textwrap.wrap(name, max(room, 16), max_lines=2, placeholder=" …") or [""]


def _word_lines(listed: WordList) -> list[str]:
    """The words of a list in lines that are as wide as the figure."""
    room = int((WIDTH - 16) / LETTER)
    lines = [""]
    for word in map(isolated, map(cut_end, listed.words)):
        longer = f"{lines[-1]} · {word}" if lines[-1] else word
        if display_width(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _list(listed: WordList, lines: Sequence[str], top: float) -> str:
    """The name of a list, and its words below."""
    words = (_text(line, 14, top + 14 + LINE * number, 'opacity=".85"') for number, line in enumerate(lines, 1))
    return "".join([_text(listed.name, 4, top + 14, 'font-weight="600"'), *words])


def _x(row: HeadRow, value: float) -> float:
    """Where a value is on the scale of a row."""
    low, high = row.limits
    share = (value - low) / (high - low) if high > low else 0.5
    return 6 + min(max(share, 0), 1) * (WIDTH - 12)


def _scale(row: HeadRow, y: float) -> dict[str, str]:
    """From the look of a mark to its outline: the scale, the median, the baseline, and the head's interval."""
    marks = {
        'opacity=".25"': f"M6,{y - 0.5}h{WIDTH - 12}v1H6z",
        'opacity=".7"': f"M{_short(_x(row, row.median) - 0.5)},{y - 5}h1v10h-1z",
    }
    if not isnan(row.baseline):
        marks['opacity=".75"'] = f"M{_short(_x(row, row.baseline))},{y + 2}l-4,7h8z"
    if not isnan(row.low):
        start, end = _x(row, row.low), _x(row, row.high)
        marks[f'fill="{BEST}"'] = f"M{_short(start)},{y - 1.5}h{_short(end - start)}v3H{_short(start)}z"
    return marks


def _row(row: HeadRow, names: Sequence[str], top: float, y: float) -> str:
    """The lines of the name above the band of a row and the head's dot, which are at `y`."""
    start, end = (_x(row, value) for value in row.band)
    parts = [
        f"<title>{escaped(row.sentence)}</title>",
        *(_text(line, 4, top + 14 + LINE * index) for index, line in enumerate(names)),
        f'<path d="M{_short(start)},{y - 5}h{_short(max(end - start, 1))}v10H{_short(start)}z" opacity=".18"/>',
        f'<circle cx="{_short(_x(row, row.value))}" cy="{y}" r="5" fill="{BEST}"/>',
    ]
    return f"<g>{''.join(parts)}</g>"


def _curve(curve: HeadCurve, top: float) -> str:
    """The head's line with its intervals before the band of all heads, above an axis."""
    upper = np.fmax(np.nan_to_num(np.fmax(curve.values, curve.interval[1])), curve.high)
    highest = float(upper.max()) or 1.0
    lowest = min(0.0, float(np.nanmin([curve.values, curve.low])))
    area = CURVE - 20
    step = (WIDTH - LEFT - 8) / max(len(curve.ticks) - 1, 1)

    def at(index: int, value: float) -> str:
        y = top + 12 + area * (1 - (value - lowest) / (highest - lowest))
        return f"{_short(LEFT + index * step)},{_short(y)}"

    outline = [at(i, v) for i, v in enumerate(curve.high.tolist())]
    outline += [at(i, v) for i, v in reversed(list(enumerate(curve.low.tolist())))]
    known = [(i, v) for i, v in enumerate(curve.values.tolist()) if not isnan(v)]
    parts = [
        f'<path d="M{" ".join(outline)}z" opacity=".18"/>',
        f'<path d="M{" ".join(at(i, v) for i, v in known)}" fill="none" stroke="{BEST}" stroke-width="2"/>',
    ]
    bars = ""
    for index, value in known:
        start, end = (at(index, value if isnan(end) else end) for end in curve.interval[:, index].tolist())
        x, y = at(index, value).split(",")
        note = escaped(f"{curve.ticks[index]}: {value:.3g}")
        bars += f"M{start} {end}" if start != end else ""
        parts.append(f'<circle cx="{x}" cy="{y}" r="3" fill="{BEST}"><title>{note}</title></circle>')
    parts.append(f'<path d="{bars}" stroke="{BEST}"/>' if bars else "")
    foot = top + 12 + area
    small = 'font-size="11" opacity=".85"'
    parts.append(f'<path d="M{LEFT},{foot} H{WIDTH - 8}" stroke="currentColor" opacity="0.4"/>')
    longest = max(map(len, curve.ticks)) * DIGIT + 6
    every = max(1, round(np.ceil(longest / step)))
    for index in range(0, len(curve.ticks), every):
        middle = f'{small} text-anchor="middle"'
        parts.append(_text(curve.ticks[index], LEFT + index * step, foot + 14, middle))
    parts.append(_text(f"{highest:.2g}", LEFT - 6, top + 16, f'{small} text-anchor="end"'))
    parts.append(_text(f"{lowest:.2g}", LEFT - 6, foot + 4, f'{small} text-anchor="end"'))
    parts.append(_text(curve.axis, (WIDTH + LEFT) / 2, foot + 30, f'{small} text-anchor="middle"'))
    return "".join(parts)
