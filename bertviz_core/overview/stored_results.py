"""The results of a model in a store, by the results' own headers: their arrays are not read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bertviz_core.analyses import requests
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import read_header
from bertviz_core.engine.store import Store
from bertviz_core.settings import Settings


@dataclass(frozen=True, slots=True)
class StoredResult:
    """One stored result: its key and analysis, and the provenance that it carries."""

    key: str
    analysis: str
    provenance: dict[str, Any]

    @property
    def fingerprint(self) -> str:
        """The model's fingerprint."""
        return str(self.provenance["model"]["fingerprint"])

    @property
    def size(self) -> tuple[int, str]:
        """Sort key for choosing among several results: the number of tokens, then the key, so that equals have an
        order."""
        return int(self.provenance["tokens"]), self.key


def stored_results(store: Store) -> Iterator[StoredResult]:
    """Every result of the present form, stored or shipped; those of formats before 4 list no skipped input."""
    for key, head in store.heads():
        header = read_header(head)
        if header is None or header[0] not in ANALYSES:
            continue
        analysis, provenance, names = header
        complete = "skipped" in provenance and provenance.get("model", {}).get("fingerprint")
        if complete and ANALYSES[analysis].result_class.has_fields(names):
            yield StoredResult(key, analysis, provenance)


def largest(store: Store, fingerprint: str, settings: Settings) -> dict[str, Any]:
    """The stored result of each analysis that rests on the most tokens, among those of the same mode and weights.

    Results with other options or further files do not count.
    """
    best: dict[str, StoredResult] = {}
    for stored in stored_results(store):
        origin = stored.provenance
        plain = not origin["options"] and "others" not in origin
        expected = ANALYSES[stored.analysis].relevant(settings).to_json()
        same = all(origin["settings"].get(name) == expected.get(name) for name in ("mode", "weights"))
        if plain and same and stored.fingerprint == fingerprint:
            best[stored.analysis] = max(stored, best.get(stored.analysis, stored), key=lambda other: other.size)
    results = {name: requests.read(store, best[name].key, name) for name in ANALYSES if name in best}
    return {name: result for name, result in results.items() if result is not None}
