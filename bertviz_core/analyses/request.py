"""What is asked for: which analysis of which corpus on which model, and with what settings."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Any

from bertviz_core.corpora.source import Source
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.settings import Settings

FORMAT = 4  # raise it when a stored result would mean something else
CHANGES = {  # how often the results of a single analysis have changed besides
    "coreference_heads": 3,
    **dict.fromkeys(("surface_patterns", "entropy", "sep_gradients", "ablation"), 3),
}


@dataclass(frozen=True)
class Request:
    """Everything that a result depends on. `options` are the analysis's own settings, `others` further files it reads,
    by what they are to it."""

    analysis: str
    checkpoint: Checkpoint
    source: Source
    settings: Settings = field(default_factory=Settings)
    options: dict[str, Any] = field(default_factory=dict)
    others: dict[str, Source] = field(default_factory=dict)

    def key(self) -> str:
        """Equal requests have equal keys, on any machine: no name, path, device or version of a library is in it."""
        parts = {
            "format": FORMAT + CHANGES.get(self.analysis, 0),
            "analysis": self.analysis,
            "model": self.checkpoint.fingerprint(),
            "corpus": self.source.digest,
            "settings": self.settings.to_json(),
            "options": self.options,
        }
        if self.others:
            parts["others"] = {role: source.digest for role, source in self.others.items()}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def for_analysis(self, analysis: str) -> Request:
        """The request for another analysis of the same model, corpus and settings, with default options."""
        if analysis == self.analysis:
            return self
        return Request(analysis, self.checkpoint, self.source, self.settings)

    def on(self, source: Source) -> Request:
        """The request on another corpus."""
        return replace(self, source=source)
