"""The overview as a table: every head of a model, from the results that are stored of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bertviz_core.analyses.behaviors import Thresholds
from bertviz_core.analyses.results import origin, to_csv
from bertviz_core.engine.store import Store
from bertviz_core.errors import InputError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.numbers import number
from bertviz_core.overview.head_summary import Results, frame
from bertviz_core.overview.stored_results import largest
from bertviz_core.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".json")


@dataclass(frozen=True, slots=True)
class Overview:
    """A row for each head; and what each analysis's columns were computed from."""

    heads: pd.DataFrame
    origins: dict[str, dict[str, Any]]

    def to_text(self) -> str:
        """The table as plain text, with the origins under it."""
        lines = [self.heads.to_string(index=False, float_format=number, na_rep="-"), ""]
        lines += [
            f"{name}: {origin['corpus']}, mode {origin['mode']}, at most {origin['max_length']} tokens, seed "
            f"{origin['seed']}, {origin['dtype']}" + (", norms" if origin["weights"] == "norms" else "")
            for name, origin in self.origins.items()
        ]
        return "\n".join(lines)

    def to_bytes(self, suffix: str) -> bytes:
        """The table as CSV, or as JSON with the origins beside it."""
        if suffix == ".csv":
            return to_csv(self.heads)
        table = json.loads(self.heads.to_json(orient="records", double_precision=15))
        return json.dumps({"heads": table, "origins": self.origins}, ensure_ascii=False, indent=1).encode()


def overview(store: Store, checkpoint: Checkpoint, settings: Settings) -> Overview:
    """Build the overview of a model from each analysis's stored result on the most tokens.

    Args:
        store: Where results are.
        checkpoint: The model.
        settings: Mode and kind of weights of the results.

    Raises:
        InputError: Nothing is stored of the model.
        SettingsError: The mode or the kind of weights is unknown.
    """
    settings.check(None)
    results: Results = largest(store, checkpoint.fingerprint(), settings)
    if not results:
        raise InputError(
            f"No results of {settings.weights} are stored for this model in mode {settings.mode!r}.",
            where=checkpoint.name,
            hint="Run an analysis first, such as `surface-patterns encyclopedia`.",
        )
    return summarized(results, Thresholds())


def summarized(results: Results, thresholds: Thresholds) -> Overview:
    """The table of all heads from results, by the names of their analyses."""
    return Overview(frame(results, thresholds), {name: origin(result.provenance) for name, result in results.items()})
