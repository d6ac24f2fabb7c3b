"""The results in a store, and the overview of a model as a table, from the largest of its results."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Options, Request, is_current
from bertviz_core.analyses.base.result import Provenance, Result, Results, csv_bytes, describe_header, origin
from bertviz_core.analyses.run.reading import read
from bertviz_core.corpora.source import Source
from bertviz_core.engine.store import Store
from bertviz_core.errors import InputError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.numbers import number
from bertviz_core.overview.head_columns import columns, frame
from bertviz_core.overview.named_heads import top_sentence
from bertviz_core.overview.statement_tables import decided
from bertviz_core.overview.vocabulary import find
from bertviz_core.settings import Settings

SUFFIXES = (".csv", ".json")


@dataclass(frozen=True)
class StoredResult:
    """A stored result, without its arrays."""

    key: str
    analysis: str
    provenance: Provenance


def stored_results(store: Store) -> Iterator[StoredResult]:
    """Every stored or shipped result whose format is current, of an analysis that is registered."""
    for key, head in store.headers():
        header = describe_header(head)
        if header is None or header[0] not in ANALYSES:
            continue
        analysis, provenance = header
        if is_current(analysis, provenance):
            yield StoredResult(key, analysis, provenance)


def largest(store: Store, fingerprint: str, settings: Settings) -> dict[str, Any]:
    """For each analysis a model's stored result of the most tokens, in the settings' mode, and without options."""
    best: dict[str, tuple[int, str]] = {}  # from an analysis to the tokens and the key of its result
    for stored in stored_results(store):
        analysis = stored.analysis
        about = stored.provenance
        is_plain = not about["options"] and "others" not in about
        if not is_plain or about["model"]["fingerprint"] != fingerprint:
            continue
        expected = ANALYSES[analysis].relevant(settings).to_json()
        if all(about["settings"].get(name) == expected.get(name) for name in ("mode", "weights")):
            entry = int(about["tokens"]), stored.key  # Of equal results the last key counts.
            best[analysis] = max(entry, best.get(analysis, entry))
    results = {name: read(store, best[name][1], name) for name in ANALYSES if name in best}
    return {name: result for name, result in results.items() if result is not None}


def completed(options: Options, request: Request, store: Store | None) -> Request:
    """A request, with what its options name of the model's `largest` results; raises SettingsError where these have
    none of it."""

    @cache
    def results() -> dict[str, Any]:
        return largest(store, request.checkpoint.fingerprint(), request.settings) if store else {}

    def find(analysis: str) -> tuple[Result, Source] | None:
        if analysis not in results():
            return None
        result = results()[analysis]
        corpus = result.provenance["corpus"]
        return result, Source(corpus["name"], corpus["digest"], corpus["bytes"])

    return options.completed(request, find)


def results_of(store: Store, checkpoint: Checkpoint, settings: Settings) -> Results:
    """A model's `largest` results.

    Raises:
        InputError: No result of the model is stored.
    """
    settings.check(None)
    results = largest(store, checkpoint.fingerprint(), settings)
    if columns(results):
        return results
    raise InputError(
        f"No values of heads by {settings.weights} are stored for this model in mode {settings.mode!r}.",
        where=checkpoint.name,
        hint="Run an analysis first, such as `surface-patterns encyclopedia`.",
    )


def to_text(results: Results, expression: str = "") -> str:
    """The overview as plain text, of the heads that an expression finds, followed by the origins of its columns and by
    what it shows."""
    table = find(results, expression)
    lines = [] if table.empty else [table.to_string(index=False, float_format=number, na_rep="-")]
    if expression.strip():
        lines.append(f"{len(table)} of {len(frame(results))} heads: {expression.strip()}")
    lines.append("")
    for name, about in _origins(results).items():
        parts = [
            about["corpus"],
            f"mode {about['mode']}",
            f"at most {about['max_length']} tokens",
            f"seed {about['seed']}",
            about["dtype"],
        ]
        if about["weights"] == "norms":
            parts.append("norms")
        if reading := ANALYSES[name].reading(about):
            parts.append(reading)
        lines.append(f"{name}: {', '.join(parts)}")
    named = [named] if (named := top_sentence(results)) else []
    return "\n".join([*lines, "", *named, *(finding.sentence for finding in decided(results))])


def to_bytes(results: Results, suffix: str, expression: str = "", found: pd.DataFrame | None = None) -> bytes:
    """The overview as CSV, or as JSON with its findings and the origins of its columns.

    Args:
        suffix: One of SUFFIXES.
        expression: What the heads were found by; empty for all.
        found: The heads that a reader's expression has found, whose numbers may count from 0; None to read it here.
    """
    table = find(results, expression) if found is None else found
    if suffix == ".csv":
        return csv_bytes(table)
    heads = json.loads(table.to_json(orient="records", double_precision=15))
    searched = {"find": expression.strip()} if expression.strip() else {}
    findings = [finding.to_json() for finding in decided(results)]
    overview = searched | {"heads": heads, "findings": findings, "origins": _origins(results)}
    return json.dumps(overview, ensure_ascii=False, indent=1).encode()


def _origins(results: Results) -> dict[str, dict[str, Any]]:
    return {name: origin(result.default_view().provenance) for name, result in results.items()}
