"""The options of the probes, and the names of the probes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from typing_extensions import Doc

from bertviz_core.analyses.base.request import Options
from bertviz_core.choices import Between, Label

# The rows of Table 3 from the least to the most informed, with the control that the paper lacks.
Probe = Literal[
    "right-branching",
    "best-offset",
    "distances-and-words",
    "random-attention-and-words",
    "random-attention-only",
    "attention-only",
    "attention-and-words",
    "structural",
]
PROBES: tuple[Probe, ...] = get_args(Probe)
AS_RELEASED = "-as-released"  # ends the name of a row whose probe has the release's misaligned ROOT
Optimizer = Literal["lbfgs", "adam"]
EPOCHS = 200  # the most epochs of Adam


@dataclass(frozen=True)
class ProbeOptions(Options):
    """Options of the training and scoring of probes."""

    probes: Annotated[tuple[Probe, ...], Doc("Probes to train, separated by commas.")] = PROBES
    epochs: Annotated[
        Annotated[int, Between(1, 1000)] | None,
        Label("Maximum epochs"),
        Doc(f"Maximum epochs of Adam ({EPOCHS}; mode paper: 1)."),
    ] = None
    rank: Annotated[
        int, Between(1, 1024), Label("Rank of the structural probe"), Doc("Rank of the structural probe.")
    ] = 64
    optimizer: Annotated[Optimizer, Doc("Optimizer of attention-only: lbfgs or adam.")] = "lbfgs"
    seeds: Annotated[
        int, Between(1, 100), Label("Random networks"), Doc("Number of random networks for the controls.")
    ] = 3
    dev: Annotated[Path | None, Doc("Treebank to score on; default: a held-out part of the input.")] = None
    vectors: Annotated[Path | None, Doc("Word vectors in GloVe format; default: the model's.")] = None

    def rows(self, paper: bool) -> list[str]:
        """The names of the result's rows: in mode paper each probe with words is also scored as released."""
        names: list[str] = []
        for probe in self.probes:
            names.append(probe)
            if paper and "words" in probe:
                names.append(probe + AS_RELEASED)
        return names

    def to_json(self) -> dict[str, Any]:
        """In the order of the table, however the probes were asked for."""
        values = super().to_json() | {"probes": [probe for probe in PROBES if probe in self.probes]}
        if len(values["probes"]) == len(PROBES):
            del values["probes"]
        return values
