"""The result of surface patterns: shares of attention or of norms, their columns and labels, and the sink."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn, averaged_column
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.paper import LAYER_MEANS
from bertviz_core.plotting import CLS, FIRST, NEUTRAL, NEXT, OTHER_TO_SEP, PREVIOUS, PUNCTUATION, SEP, TOKENS, Marker

QUANTITIES = ("current", "previous", "next", "to_cls", "to_sep", "to_punct", "sep_to_sep", "other_to_sep", "to_first")
CLASSES = ("cls", "sep", "punct", "other")
SINKS = ("to_sep", "to_cls", "to_first")  # quantities of the tokens that may be the sink, the paper's first
BEHAVIORS = ("next", "previous", *SINKS, "to_punct")  # quantities that are behaviors of the same name
NORM_LABELS = {
    **{f"norm_{name}": f"length of vectors from {TOKENS[name][0]}" for name in CLASSES},
    "norm_correlation": "correlation of length and attention weight",
}
NORM_QUANTITIES = tuple(NORM_LABELS)


def _share(quantity: str, where: str, name: str, marker: Marker, overview: bool = True) -> HeadColumn:
    return averaged_column(
        quantity,
        f"attention {where}",
        name=name,
        marker=marker,
        overview=overview,
        maximum=1.0,
        behavior=quantity if quantity in BEHAVIORS else "",
        role=name.removeprefix("the ") if quantity in BEHAVIORS else "",
        paper_means=LAYER_MEANS.get(quantity, ()),
    )


COLUMNS = (  # These are in the order of the page's choice.
    _share("previous", "to the previous token", "the previous token", PREVIOUS),
    _share("next", "to the next token", "the next token", NEXT),
    _share("current", "to the token itself", "the token itself", NEUTRAL),
    _share("to_cls", "to [CLS]", "[CLS]", CLS),
    _share("to_sep", "to [SEP]", "[SEP]", SEP),
    _share("to_punct", "to full stops and commas", "full stops and commas", PUNCTUATION),
    _share("sep_to_sep", "from [SEP] to [SEP]", "[SEP] to [SEP]", SEP, overview=False),
    _share("other_to_sep", "from other tokens to [SEP]", "other tokens to [SEP]", OTHER_TO_SEP, overview=False),
    _share("to_first", "from later tokens to the first token", "the first token", FIRST),
)
BY_QUANTITY = {column.quantity: column for column in COLUMNS}


@dataclass(frozen=True)
class SurfacePatterns(HeadAverages):
    """Averages over inputs of the share of each head's attention (or norms) that goes to a token or class of tokens.

    Quantities, each (layer, head), 0 to 1:
        current, previous, next: To the token itself and its neighbors; `next` is absent with a causal mask.
        to_cls, to_sep, to_punct: To [CLS], to [SEP], and to full stops and commas.
        sep_to_sep, other_to_sep: From [SEP], and from other tokens, to [SEP].
        to_first: From later tokens to the first token.
    Of norms also:
        norm_cls, norm_sep, norm_punct, norm_other: The mean length of the vectors that tokens of a class pass on.
        norm_correlation: The rank correlation of a token's vector length with its attention weight, -1 to 1.
    """

    analysis: ClassVar[str] = "surface_patterns"
    repeats: ClassVar[Mapping[str, str]] = {"to_first": "to_cls"}


@dataclass(frozen=True)
class BothWeights(SurfacePatterns):
    """Shares of attention with those of norms beside them, or the reverse: a view of two results, which is not stored.

    Attributes:
        stored: The result that it shows.
        beside: The result with the other weights.
    """

    stored: HeadAverages
    beside: HeadAverages

    @classmethod
    def of(cls, result: HeadAverages, beside: HeadAverages) -> Self:
        """A result with the other weights' result beside it."""
        own = {each.name: getattr(result, each.name) for each in fields(SurfacePatterns) if each.init}
        return cls(**own, stored=result, beside=beside)

    @property
    def runs(self) -> dict[str, Provenance]:
        return {"these numbers": self.provenance, f"the {weights_of(self.beside)} beside them": self.beside.provenance}

    def to_frame(self) -> pd.DataFrame:
        """The table with the shares of the other weights as further columns, as `previous_norms`."""
        weights = weights_of(self.beside)
        values = {name: self.beside[name] for name in self.beside.present}
        beside = {f"{name}_{weights}": value.reshape(-1) for name, value in values.items()}
        beside |= {f"{name}_{weights}_interval": self.beside.interval(name).reshape(-1) for name in values}
        return SurfacePatterns.to_frame(self).assign(**beside)

    def summary(self) -> dict[str, Any]:
        """The shares of the other weights, and where they come from."""
        return {weights_of(self.beside): {"arrays": self.beside.arrays(), "provenance": self.beside.provenance}}


def weights_of(result: HeadAverages) -> str:
    """What the shares are of: "attention" or "norms"."""
    return "norms" if result.provenance.get("settings", {}).get("weights") == "norms" else "attention"


def sinks(values: HeadAverages | Mapping[str, np.ndarray]) -> list[str]:
    """Quantities of the special tokens, the first token included, that with the highest mean of a layer first. Those
    that no input has are missing in `values`, (layer, head) of each, or NaN."""
    means = {name: values[name].mean(1).max() for name in SINKS if name in values}
    means = {name: mean for name, mean in means.items() if not np.isnan(mean)}
    if "to_cls" in means:
        means.pop("to_first", None)  # The first token is CLS, so that it counts once.
    return sorted(means, key=lambda name: -means[name])
