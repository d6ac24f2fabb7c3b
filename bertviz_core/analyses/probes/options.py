"""The options of the probes, and the names of the probes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typing_extensions import Doc

from bertviz_core.analyses.base.request import Options
from bertviz_core.errors import SettingsError

# The rows of Table 3 from the least to the most informed, with the control that the paper lacks.
PROBES = (
    "right-branching",
    "best-offset",
    "distances-and-words",
    "random-attention-and-words",
    "random-attention-only",
    "attention-only",
    "attention-and-words",
    "structural",
)
AS_RELEASED = "-as-released"  # ends the name of a row whose probe has the release's misaligned ROOT
OPTIMIZERS = ("lbfgs", "adam")
EPOCHS = 200  # the most epochs of Adam


@dataclass(frozen=True)
class ProbeOptions(Options):
    """Options of the training and scoring of probes."""

    probes: Annotated[tuple[str, ...], Doc("Probes to train, separated by commas.")] = PROBES
    epochs: Annotated[int | None, Doc("Maximum epochs of Adam (200; mode paper: 1).")] = None
    rank: Annotated[int, Doc("Rank of the structural probe.")] = 64
    optimizer: Annotated[str, Doc("Optimizer of attention-only: lbfgs or adam.")] = "lbfgs"
    seeds: Annotated[int, Doc("Number of random networks for the controls.")] = 3
    dev: Annotated[Path | None, Doc("Treebank to score on; default: a held-out part of the input.")] = None
    vectors: Annotated[Path | None, Doc("Word vectors in GloVe format; default: the model's.")] = None

    def rows(self, paper: bool) -> list[str]:
        """The names of the result's rows: in mode paper each probe with words is also scored as released."""
        names = []
        for probe in self.probes:
            names.append(probe)
            if paper and "words" in probe:
                names.append(probe + AS_RELEASED)
        return names

    def check(self) -> None:
        named = [("probe", probe, PROBES) for probe in self.probes]
        for name, value, allowed in (*named, ("optimizer", self.optimizer, OPTIMIZERS)):
            if value not in allowed:
                raise SettingsError(f"There is no {name} {value!r}.", hint=f"Choose from {', '.join(allowed)}.")
        for name, number in (("epochs", self.epochs), ("rank", self.rank), ("seeds", self.seeds)):
            if number is not None and number < 1:
                raise SettingsError(f"--{name} is below 1.", hint="Choose 1 or more.")

    def to_json(self) -> dict[str, Any]:
        """In the order of the table, however the probes were asked for."""
        values = super().to_json() | {"probes": [probe for probe in PROBES if probe in self.probes]}
        if len(values["probes"]) == len(PROBES):
            del values["probes"]
        return values
