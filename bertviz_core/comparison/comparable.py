"""What differs between two runs, and which differences make their numbers hard to compare."""

from typing import Any

from bertviz_core.models.checkpoint import short_names

SETTINGS = ("mode", "weights", "seed", "max_length", "limit", "dtype")
INPUTS = {"max_length": "maximum length", "limit": "limit of inputs", "dtype": "precision"}
CONSERVATIVE = (
    "The errors of A and B are combined as if the runs were independent. On one corpus they are not, and the test is "
    "conservative: it marks too few heads rather than too many."
)


def values_of(provenance: dict[str, Any]) -> dict[str, Any]:
    """Model, corpus, settings and options that a run was computed with, by name."""
    settings = {"weights": "attention"} | provenance["settings"]
    corpora = {role: other["digest"] for role, other in provenance.get("others", {}).items()}
    return {
        "model": provenance["model"]["fingerprint"],
        "corpus": provenance["corpus"]["digest"],
        **{name: settings[name] for name in SETTINGS},
        **provenance["options"],
        **corpora,
    }


def differing(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """Names of what differs between two provenances."""
    first, second = values_of(a), values_of(b)
    return [name for name in first | second if first.get(name) != second.get(name)]


def cautions(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """Sentences about what makes two runs hard to compare, then on how errors are combined."""
    first, second, notes = _readable(a), _readable(b), []
    for name in differing(a, b):
        pair = "({} and {})".format(*("none" if run.get(name) is None else run[name] for run in (first, second)))
        if name in INPUTS:
            notes.append(f"The runs differ in {INPUTS[name]} {pair}: they did not read the same inputs alike.")
        elif name == "mode":
            notes.append("The runs differ in mode, which changes definitions: token types, smoothing, skipped inputs.")
        elif name == "weights":
            notes.append("One run read attention weights, the other norms: the same quantities of other maps.")
        elif name == "corpus":
            notes.append("The runs read different corpora, so a difference may be one of the texts.")
        elif name not in ("model", "seed"):
            notes.append(f"The runs differ in {name.replace('_', ' ')} {pair}: their numbers count different things.")
    return [*notes, CONSERVATIVE] if "corpus" not in differing(a, b) else notes


def _readable(provenance: dict[str, Any]) -> dict[str, Any]:
    """As `values_of`, with the names of further files in place of their digests."""
    return values_of(provenance) | {role: other["name"] for role, other in provenance.get("others", {}).items()}


def names(a: dict[str, Any], b: dict[str, Any]) -> tuple[str, str]:
    """Names of the two runs: what differs between them, in a few words each."""
    if not (different := differing(a, b)):
        return "A", "B"
    models = short_names([run["model"]["name"] for run in (a, b)])
    first, second = (_name(run, different, models) for run in (a, b))
    if first != second:
        return first, second
    digests = (
        ", ".join(values_of(run)[name][:8] for name in ("model", "corpus") if name in different) for run in (a, b)
    )
    return f"{first} ({next(digests)})", f"{second} ({next(digests)})"  # files of one name


def _name(provenance: dict[str, Any], different: list[str], models: dict[str, str]) -> str:
    shown = _readable(provenance) | {
        "model": models[provenance["model"]["name"]],
        "corpus": provenance["corpus"]["name"],
        "limit": provenance["settings"]["limit"] or "none",
    }
    words = {"mode": "mode ", "seed": "seed ", "max_length": "at most ", "limit": "limit "}
    return ", ".join(f"{words.get(name, '')}{shown.get(name, f'no {name}')}" for name in different)
