"""Every number of every head as one table, for programs, with a card that says what it is."""

import gzip
import json
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from io import BytesIO

import pandas as pd

from bertviz_core import paper
from bertviz_core.analyses.base.head_figures import HeadRow
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import corpus_size, csv_bytes, origin
from bertviz_core.head_atlas.contents import ModelContents
from bertviz_core.one_head.description import OneHead
from bertviz_core.one_head.files import numbers_of
from bertviz_core.overview.head_columns import in_order

PARQUET, CSV, CARD = "heads.parquet", "heads.csv.gz", "README.md"
COLUMNS = {
    "label": "the head, layer-head, counted from 1",
    "layer, head": "both, counted from 1",
    "analysis": "the name of the analysis",
    "figure": "what the number stands under",
    "name": "the number",
    "value": "in the unit of `text`",
    "low, high": "the ends of the 95% interval; empty where none is known",
    "median": "of all heads",
    "low_of_heads, high_of_heads": "the middle 90% of all heads",
    "rank, heads": "1 for the highest, among so many heads that have the number",
    "score": "robust standard deviations from the median",
    "baseline": "the number of a baseline; empty without one",
    "text": "the number as pages show it",
}


def table_of(shown: OneHead) -> pd.DataFrame:
    """A row for each number of a head: those of its page, and those that they are chosen of."""
    return pd.DataFrame(_rows(shown))


def _rows(shown: OneHead) -> Iterator[dict[str, object]]:
    head = {"label": shown.head.key(), "layer": shown.head.layer + 1, "head": shown.head.head + 1}
    for analysis, figure in shown.figures:
        rows: dict[str, HeadRow] = {row.name: row for row in (*figure.rows, *figure.every)}
        for row in rows.values():
            # In few words: the whole sentence would be most of the table.
            yield head | {"analysis": analysis, "figure": figure.title} | numbers_of(row) | {"text": row.text}


def files(contents: ModelContents, tables: Sequence[pd.DataFrame]) -> Iterator[tuple[str, bytes]]:
    """The tables of all heads as one, and its card."""
    table = pd.concat(tables, ignore_index=True)
    yield file_name(), _parquet(table) if file_name() == PARQUET else gzip.compress(csv_bytes(table), mtime=0)
    yield CARD, card(contents, table).encode("utf-8", "replace")


def file_name() -> str:
    """The name of the table: Parquet, else CSV where pyarrow is not installed."""
    return PARQUET if find_spec("pyarrow") else CSV


def _parquet(table: pd.DataFrame) -> bytes:
    packed = BytesIO()
    table.to_parquet(packed, index=False, engine="pyarrow", compression="zstd")
    return packed.getvalue()


def card(contents: ModelContents, table: pd.DataFrame) -> str:
    """The dataset card: what the columns are, and what the numbers were computed from."""
    model = contents.checkpoint.label
    tables = [{"config_name": "heads", "data_files": file_name()}]
    front = {"pretty_name": f"Attention heads of {model}", "configs": tables}
    lines = [
        "---",
        # JSON is YAML, too, and needs no escaping of its own.
        *(f"{key}: {json.dumps(value)}" for key, value in front.items()),
        "---",
        f"# Attention heads of {_plain(model)}",
        "",
        f"{len(table):,} numbers of {len(contents.heads)} heads, by `bertviz-core`. One row for each head and number:",
        "",
        *(f"- `{column}`: {about}" for column, about in COLUMNS.items()),
        "",
        "## Where the numbers come from",
        "",
    ]
    for analysis, result in in_order(contents.results):
        about = origin(result.default_view().provenance)
        entries = {key: value for key, value in about.items() if value is not None and key != "citation"}
        size = corpus_size(result.provenance)
        lines.append(f"- **{ANALYSES[analysis].title}** ({size}): {_plain(_described(entries))}")
    return "\n".join([*lines, "", "## Cite", "", paper.CITATION, ""])


def _described(about: dict[str, object]) -> str:
    return "; ".join(f"{name.replace('_', ' ')} {value}" for name, value in about.items())


def _plain(text: str) -> str:
    """A text in Markdown as it is, on one line."""
    line = " ".join(text.split())
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>()#|!" else letter for letter in line)
