"""Settings that a result depends on besides the model and the corpus, and how it is computed."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from bertviz_core.errors import SettingsError
from bertviz_core.numbers import small_int

Mode = Literal["corrected", "paper"]
MODES: tuple[Mode, ...] = ("corrected", "paper")
Weights = Literal["attention", "norms"]
WEIGHTS: tuple[Weights, ...] = ("attention", "norms")
DTYPES = ("float32", "bfloat16")
DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True)
class Settings:
    """Settings of a request; all of them are part of a result's key."""

    max_length: int = 128  # tokens of a segment, special ones included
    limit: int | None = None  # maximum number of inputs; None for all
    seed: int = 0  # of every random choice
    mode: Mode = "corrected"  # or "paper" for the release's own choices
    dtype: str = "float32"  # of the parameters; softmax and statistics are float32 and sums float64 in any case
    weights: Weights = "attention"  # what is read as a map: these, or how much each moves (docs/methods.md, section 11)

    @property
    def paper(self) -> bool:
        return self.mode == "paper"

    def to_json(self) -> dict[str, Any]:
        """The settings for keys and provenance; `weights` is left out for attention weights, so that older keys
        hold."""
        values = asdict(self)
        if self.weights == "attention":
            del values["weights"]
        return values

    def check(self, longest: int | None) -> None:
        """Raises SettingsError for a value out of its range, or a length above `longest`: the `max_length` of the
        model's Checkpoint, None for any length."""
        if longest is not None and self.max_length > longest:
            what = f"Segments of {self.max_length} tokens are longer than this model allows ({longest})."
            raise SettingsError(what, hint=f"Choose a maximum length of {longest} or less.")
        if self.max_length < 8:
            raise SettingsError(f"Segments of {self.max_length} tokens are too short.", hint="Choose 8 or more.")
        if self.limit is not None and self.limit < 1:
            raise SettingsError("The limit is below 1.", hint="Choose 1 or more segments, or no limit.")
        choices = (("mode", self.mode, MODES), ("dtype", self.dtype, DTYPES), ("weights", self.weights, WEIGHTS))
        for name, value, allowed in choices:
            if value not in allowed:
                raise SettingsError(f"There is no {name} {value!r}.", hint=f"Choose one of {', '.join(allowed)}.")


@dataclass(frozen=True)
class Execution:
    """How a result is computed; never part of a key."""

    device: str = "auto"  # or "cpu" or "cuda"
    batch_tokens: int | None = None  # None lets the device choose
    workers: int = 0  # processes that share the work; 0 for this one alone, or as many as a cluster has room for
    ray: str = ""  # address of a running Ray cluster; empty for none

    @property
    def shared(self) -> bool:
        """Whether other processes share the work."""
        return bool(self.workers or self.ray)


def app_execution() -> Execution:
    """How the app computes: with BERTVIZ_WORKERS workers, on the Ray cluster at BERTVIZ_RAY; raises SettingsError for a
    number of workers that is none."""
    text = os.environ.get("BERTVIZ_WORKERS", "0")
    workers = small_int(text)
    if workers is None or workers >= 100_000:
        raise SettingsError(f"BERTVIZ_WORKERS is {text[:40]!r}.", hint="Give it a number of processes, such as 2.")
    return Execution(workers=workers, ray=os.environ.get("BERTVIZ_RAY", ""))


def default_folder() -> Path:
    """`BERTVIZ_STORE`, else a folder in the user's cache directory: where results are stored."""
    if named := os.environ.get("BERTVIZ_STORE"):
        return Path(os.path.expandvars(named)).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bertviz_core"
