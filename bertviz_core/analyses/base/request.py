"""A request says which analysis runs on which corpus and model with which settings."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self, get_origin

from bertviz_core.analyses.base.entry_points import REGISTERED
from bertviz_core.analyses.base.result import Result
from bertviz_core.choices import Choices, hints, required
from bertviz_core.corpora.source import Source
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.settings import Settings, Weights

FORMAT = 1  # raised when all stored results become invalid; those of one analysis by its `key_version`
ONE_TEXT = 1  # raised when those of models to which two texts are one, as decoders, become invalid


@dataclass(frozen=True)
class Request:
    """All that a result depends on.

    Attributes:
        source: The corpus.
        settings: The settings that all analyses share.
        options: The analysis's own settings that differ from their defaults, of JSON types.
        others: Further files by role, as word vectors.
    """

    analysis: str
    checkpoint: Checkpoint
    source: Source
    settings: Settings = field(default_factory=Settings)
    options: dict[str, Any] = field(default_factory=dict)
    others: dict[str, Source] = field(default_factory=dict)

    def key(self) -> str:
        """The key of the result: sha256, hexadecimal.

        Equal requests have equal keys on any machine: no names, paths, devices or library versions enter them.
        """
        parts = {
            "format": key_version(self.analysis, one_text=self.checkpoint.reads_one_text),
            "analysis": self.analysis,
            "model": self.checkpoint.fingerprint(),
            "corpus": self.source.digest,
            "settings": self.settings.to_json(),
            "options": self.options,
            "others": {role: source.digest for role, source in self.others.items()},
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def of_weights(self, weights: Weights) -> "Request":
        """The same request with these weights."""
        return replace(self, settings=replace(self.settings, weights=weights))

    def for_analysis(self, analysis: str) -> "Request":
        """The request for another analysis of the same model, corpus and settings, with default options."""
        if analysis == self.analysis:
            return self
        return Request(analysis, self.checkpoint, self.source, self.settings)


def key_version(analysis: str, *, one_text: bool) -> list[int]:
    """FORMAT and the analysis's `key_version`, and ONE_TEXT of a model to which two texts are one, in keys and in
    provenance: a result with others is not current."""
    return [FORMAT, REGISTERED[analysis].key_version, *([ONE_TEXT] if one_text else [])]


def is_current(analysis: str, provenance: Mapping[str, Any]) -> bool:
    """Whether a result with this provenance was computed as it would be now; that of a causal model from one text."""
    found = provenance.get("key_version")
    current = key_version(analysis, one_text=True)
    return bool(found == current or (found == current[:-1] and not provenance["model"].get("causal")))


# From the name of an analysis to a stored result of it, of one model, and its corpus; None where none is stored.
FindStored = Callable[[str], tuple[Result, Source] | None]


@dataclass(frozen=True)
class Options(Choices):
    """Settings of one analysis, part of a result's key, and choices of its page.

    Subclasses add fields of JSON types with defaults, each as `Annotated[type, Doc("Help.")]`, where the type or a
    further annotation says which values it takes (`bertviz_core.choices`); a field of type `Path | None` names a
    further file that the analysis reads.

    Attributes:
        reads_named_heads: Whether `completed` reads the heads that other analyses name.
    """

    reads_named_heads: ClassVar[bool] = False

    def completed(self, request: Request, find: FindStored) -> Request:
        """The request of these options, with what they name of other stored results.

        Args:
            request: The request with the options as a reader gave them.
            find: Finds a stored result of another analysis.

        Raises:
            SettingsError: What they name is in no stored result; the message says how to get it.
        """
        return request

    def alone(self) -> Self:
        """The same without what needs other stored results."""
        return self

    def offered(self, find: FindStored) -> dict[str, Sequence[str]]:
        """The values of fields of text that stored results suggest, by name; others may be given."""
        return {}

    def in_mode(self, paper: bool) -> Self:
        """The same without what has no effect in a mode; `paper` says whether that is "paper"."""
        return self

    def to_json(self) -> dict[str, Any]:
        """Non-default values, without files."""
        changed = [field.name for field in fields(self) if getattr(self, field.name) != field.default]
        return {name: getattr(self, name) for name in changed if name not in self.files()}

    @classmethod
    def files(cls) -> list[str]:
        """The names of the fields that name further files."""
        return [name for name, hint in hints(cls).items() if required(hint) is Path]


def with_names_split(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of fields of a dataclass by name; several names may be given as texts with commas between.

    >>> from bertviz_core.analyses.probes.options import ProbeOptions
    >>> with_names_split(ProbeOptions, {"probes": "structural, attention-only", "rank": 8})
    {'probes': ('structural', 'attention-only'), 'rank': 8}
    """
    several = {name for name, hint in hints(kind).items() if get_origin(required(hint)) is tuple}

    def split(value: Any) -> Any:
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return value
        return tuple(part.strip() for text in texts for part in text.split(","))

    return {name: split(value) if name in several else value for name, value in values.items()}
