"""The settings of the analysis of minimal pairs."""

from dataclasses import dataclass
from typing import Annotated, Literal

from typing_extensions import Doc

from bertviz_core.analyses.base.request import Options
from bertviz_core.choices import Label


@dataclass(frozen=True)
class MinimalPairsOptions(Options):
    """What stands in for a head's output, and how a masked model scores a sentence."""

    replace: Annotated[
        Literal["zero", "mean", "uniform"],
        Label("Replace a head by"),
        Doc("What stands in for a head: zeros, its mean output, or uniform attention over what each token sees."),
    ] = "zero"
    score: Annotated[
        Literal["differing", "pll"],
        Label("Score of a sentence"),
        Doc(
            "What a masked model scores: the words that differ, masked together, or every word in turn with its later "
            "pieces masked (pll). Models of next words score all of a sentence."
        ),
    ] = "differing"
