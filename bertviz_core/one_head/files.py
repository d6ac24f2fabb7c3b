"""One head as text, JSON, CSV, and one HTML file that stands alone: static drawings, no scripts."""

import json
from collections.abc import Callable, Sequence
from math import isnan
from typing import Any

import pandas as pd

from bertviz_core.analyses.base.found_heads import HeadRole
from bertviz_core.analyses.base.head_figures import HeadCurve, HeadFigure, HeadRow
from bertviz_core.analyses.base.result import csv_bytes, to_lists
from bertviz_core.analyses.base.shown_inputs import Example
from bertviz_core.one_head.clear_input import CaptionedSvg
from bertviz_core.one_head.description import OneHead
from bertviz_core.one_head.drawing import LEGEND, figure_svg
from bertviz_core.plotting.browser import THEME_CSS
from bertviz_core.plotting.html import bullets, document, element

CLEAREST = "Where it is clearest"
ON_SENTENCE = "On your sentence"
LIKE_MOST = "Where it is like most heads"
SUFFIXES = (".html", ".json", ".csv")
LOOK = """
body { max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; margin: .4rem 0; } h2 { font-size: 1rem; margin: 0; }
figure { margin: 0; } figcaption { font-size: .85rem; margin: .2rem 0 .4rem; }
.lead { font-size: 1.1rem; } details { margin: 1rem 0; } summary { cursor: pointer; }
.wide { overflow-x: auto; }
.figures { columns: 22rem; column-gap: 1.6rem; } figure { break-inside: avoid; padding-bottom: 1.2rem; }
"""
DrawLines = Callable[[], CaptionedSvg | None]


def to_frame(shown: OneHead) -> pd.DataFrame:
    """A row for each number of the small figures."""
    rows = []
    for analysis, figure in shown.figures:
        for row in figure.rows:
            rows.append({"analysis": analysis, "figure": figure.title} | numbers_of(row))
    return pd.DataFrame(rows)


def numbers_of(row: HeadRow) -> dict[str, Any]:
    """A number of a head with its interval, its rank and those of all heads, by the names of columns."""
    return {
        "name": row.name,
        "value": row.value,
        "low": row.low,
        "high": row.high,
        "median": row.median,
        "low_of_heads": row.band[0],
        "high_of_heads": row.band[1],
        "rank": row.rank,
        "heads": row.known.size,
        "score": row.score,
        "baseline": row.baseline,
        "text": row.sentence,
    }


def to_text(shown: OneHead) -> str:
    """The sentence, the findings, inputs that show what it finds, every number, what is missing, and where the numbers
    come from."""
    lines = [shown.sentence, *filter(None, [shown.named]), *(finding.sentence for finding in shown.every_finding)]
    lines += [f"{role.name}, {example.title}: {example.text}" for _, role, example in shown.examples]
    for _, figure in shown.figures:
        lines += ["", figure.title, *(f"  {text}" for text in _texts(figure))]
    return "\n".join([*lines, "", *missing(shown), shown.about])


def _texts(figure: HeadFigure) -> list[str]:
    """The numbers, the lists and the sentence of a figure, a line each."""
    lists = [f"{each.name}: {' · '.join(each.words)}" for each in figure.lists]
    return [*(row.sentence for row in figure.rows), *lists, *filter(None, [figure.sentence])]


def missing(shown: OneHead) -> list[str]:
    """What is not computed, as a sentence; none where everything is."""
    return [f"Not computed yet: {', '.join(shown.missing)}."] if shown.missing else []


