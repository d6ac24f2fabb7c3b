"""Requests: which analysis to run on which corpus and model, with which settings; and views of their results."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from bertviz_core.analyses.base.result import Result
from bertviz_core.corpora import files
from bertviz_core.corpora.source import Source
from bertviz_core.models.checkpoint import Checkpoint, demo_fingerprint
from bertviz_core.models.model import predicts_next_words
from bertviz_core.models.rotary import length_limit
from bertviz_core.settings import Settings

FORMAT = 4  # raised when all stored results become invalid
CHANGES = {  # raised when those of one analysis become invalid
    "coreference_heads": 3,
    "dependency_heads": 2,
    "probes": 1,
    **dict.fromkeys(("surface_patterns", "entropy", "sep_gradients", "ablation"), 3),
}
READERS = 2  # part of the keys of all files but the samples: raised when files are read otherwise than before
LOADING = 1  # part of the keys of models in files but the demo: raised when files are loaded otherwise than before
ONE_SIDED = {  # part of the keys of decoders only: what the analysis counts, since that has changed
    "dependency_heads": "to earlier words, beside random words",
    "coreference_heads": "to earlier words",
}


@dataclass(frozen=True)
class Request:
    """All that a result depends on; `options` are the analysis's own settings, `others` further files by role."""

    analysis: str
    checkpoint: Checkpoint
    source: Source
    settings: Settings = field(default_factory=Settings)
    options: dict[str, Any] = field(default_factory=dict)
    others: dict[str, Source] = field(default_factory=dict)

    def key(self) -> str:
        """Equal requests have equal keys on any machine: no names, paths, devices or library versions enter them."""
        parts = {
            "format": FORMAT + CHANGES.get(self.analysis, 0),
            "analysis": self.analysis,
            "model": self.checkpoint.fingerprint(),
            "corpus": self.source.digest,
            "settings": self.settings.to_json(),
            "options": self.options,
        }
        if self.analysis in ONE_SIDED and predicts_next_words(self.checkpoint):
            parts["arcs"] = ONE_SIDED[self.analysis]
        if any(source.digest not in files.sample_digests() for source in (self.source, *self.others.values())):
            parts["readers"] = READERS
        if self.checkpoint.folder != Path() and parts["model"] != demo_fingerprint():  # one in memory has no folder
            parts["loading"] = LOADING
        if length_limit(self.checkpoint.config) is not None:
            parts["positions"] = "of each input alone"
        if self.checkpoint.config.get("model_type") == "openai-gpt":
            parts["punctuation"] = "also where it ends a word"
        if self.others:
            parts["others"] = {role: source.digest for role, source in self.others.items()}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def for_analysis(self, analysis: str) -> "Request":
        """The request for another analysis of the same model, corpus and settings, with default options."""
        if analysis == self.analysis:
            return self
        return Request(analysis, self.checkpoint, self.source, self.settings)


@dataclass(frozen=True)
class Options:
    """Settings of one analysis, part of a result's key. Subclasses add fields of JSON types with defaults, each as
    `Annotated[type, Doc("Help.")]`; a field of type `Path | None` names a further file that the analysis reads."""

    def check(self) -> None:
        """Raise SettingsError for values that the analysis does not know."""

    def to_json(self) -> dict[str, Any]:
        """Non-default values, without files."""
        changed = [field.name for field in fields(self) if getattr(self, field.name) != field.default]
        return {name: getattr(self, name) for name in changed if name not in self.files()}

    @classmethod
    def files(cls) -> list[str]:
        return [name for name, kind in get_type_hints(cls).items() if Path in get_args(kind)]


@dataclass(frozen=True)
class View:
    """How a command shows a stored result, without computing it again. Subclasses add fields as Options do."""

    def check(self) -> None:
        """Raise SettingsError for values that cannot be shown; called before anything is computed."""

    def show(self, result: Result, request: Request, find: Callable[[Request], Result | None]) -> Result:
        """The stored result of a request as it is printed and written; `find` reads the stored result of another."""
        return result
