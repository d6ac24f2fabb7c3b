"""The results of a model in a store, by their own headers; and the overview as a table, from the largest of them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bertviz_core.analyses import requests
from bertviz_core.analyses.dependency_heads.guesses import VIEW_NAMES
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Results, origin, read_header, to_csv
from bertviz_core.engine.store import Store
from bertviz_core.errors import InputError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.numbers import number
from bertviz_core.overview import frame
from bertviz_core.settings import Settings

SUFFIXES = (".csv", ".json")


@dataclass(frozen=True)
class StoredResult:
    """One stored result: its key and analysis, and the provenance that it carries."""

    key: str
    analysis: str
    provenance: dict[str, Any]


def stored_results(store: Store) -> Iterator[StoredResult]:
    """Every result of the present form, stored or shipped; those of formats before 4 list no skipped input."""
    for key, head in store.headers():
        header = read_header(head)
        if header is None or header[0] not in ANALYSES:
            continue
        analysis, provenance, names = header
        complete = "skipped" in provenance and provenance.get("model", {}).get("fingerprint")
        if complete and ANALYSES[analysis].result_class.has_fields(names):
            yield StoredResult(key, analysis, provenance)


def largest(store: Store, fingerprint: str, settings: Settings) -> dict[str, Any]:
    """The stored result of each analysis that rests on the most tokens, of equals that with the last key, among those
    of the same mode and weights. Results with other options or further files do not count."""
    best: dict[str, tuple[int, str]] = {}  # analysis -> tokens, key
    for stored in stored_results(store):
        analysis = stored.analysis
        about = stored.provenance
        plain = not about["options"] and "others" not in about and about["model"]["fingerprint"] == fingerprint
        expected = ANALYSES[analysis].relevant(settings).to_json()
        if plain and all(about["settings"].get(name) == expected.get(name) for name in ("mode", "weights")):
            entry = int(about["tokens"]), stored.key
            best[analysis] = max(entry, best.get(analysis, entry))
    results = {name: requests.read(store, best[name][1], name) for name in ANALYSES if name in best}
    return {name: result for name, result in results.items() if result is not None}


@dataclass(frozen=True)
class Overview:
    """A row for each head, and what each analysis's columns were computed from, of results by analysis."""

    results: Results

    @property
    def origins(self) -> dict[str, dict[str, Any]]:
        return {name: origin(result.default_view().provenance) for name, result in self.results.items()}

    def to_text(self) -> str:
        """The table as plain text, with the origins under it."""
        lines = [frame(self.results).to_string(index=False, float_format=number, na_rep="-"), ""]
        lines += [
            f"{name}: {origin['corpus']}, mode {origin['mode']}, at most {origin['max_length']} tokens, seed "
            f"{origin['seed']}, {origin['dtype']}"
            + (", norms" if origin["weights"] == "norms" else "")
            + (f", trees: {VIEW_NAMES[origin['view']]}" if "view" in origin else "")
            for name, origin in self.origins.items()
        ]
        return "\n".join(lines)

    def to_bytes(self, suffix: str) -> bytes:
        """The table as CSV, or as JSON with the origins beside it."""
        table = frame(self.results)
        if suffix == ".csv":
            return to_csv(table)
        rows = json.loads(table.to_json(orient="records", double_precision=15))
        return json.dumps({"heads": rows, "origins": self.origins}, ensure_ascii=False, indent=1).encode()


def overview(store: Store, checkpoint: Checkpoint, settings: Settings) -> Overview:
    """The overview of a model from its `largest` results; raises InputError where there is none, SettingsError for an
    unknown mode or kind of weights."""
    settings.check(None)
    if results := largest(store, checkpoint.fingerprint(), settings):
        return Overview(results)
    raise InputError(
        f"No results of {settings.weights} are stored for this model in mode {settings.mode!r}.",
        where=checkpoint.name,
        hint="Run an analysis first, such as `surface-patterns encyclopedia`.",
    )
