"""A result as a file: JSON, CSV, a zip of CSV, HTML, SVG, LaTeX or safetensors."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from bertviz_core.analyses.base.block_contents import chosen_texts, first_claim, flat, tables, tables_of
from bertviz_core.analyses.base.blocks import Block, Chart, Map, Say
from bertviz_core.analyses.base.reading_warnings import reading_warnings
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result, csv_bytes, origin
from bertviz_core.analyses.base.table_blocks import Inputs, Table
from bertviz_core.comparison import figure as comparison_figure
from bertviz_core.corpora import describe_skipped
from bertviz_core.emergence import page_blocks as emergence_blocks
from bertviz_core.errors import SettingsError
from bertviz_core.heads import counting_from
from bertviz_core.models.checkpoint import label_of
from bertviz_core.numbers import column_decimals, fixed, number
from bertviz_core.plotting import drawing
from bertviz_core.plotting.drawing import figure_html, html_page
from bertviz_core.plotting.html import bullets, element, table
from bertviz_core.text_display import printable

OTHERS: dict[str, ModuleType] = {"comparison": comparison_figure, "emergence": emergence_blocks}
PRINTED = 10  # rows of a table that are printed
SHOWN = 100  # rows of a table of a part that a page has
SUFFIXES = (".csv", ".zip", ".json", ".html", ".svg", ".safetensors")


def to_json(result: Result) -> bytes:
    """The result as JSON, with its findings; absent values are null or missing, never 0."""
    warnings = reading_warnings(result)
    analysis = ANALYSES.get(result.analysis)
    if analysis:
        findings = [finding.to_json() for finding in analysis.findings(result)]
    else:
        findings = [{"sentence": sentence} for sentence in sentences(result)]
    whole = {
        "analysis": result.analysis,
        "provenance": result.provenance,
        **({"intervals_over": result.units_text} if result.units_text else {}),
        **result.summary(),
        **({"warnings": warnings} if warnings else {}),
        **({"chosen": _chosen_json(result)} if result.choices else {}),
        "findings": findings,
        "arrays": result.arrays(),
        "table": json.loads(result.to_frame().to_json(orient="records", double_precision=15)),
    }
    return json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=1).encode()


def _chosen_json(result: Result) -> dict[str, Any]:
    """What is chosen of a result, by name; what its page says first about it, and what else."""
    shown = blocks_of(result)
    finding = first_claim(shown)
    claim = {"finding": finding.to_json()} if finding else {}
    of_page = {each.name: _table_json(each) for each in tables(shown)}
    return result.choices | claim | {"notes": chosen_texts(shown), "tables": of_page}


def _table_json(part: Table) -> dict[str, Any]:
    note = {"note": part.note} if part.note else {}
    return {"title": part.title, **note, "rows": json.loads(part.table.to_json(orient="records", double_precision=15))}


def to_csv(result: Result, frame: pd.DataFrame | None = None) -> bytes:
    """The tidy table, or another of the result's; the last columns of every row contain its provenance,
    as "heads_of_run" where the table has a column "heads"."""
    table = result.to_frame() if frame is None else frame
    if result.units_text:
        table = table.assign(intervals_over=result.units_text)
    about = {name: ",".join(v) if isinstance(v, list) else v for name, v in origin(result.provenance).items()}
    return csv_bytes(table.assign(**{f"{name}_of_run" if name in table else name: v for name, v in about.items()}))


def to_zip(result: Result) -> bytes:
    """Every table as a CSV file: `table.csv`, those of `Result.tables` by their names, and those of what is chosen as
    `chosen_head.csv` and so on."""
    shown = tables(blocks_of(result)) if result.choices else []
    chosen = {f"chosen_{each.name}": each.table for each in shown}
    frames = {"table": result.to_frame(), **result.tables(), **chosen}
    return zipped({name: to_csv(result, frame) for name, frame in frames.items()})


def zipped(tables: dict[str, bytes]) -> bytes:
    """CSV files by their names in one archive, equal for equal files."""
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, data in tables.items():
            # ZipInfo has a fixed date, so that equal tables make equal files.
            archive.writestr(ZipInfo(f"{name}.csv"), data, ZIP_DEFLATED)
    return packed.getvalue()


def to_text(result: Result) -> str:
    """The table as plain text, followed by its origin, what was skipped, and what it shows."""
    frame = result.to_frame().filter(regex="(?<!_interval)$")
    lines = [*(f"Warning: {line}" for line in reading_warnings(result))]
    lines += [frame.to_string(index=False, float_format=number, na_rep="-"), ""]
    for name, value in result.arrays().items():
        if isinstance(value, int | float):
            lines.append(f"{name}: {value if isinstance(value, int) else number(value)}")
    lines += [f"{name}: {text}" for name, text in _texts(origin(result.provenance)).items()]
    lines += [f"skipped or modified: {line}" for line in describe_skipped(result.provenance["skipped"])]
    shown = blocks_of(result)
    of_page = [line for each in tables(shown) for line in ("", *_table_text(each))]
    return "\n".join([*lines, *result.notes, "", *chosen_sentences(shown), *sentences(result), *of_page])


def _table_text(part: Table) -> list[str]:
    """What is shown of a table in plain text: its inputs, or its first rows."""
    lines = [f"{part.title}{'' if part.title.endswith('.') else '.'} {part.note}".strip()]
    examples = part.examples if isinstance(part, Inputs) else ()
    for each in examples:
        lines += [f"  {each.title}", f"    {each.text}", *(f"    {note}" for note in each.notes)]
    if not examples and len(part.table):
        lines += printed_cells(part, PRINTED).to_string(index=False).splitlines()
        if len(part.table) > PRINTED:
            lines.append(f"... {len(part.table) - PRINTED:,} more rows: --out x.zip has all.")
    return lines


def paper_figure(result: Result) -> go.Figure:
    """The figure of a result, of an analysis, a comparison or an emergence."""
    analysis = ANALYSES.get(result.analysis)
    return analysis.figure(result) if analysis else OTHERS[result.analysis].paper_figure(result)


def blocks_of(result: Result) -> list[Block]:
    """What is shown of a result, of an analysis, a comparison or an emergence."""
    analysis = ANALYSES.get(result.analysis)
    return analysis.shown(result) if analysis else [*OTHERS[result.analysis].blocks(result)]


def title_of(result: Result) -> str:
    """Title of a result, as "Surface patterns: demo on encyclopedia"."""
    title = ANALYSES[result.analysis].title if result.analysis in ANALYSES else result.analysis.capitalize()
    about = origin(result.provenance)
    return f"{title}: {label_of(about['model'])} on {about['corpus']}"


def to_html(result: Result) -> bytes:
    """Title, findings, figures, what is chosen, table and origin as one self-contained page."""
    title = title_of(result)
    whole = element("h2", "Table"), table_html(result.to_frame())
    return html_page(title, element("h1", title), *contents(result, *whole)).encode()


def contents(result: Result, *whole: str) -> Iterator[str]:
    """The parts of a page of a result below its title, as HTML; texts of files are escaped.

    Args:
        whole: HTML of what stands after all that is shown of the result, as its table.
    """
    skipped = describe_skipped(result.provenance["skipped"])
    warnings = [element("p class=strong", line) for line in reading_warnings(result)]
    shown = blocks_of(result)
    chosen_lines = chosen_sentences(shown) if result.choices else []
    chosen = [element("p class=strong", line) for line in chosen_lines]
    yield from (*warnings, *chosen, bullets(sentences(result)), bullets(result.notes))
    yield from map(_block_html, flat(shown))
    yield from (*whole, element("h2", "Skipped or modified"), bullets(skipped or ["Nothing."]))
    for name, provenance in result.runs.items():
        yield element("h2", f"Where {name} come from")
        yield bullets(described_origin(provenance))


def _block_html(block: Block) -> str:
    """A block on a page that stands alone. Claims and what follows choices stand at its beginning, and the table of all
    heads is the table of the result."""
    if isinstance(block, Chart):
        note = element("figcaption", block.note) if block.note else ""
        return f"<figure>{element('h2', block.title)}{figure_html(block.figure)}{note}</figure>"
    if isinstance(block, Map):
        return f"<figure>{element('h2', block.heading)}{figure_html(block.figure)}</figure>"
    if isinstance(block, Say):
        return element("p class=caption", block.text) if block.in_files and not (block.chosen or block.first) else ""
    return "".join(map(_of_page_html, tables_of(block)))


def table_html(frame: pd.DataFrame) -> str:
    """A table as HTML, its texts escaped."""
    table = frame.to_html(index=False, float_format=number, na_rep="–", border=0)
    return f"<div class=wide>{table}</div>"


def cells_html(part: Table, caption: str = "") -> str:
    """All rows of a part's table as HTML, as people read them."""
    cells = printed_cells(part, len(part.table))
    return table(caption, list(cells), cells.to_numpy().tolist())


