"""What a result was computed from and with, as text and as flat fields."""

from typing import Any

from bertviz_core.corpora.skipped import Skipped
from bertviz_core.numbers import plural

UNITS = ("documents", "segments", "sentences", "windows", "words", "tokens")


def with_skipped(provenance: dict[str, Any], skipped: Skipped) -> dict[str, Any]:
    """Provenance in which what an analysis itself skipped follows what the reading skipped."""
    own = skipped.to_json()
    return provenance | {"skipped": [*provenance.get("skipped", []), *own]} if own else provenance


def corpus_size(provenance: dict[str, Any]) -> str:
    """The size of the corpus, as "64 documents, 126 segments, 15,682 tokens"."""
    return ", ".join(plural(provenance[unit], unit) for unit in UNITS if unit in provenance)


def origin(provenance: dict[str, Any]) -> dict[str, Any]:
    """Provenance in a few flat fields, for tables and captions; of each further file its name and its digest."""
    settings = provenance["settings"]
    more = provenance["options"] | provenance.get("others", {})
    return {
        "model": provenance["model"]["name"],
        "model_fingerprint": provenance["model"]["fingerprint"][:16],
        "corpus": provenance["corpus"]["name"],
        "corpus_digest": provenance["corpus"]["digest"][:16],
        "mode": settings["mode"],
        "weights": settings.get("weights", "attention"),
        **{name: settings[name] for name in ("max_length", "limit", "seed", "dtype")},
        **{name: value for entry in more.items() for name, value in _flat(*entry).items()},
        "bertviz_core": provenance["versions"]["bertviz_core"],
        "citation": provenance["citation"],
    }


def _flat(name: str, value: Any) -> dict[str, Any]:
    """An option, or the name and the digest of a file."""
    is_file = isinstance(value, dict) and "digest" in value
    return {name: value["name"], f"{name}_digest": value["digest"][:16]} if is_file else {name: value}
