"""The overview of a model in the site: the map of its heads, what they show, the finder, and the scatter."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from pandas.api.types import is_numeric_dtype

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results, corpus_size
from bertviz_core.analyses.behaviors import found_by_heads, linguistic
from bertviz_core.exports import cells_html
from bertviz_core.head_atlas import headvis, numbers
from bertviz_core.head_atlas.analysis_pages import REPORT, address_of
from bertviz_core.head_atlas.contents import ModelContents
from bertviz_core.head_atlas.page_frame import MAP, OVERVIEW_SCRIPTS, PAGES, Frame, anchor, folded, with_links
from bertviz_core.heads import Head
from bertviz_core.numbers import number
from bertviz_core.overview.clearest_heads import clearest_head
from bertviz_core.overview.head_columns import behavior_heads, columns, in_order
from bertviz_core.overview.named_heads import top_sentence
from bertviz_core.overview.statement_tables import holding, statements_table
from bertviz_core.overview.summary import (
    behavior_map,
    behaviors_finding,
    describe_model,
    encoded_cards,
    role_words,
)
from bertviz_core.overview.vocabulary import Vocabulary, vocabulary
from bertviz_core.plotting import DIVERGING, LIGHT_TO_DARK, SEQUENTIAL
from bertviz_core.plotting.browser import UNSAFE
from bertviz_core.plotting.head_map import HeadMap, value_map
from bertviz_core.plotting.html import bullets, element

HEADS = "heads/"
SHOWN_COLUMNS = 5  # of the table, until an expression names others
EXAMPLE = "previous token > 0.5 and entropy < 2"
ALT = "Map of all heads, layer by head"


def overview_page(contents: ModelContents) -> bytes:
    """The page."""
    label = contents.checkpoint.label
    frame = Frame(
        title=f"Attention heads of {label}",
        root="../",
        home=contents.home,
        trail=[("../index.html", "Atlas")],
        styles=(PAGES, MAP),
        scripts=OVERVIEW_SCRIPTS,
    )
    keys = {head.key() for head in contents.heads}
    sections = [*_opening(contents), *_tools(contents), *_findings(contents), *_lists(contents)]
    return frame.page(element("h1", label), *(with_links(part, keys, HEADS) for part in sections))


def _opening(contents: ModelContents) -> Iterator[str]:
    kind, sight = describe_model(contents.checkpoint)
    yield element("p class=caption", f"{kind}. {sight}")
    finding = behaviors_finding(contents.results)
    yield element("p class=lead", finding.claim or finding.sentence)
    if named := top_sentence(contents.results):
        yield element("p", named)


def _tools(contents: ModelContents) -> Iterator[str]:
    """Places that the script fills, the table of heads for those without it, and the data of both."""
    known = vocabulary(contents.results)
    does = _roles(contents)
    yield '<div id="map"></div>'
    yield element("h2", "Find heads")
    yield '<div id="finder"></div>'
    yield f'<div id="table">{_heads_table(contents, known, does)}</div>'
    yield element("h2", "Two numbers of every head")
    yield '<div id="scatter"></div>'
    data = json.dumps(_data(contents, known, does), ensure_ascii=False, allow_nan=False).translate(UNSAFE)
    yield f'<script type="application/json" id="data">{data}</script>'


def _roles(contents: ModelContents) -> list[str]:
    """What each head does, in a few words; empty where it has no named behavior, or none is computed."""
    members = behavior_heads(contents.results)
    named = linguistic(contents.results)
    return [role_words(members, named, head) if members else "" for head in contents.heads]


def _heads_table(contents: ModelContents, known: Vocabulary, does: list[str]) -> str:
    terms = known.terms[:SHOWN_COLUMNS]
    values = [known.numbers(term) for term in terms]
    head = "".join(element("th", name) for name in ("head", "what it does", *(term.name for term in terms)))
    rows = []
    for index, each in enumerate(contents.heads):
        cells = [anchor(f"{HEADS}{each.key()}.html", each.key()), _cell(does[index])]
        cells += ["–" if np.isnan(column[index]) else number(column[index]) for column in values]
        rows.append("".join(f"<td>{cell}</td>" for cell in cells))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(text: str) -> str:
    return element("span", text)


def _data(contents: ModelContents, known: Vocabulary, does: list[str]) -> dict[str, Any]:
    """What the script draws: the map, names, numbers and texts of heads."""
    used = dict.fromkeys([*(term.column for term in known.terms), *known.names.values()])
    has_numbers = {name: is_numeric_dtype(known.table[name]) for name in used}
    across, up, color = known.axes((None, None, None), "")
    return {
        "heads": [head.key() for head in contents.heads],
        "does": does,
        "map": _map(contents.results, contents.checkpoint.label),
        "scales": {"one": SEQUENTIAL, "both": DIVERGING, "dots": LIGHT_TO_DARK},
        "names": known.names,
        "terms": [{"name": term.name, "text": term.text, "column": term.column} for term in known.terms],
        "numbers": {name: _numbers(known, name) for name in used if has_numbers[name]},
        "words": {name: list(map(str, known.table[name])) for name in used if not has_numbers[name]},
        "axes": [known.terms.index(term) for term in (across, up, color)],
        "columns": SHOWN_COLUMNS,
        "example": EXAMPLE,
        "folder": HEADS,
    }


def _numbers(known: Vocabulary, name: str) -> list[float | None]:
    values = known.table[name].to_numpy(dtype=float).tolist()
    return [value if np.isfinite(value) else None for value in values]


def _map(results: Results, label: str) -> dict[str, Any]:
    """The map of behaviors with a card for each head; without behaviors that of the first number."""
    members = behavior_heads(results)
    first = clearest_head(results) or Head(0, 0)
    drawn: HeadMap
    cards: dict[str, Any] = {}
    if members is None:
        column = columns(results)[0]
        top = column.spec.maximum or float(np.nanmax(column.values))
        drawn = value_map(column.values, column.spec.label, limits=(0.0, top), unit=column.spec.label)
    else:
        drawn = behavior_map(members, columns(results), linguistic(results), found=found_by_heads(results))
        cards = json.loads(encoded_cards(results))
    of_page = {"chosen": first.key(), "alt": ALT, "name": "head-map", "origin": label, "height": None}
    return json.loads(drawn.encoded) | of_page | cards


def _findings(contents: ModelContents) -> Iterator[str]:
    """What holds for this model, then every statement with its rule."""
    yield element("h2", "Findings")
    hold = [each.sentence for each in holding(contents.results)]
    yield bullets(hold) or element("p", "No statement about single heads is shown for this model on these corpora.")
    block = statements_table(contents.results, contents.checkpoint.label)
    yield folded(f"All {len(block.table)} statements", cells_html(block))


def _lists(contents: ModelContents) -> Iterator[str]:
    """The pages of analyses, with what is missing, and the files."""
    yield element("h2", "Analyses")
    items = []
    for name, result in in_order(contents.results):
        about = result.provenance
        size = f" {about['corpus']['name']}: {corpus_size(about)}."
        items.append(f"{anchor(address_of(name), ANALYSES[name].title)}{element('span class=caption', size)}")
    yield f'<ul class="pages">{"".join(f"<li>{item}</li>" for item in items)}</ul>'
    missing: dict[str, list[str]] = {}
    for name, reason in contents.report.missing.items():
        missing.setdefault(reason, []).append(ANALYSES[name].title)
    for reason, titles in missing.items():
        yield element("p class=caption", f"Not in this site: {', '.join(titles)}. {reason}")
    yield element("h2", "Files")
    yield f'<ul class="pages">{"".join(f"<li>{item}</li>" for item in _file_items())}</ul>'
    if contents.load is None:
        yield element("p class=caption", "The model was not run for this site: pages of heads have no attention lines.")


def _file_items() -> Iterator[str]:
    yield f"{anchor(REPORT, 'Report')}: the figures and tables of the paper for this model, on one page to print"
    yield f"{anchor(numbers.file_name(), numbers.file_name())}: every number of every head with its interval"
    yield f"{anchor(numbers.CARD, 'Dataset card')}: what its columns are, and where the numbers come from"
    yield (
        f"{anchor(f'{headvis.FOLDER}/scatter_data.json', 'scatter_data.json')} and "
        f"{anchor(f'{headvis.FOLDER}/config.json', 'config.json')}: the heads for the viewer HeadVis, "
        f"which reads the folder {headvis.FOLDER} as its data"
    )