def printed_cells(part: Table, rows: int) -> pd.DataFrame:
    """The first rows of a part's table as texts, all numbers of a column with the same decimals, without columns that
    are empty."""
    texts = {}
    for name, column in part.table.head(rows).items():
        if name in part.as_printed:
            texts[str(name)] = ["–" if pd.isna(value) else f"{value:g}" for value in column]
        elif column.dtype.kind == "f":
            decimals = _decimals(column.to_numpy()) if part.decimals is None else part.decimals
            texts[str(name)] = [fixed(value, decimals) for value in column]
        else:
            form = ("+," if name in part.signed else ",") if column.dtype.kind in "iu" else ""
            texts[str(name)] = ["–" if pd.isna(value) else format(value, form) for value in column]
    return pd.DataFrame({name: column for name, column in texts.items() if any(column)})


def _decimals(values: np.ndarray) -> int:
    """As few decimals as show rounded numbers, at most those of `column_decimals`."""
    most = column_decimals(float(np.nanmax(np.abs(values), initial=0)))
    return next((count for count in range(most) if np.allclose(values.round(count), values, equal_nan=True)), most)


def _of_page_html(part: Table) -> str:
    """A table, or in its place the drawings of its inputs."""
    examples, legend = (part.examples, part.legend) if isinstance(part, Inputs) else ((), "")
    about = " ".join(filter(None, (legend, part.note)))
    sections = [element("h2", part.title), element("p class=caption", about) if about else ""]
    for each in examples:
        shown = f"<div class=wide>{each.svg}</div>" if each.svg else element("p dir=auto", each.text)
        sections.append(f"<figure>{element('h3', each.title)}{shown}{bullets(each.notes)}</figure>")
    if not examples:
        texts = printed_cells(part, SHOWN)
        sections.append(table("", list(texts.columns), texts.to_numpy().tolist()))
        if len(part.table) > SHOWN:
            more = f"{len(part.table) - SHOWN:,} more rows are in the ZIP and the JSON."
            sections.append(element("p class=caption", more))
    return "".join(sections)