def to_json(shown: OneHead) -> bytes:
    """The same as JSON; heads are labels that count from 1, and absent numbers are null."""
    figures = []
    for analysis, figure in shown.figures:
        entry: dict[str, Any] = {"analysis": analysis, "title": figure.title, "sentence": figure.sentence}
        entry["rows"] = [_without_nan(numbers_of(row)) for row in figure.rows]
        if figure.lists:
            entry["lists"] = [vars(each) for each in figure.lists]
        if figure.curve:
            entry["curve"] = _curve_json(figure.curve)
        figures.append(entry)
    whole = {
        "head": shown.head.key(),
        "model": shown.model,
        "sentence": shown.sentence,
        "facts": [{"analysis": fact.analysis} | _without_nan(numbers_of(fact.row)) for fact in shown.facts],
        "findings": [finding.to_json() for finding in shown.every_finding],
        "published": [
            {"role": each.role, "value": each.value, "measure": each.measure, **vars(each.paper)}
            for each in shown.published
        ],
        "examples": [_example_json(analysis, role, example) for analysis, role, example in shown.examples],
        "figures": figures,
        "not_computed": shown.missing,
        "origins": shown.origins,
    }
    return json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=1).encode()


def _example_json(analysis: str, role: HeadRole, example: Example) -> dict[str, Any]:
    return {"analysis": analysis, "of": role.name, "title": example.title, "text": example.text}


def _curve_json(curve: HeadCurve) -> dict[str, Any]:
    texts = {"axis": curve.axis, "name": curve.name, "ticks": curve.ticks}
    arrays = {"values": curve.values, "interval": curve.interval, "low": curve.low, "high": curve.high}
    return texts | {name: to_lists(values) for name, values in arrays.items()}


def _without_nan(numbers: dict[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and isnan(value) else value for name, value in numbers.items()}


def to_html(shown: OneHead, lines: CaptionedSvg | None, on_sentence: CaptionedSvg | None = None) -> str:
    """One page that asks nothing of any server and can be framed in another; `contents` says what of."""
    title = title_of(shown)
    return document(title, element("h1", title), *contents(shown, lines, on_sentence), style=THEME_CSS + LOOK)


def title_of(shown: OneHead) -> str:
    """The title of the page of a head."""
    return f"Head {shown.full_label} of {shown.model}"


def contents(shown: OneHead, lines: CaptionedSvg | None, on_sentence: CaptionedSvg | None = None) -> list[str]:
    """The parts of the page of a head below its title, as HTML; every text is escaped.

    Args:
        lines: The lines on the input in which the head is clearest, where no stored inputs show what it finds.
        on_sentence: The head on a reader's sentence.
    """
    evidence = [_figure(ON_SENTENCE, on_sentence.svg, on_sentence.caption)] if on_sentence else []
    evidence += [_figure(f"{role.name}: {example.title}", example.svg) for _, role, example in shown.examples]
    evidence += [_figure(CLEAREST, lines.svg, lines.caption)] if lines else []
    facts = _figure(shown.facts_figure.title, figure_svg(shown.facts_figure, shown.fact_text)) if shown.facts else ""
    like_most = _figures(shown.other_figures)
    return [
        element("p class=lead", shown.claim),
        *(element("p", text) for text in [shown.named] if text),
        f'<div class="figures">{"".join(evidence)}{facts}</div>',
        bullets([finding.sentence for finding in shown.findings]),
        _figures(shown.salient_figures),
        f"<details>{element('summary', LIKE_MOST)}{like_most}</details>",
        *(element("p class=caption", text) for text in (LEGEND, *missing(shown), shown.about)),
    ]


def _figures(figures: Sequence[tuple[str, HeadFigure]]) -> str:
    """Small figures in columns."""
    drawn = (_figure(each.title, figure_svg(each), each.sentence) for _, each in figures)
    return f'<div class="figures">{"".join(drawn)}</div>'


def _figure(title: str, svg: str, sentence: str = "") -> str:
    caption = element("figcaption", sentence) if sentence else ""
    return f"<figure>{element('h2', title)}{caption}<div class=wide>{svg}</div></figure>"


def to_bytes(shown: OneHead, suffix: str, draw_lines: DrawLines, on_sentence: CaptionedSvg | None = None) -> bytes:
    """The file of one of SUFFIXES; lines, and a reader's own sentence, are drawn for HTML alone."""
    if suffix == ".csv":
        return csv_bytes(to_frame(shown))
    return to_json(shown) if suffix == ".json" else to_html(shown, draw_lines(), on_sentence).encode()