def described_origin(provenance: dict[str, Any]) -> list[str]:
    """The origin of a result as lines of "name: value"; what is not set is left out."""
    about = origin(provenance)
    about["limit"] = about["limit"] or "all inputs"
    return [f"{name.replace('_', ' ')}: {text}" for name, text in _texts(about).items()]


def _texts(about: dict[str, Any]) -> dict[str, str]:
    """The fields of an origin as texts, without what is not set."""
    known = {name: value for name, value in about.items() if value is not None}
    return {name: ", ".join(map(str, v)) if isinstance(v, list) else str(v) for name, v in known.items()}


def sentences(result: Result) -> list[str]:
    """What a result shows: its findings, or what is said first of a comparison or an emergence."""
    if result.analysis in ANALYSES:
        return [finding.text for finding in ANALYSES[result.analysis].findings(result)]
    return [block.text for block in flat(blocks_of(result)) if isinstance(block, Say) and block.first]


def chosen_sentences(shown: Sequence[Block]) -> list[str]:
    """What blocks say of what is chosen: the first claim, and the sentences that follow choices and are not in it."""
    finding = first_claim(shown)
    claim = finding.text if finding else ""
    return [*filter(None, [claim]), *(text for text in chosen_texts(shown) if text not in claim)]


def to_latex(result: Result) -> str:
    """The paper's table after comments that say what it is of: the model, the corpus, what is chosen, the source. Heads
    count from 1, also where a page shows it to a reader who counts from 0."""
    latex = ANALYSES[result.analysis].latex
    assert latex, "an analysis with a table"
    with counting_from(1):
        chosen = chosen_sentences(blocks_of(result))
        lines = [title_of(result), *chosen, *described_origin(result.provenance), *result.notes]
        comments = "".join(f"% {printable(' '.join(line.split()))}\n" for line in lines)
        return comments + latex(result)


def to_svg(result: Result) -> bytes:
    """The paper's figure with its origin at the foot; raises SettingsError without kaleido."""
    about = origin(result.provenance)
    digests = [name for name in about if name.endswith("_digest") and name != "corpus_digest"]
    files = [f"{name.removesuffix('_digest')} {about[name][:8]}" for name in digests]
    parts = [about["model_fingerprint"][:8], about["corpus_digest"][:8], *files, about["mode"]]
    caption = f"{title_of(result)}; {', '.join(parts)}; after Clark et al. 2019"
    return drawing.to_svg(paper_figure(result), caption)


def suffixes(analysis: str) -> tuple[str, ...]:
    """Suffixes of the files that a result can be written as."""
    return (*SUFFIXES, ".tex") if analysis in ANALYSES and ANALYSES[analysis].latex else SUFFIXES


def builders(result: Result) -> dict[str, Callable[[], bytes]]:
    """Suffix -> builder of the file's bytes."""
    shown = result.default_view()
    files: dict[str, Callable[[], bytes]] = {
        ".csv": partial(to_csv, shown),
        ".zip": partial(to_zip, shown),
        ".json": partial(to_json, shown),
        ".html": partial(to_html, shown),
        ".svg": partial(to_svg, shown),
        # Of a view, the file has the stored result behind it.
        ".safetensors": (getattr(result, "stored", None) or result).to_bytes,
    }
    if (analysis := ANALYSES.get(result.analysis)) and analysis.latex:
        files[".tex"] = lambda: to_latex(shown).encode()
    return files


def slug(*parts: str) -> str:
    """A file's name of parts with hyphens between; what file systems may refuse becomes an underscore."""
    return "-".join(re.sub(r"[^\w.+-]+", "_", part).strip("._") or "_" for part in parts)


def write_bytes(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write a file as a whole or in pieces, visible when it is complete.

    Raises:
        SettingsError: The file cannot be written.
    """
    unfinished = path.with_name(path.name + ".partial")
    try:
        with unfinished.open("wb") as stream:
            stream.writelines([data] if isinstance(data, bytes) else data)
        unfinished.replace(path)
    except OSError as error:
        hint = "Name a folder that can be written and has room."
        raise SettingsError(f"The file cannot be written ({error.strerror}).", where=str(path), hint=hint) from error
    finally:
        with suppress(OSError):  # A read-only file system refuses it even where there is no such file.
            unfinished.unlink(missing_ok=True)


def json_pieces(records: Iterable[Any]) -> Iterator[bytes]:
    """What `json.dumps(list(records), ensure_ascii=False, indent=1)` gives, a record at a time."""
    before = "[\n"
    for record in records:
        lines = json.dumps(record, ensure_ascii=False, indent=1).replace("\n", "\n ")
        yield f"{before} {lines}".encode("utf-8", "replace")
        before = ",\n"
    yield b"[]" if before == "[\n" else b"\n]"


def check_path(path: Path, allowed: tuple[str, ...]) -> str:
    """The suffix of a path, one of those allowed.

    Raises:
        SettingsError: The path cannot be written; this is known ahead of any work.
    """
    suffix = next((suffix for suffix in allowed if path.name.lower().endswith(suffix)), None)
    if suffix is None:
        what = f"{path.name!r} cannot be written: its extension is not one of {', '.join(allowed)}."
        raise SettingsError(what, hint="Choose one of these extensions.")
    if not path.parent.is_dir() or path.is_dir():
        what = "This is a folder, not a file" if path.is_dir() else f"There is no folder {str(path.parent)!r}"
        raise SettingsError(f"{what}.", where=str(path), hint="Give a file in an existing folder.")
    if suffix == ".svg":
        drawing.check_svg()
    return suffix
