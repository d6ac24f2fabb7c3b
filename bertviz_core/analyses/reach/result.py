"""The result of reach: its quantities and columns, attention by distance, and inputs by activation."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn, averaged_column
from bertviz_core.analyses.base.result import tidy
from bertviz_core.analyses.base.statistics import MIN_UNITS, t_quantile
from bertviz_core.heads import Head, all_heads, all_keys
from bertviz_core.inputs.tokens import distinct_labels
from bertviz_core.numbers import unit_name
from bertviz_core.plotting import BROAD, NEUTRAL, PREVIOUS, TOKENS

FARTHEST = 10  # tokens; greater distances count together, on either side
OFFSETS = (f"under -{FARTHEST}", *map(str, range(-FARTHEST, FARTHEST + 1)), f"over {FARTHEST}")  # key minus query
ITSELF = OFFSETS.index("0")
SINK = 0.3  # A token is a sink of an input where it gets a larger share of the rows than this (Gu et al., 2025).
SINKS = ("sink_sep", "sink_cls", "sink_first")
INACTIVE = 0.5  # of the mean length of the outputs of the layer's heads
TENTHS = 10
KEPT = 3  # inputs of each head and tenth
MOST_TOKENS = 2000  # the most frequent tokens of a corpus
NUMBERS = 768_000  # of heads times tokens at most: 2,000 tokens of up to 384 heads
LEAST = 20  # occurrences of a token that has numbers
SHOWN = 10  # tokens of each head that are shown
SHARES = ("received", "given")
WORD = re.compile(r"[Ġ▁ ]?([A-Za-z0-9]+)(?:</w>)?")
SENTENCES = {
    "received": "What every token gets of all rows, over what it would get if each row were uniform.",
    "given": "What an ordinary token gives other ordinary tokens, over what it would if its row were uniform.",
}
FIRST_TOKEN = "(first token)"  # of an input, where it is neither CLS nor SEP
QUANTITIES = ("distance", "spread", "beyond", *SINKS, "output", "distance_ordinary", "uniform", "uniform_ordinary")
NEXT_TO_NOTHING = 1e-30  # of the weights between ordinary tokens; fewer have no mean distance
LABELS = {
    "uniform": "mean distance of uniform attention, in tokens",
    "uniform_ordinary": "mean distance of uniform attention between ordinary tokens, in tokens",
}
ALL_ZERO = "The outputs of all heads are 0: none is shorter than the others."
NOT_KNOWN = "The model returns its maps alone: the lengths of its heads' outputs are not known."
CAUSAL = "Tokens see only what comes earlier: no distance is positive."


def head_tokens(heads: int) -> int:
    """How many of the most frequent tokens have numbers in a model with so many heads."""
    return max(min(MOST_TOKENS, NUMBERS // heads), 1)


def _uniform(result: HeadAverages) -> tuple[np.ndarray, str]:
    return result["uniform"], "uniform attention"


def _uniform_ordinary(result: HeadAverages) -> tuple[np.ndarray, str]:
    return result["uniform_ordinary"], "uniform attention"


def _sink_rate(quantity: str) -> HeadColumn:
    token, marker = TOKENS[quantity.removeprefix("sink_")]
    label = f"share of inputs in which {token} is a sink"
    return averaged_column(quantity, label, name=f"sink rate of {token}", marker=marker, maximum=1.0, is_followed=True)


COLUMNS = (  # These are in the order of the page's choice.
    averaged_column(
        "distance_ordinary",
        "mean distance between ordinary tokens",
        name="mean distance, ordinary tokens",
        marker=PREVIOUS,
        baseline=_uniform_ordinary,
        is_followed=True,
    ),
    averaged_column("distance", "mean distance in tokens", name="mean distance, all tokens", baseline=_uniform),
    averaged_column("spread", "standard deviation of the distance in tokens", overview=False),
    averaged_column("beyond", f"attention beyond {FARTHEST} tokens", marker=BROAD, maximum=1.0),
    *map(_sink_rate, SINKS),
    averaged_column("output", "length of the output beside the layer's mean", name="relative output", marker=NEUTRAL),
)
BY_QUANTITY = {column.quantity: column for column in COLUMNS}


class TokenShare(NamedTuple):
    """What a head's tokens of one kind receive or give, beside uniform attention.

    Attributes:
        place: Its place among the tokens of the result, from 0.
        token: As the vocabulary writes it.
        label: As a reader sees it.
        value: How often as much as if every row were uniform.
        half: Half the width of the 95% interval; NaN for a single unit.
        occurrences: How often the corpus has it.
    """

    place: int
    token: str
    label: str
    value: float
    half: float
    occurrences: int

    @property
    def word(self) -> str:
        """The word that it is, to be searched in the corpus; empty for a piece of a word or a special token."""
        found = WORD.fullmatch(self.token)
        return found[1] if found else ""


class Act(NamedTuple):
    """An input of one head and tenth, and the pair of tokens between which the head acts most.

    Attributes:
        number: The number of the input, from 0.
        value: The weight of the pair.
        query: The position that attends, from 0.
        key: The position that is attended to, from 0.
    """

    number: int
    value: float
    query: int
    key: int
    where: str
    tokens: list[str]


@dataclass(frozen=True)
class Reach(HeadAverages):
    """Averages over inputs of how far each head looks, and of what shows that it does little (docs/methods.md,
    section 17).

    Quantities, each (layer, head):
        distance, spread: Mean and standard deviation of |query - key|, weighted by attention, in tokens.
        beyond: The share of attention to tokens that are more than 10 positions away, 0 to 1.
        sink_first, sink_cls, sink_sep: The share of inputs in which the token is a sink, 0 to 1; `sink_first` where the
            first token is neither CLS nor SEP.
        output: The mean length of the head's output over the mean of its layer's heads; absent where a model shows
            nothing but its maps.
        distance_ordinary: The mean |query - key| of the attention between two different ordinary tokens, in tokens.
        uniform: The `distance` of attention that is uniform over what each row sees, in tokens; equal in all heads of a
            layer.
        uniform_ordinary: The `distance_ordinary` of such attention, in tokens.

    Attributes:
        offsets: (offset, layer, head) shares of attention by key minus query, as OFFSETS names them; NaN for keys after
            the query of a causal model.
        offset_errors: (offset, layer, head) their standard errors; NaN for a single unit.
        act_counts: (layer, head, tenth) in how many inputs the largest weight between two ordinary tokens is in each
            tenth of 0 to 1.
        act_numbers: (layer, head, tenth, rank) numbers of some of these inputs, with tokens in `texts`; -1 for none.
        act_values: (layer, head, tenth, rank) their largest weights between two ordinary tokens.
        act_pairs: (layer, head, tenth, rank, 2) the positions of these two tokens, query and key, from 0.
        tokens: (token,) the most frequent tokens of the corpus, as the vocabulary writes them, that occur often enough;
            FIRST_TOKEN is any first token of an input that is neither CLS nor SEP.
        token_counts: (token,) how often the corpus has them.
        token_summed: (token,) how many of these occurrences are summed: all, but where a token was rare at first.
        token_shares: (share, token, layer, head) float32 what they receive and give, over what they would if each row
            were uniform; NaN where that is 0.
        token_errors: (share, token, layer, head) float32 their standard errors; NaN for a single unit.
        token_units: (share, token, layer) how many units of equal size carry the same information; equal in all layers
            of full attention.
    """

    analysis: ClassVar[str] = "reach"
    baselines: ClassVar[tuple[str, ...]] = ("uniform", "uniform_ordinary")
    shares: ClassVar[tuple[str, ...]] = SINKS
    offsets: np.ndarray
    offset_errors: np.ndarray
    act_counts: np.ndarray
    act_numbers: np.ndarray
    act_values: np.ndarray
    act_pairs: np.ndarray
    tokens: list[str]
    token_counts: np.ndarray
    token_summed: np.ndarray
    token_shares: np.ndarray
    token_errors: np.ndarray
    token_units: np.ndarray

    @property
    def absence(self) -> str:
        note = ""
        if "output" not in self:
            note = ALL_ZERO if self.provenance["model"].get("capture") == "inside the layer" else NOT_KNOWN
        return " ".join(filter(None, [super().absence, note]))

    @property
    def about_tokens(self) -> str:
        """Which tokens have numbers, as sentences."""
        if not self.tokens:
            return f"No token occurs {LEAST} times in {MIN_UNITS} {unit_name(self.unit)}."
        most = f"{head_tokens(self.offsets[0].size):,} most frequent tokens"
        often = f"at least {LEAST} times in at least {MIN_UNITS} {unit_name(self.unit)}"
        text = f"Of the {most}, the {len(self.tokens):,} that occur {often}."
        if lost := int((self.token_summed < self.token_counts).sum()):
            text += f" Of {lost:,} of them, which were rare at first, some occurrences are not summed."
        return text

    @property
    def restriction(self) -> str:
        return CAUSAL if self.provenance["model"].get("causal") else ""

    @property
    def sinks(self) -> list[str]:
        """The quantities of SINKS that some input has."""
        return [name for name in SINKS if name in self]

    def offset_intervals(self) -> np.ndarray:
        """(offset, layer, head) half-widths of the 95% intervals of `offsets`; NaN for a single unit."""
        index = self.quantities.index("distance")
        return np.asarray(t_quantile(self.effective_units[index] - 1) * self.offset_errors)

    def acts(self, head: Head, tenth: int) -> Iterator[Act]:
        """The inputs that stand for a tenth, from 0, of a head's activations."""
        at = (*head, tenth)
        fields = (self.act_numbers[at], self.act_values[at], self.act_pairs[at])
        for number, value, (query, key) in zip(*(each.tolist() for each in fields), strict=True):
            if number >= 0:
                text = self.texts[str(number)]
                yield Act(number=number, value=value, query=query, key=key, where=text["where"], tokens=text["tokens"])

    def token_half(self, share: str, head: Head) -> np.ndarray:
        """(token,) half-widths of the 95% intervals of what the tokens receive or give in a head."""
        index = SHARES.index(share)
        freedom = self.token_units[index][:, head.layer] - 1
        return np.asarray(t_quantile(freedom) * self.token_errors[index][:, *head])

    @cached_property
    def token_labels(self) -> list[str]:
        """(token,) the tokens as a reader sees them."""
        return distinct_labels(self.tokens)

    def top_tokens(self, share: str, head: Head, most: int = SHOWN) -> list[TokenShare]:
        """The tokens that receive or give the most in a head beside uniform attention, the highest first."""
        values = self.token_shares[SHARES.index(share)][:, *head]
        half = self.token_half(share, head)
        order = np.argsort(-values, kind="stable")[: min(most, int((~np.isnan(values)).sum()))]
        counts = self.token_counts
        return [
            TokenShare(
                place=index,
                token=self.tokens[index],
                label=self.token_labels[index],
                value=float(values[index]),
                half=float(half[index]),
                occurrences=int(counts[index]),
            )
            for index in order.tolist()
        ]

    def tables(self) -> dict[str, pd.DataFrame]:
        """Attention by offset, inputs by activation, and tokens, each a row for every head and offset, input or
        token."""
        layers, heads = self.offsets.shape[1:]
        axes = {"offset": OFFSETS, "label": all_keys(layers, heads)}
        by_offset = {"share": self.offsets, "interval": self.offset_intervals()}
        flat = {name: values.reshape(len(OFFSETS), -1) for name, values in by_offset.items()}
        return {
            "offsets": tidy(axes, flat).dropna(subset="share"),
            "acts": pd.DataFrame(self._act_rows(layers, heads)),
            "tokens": pd.DataFrame(self._token_rows(layers, heads)),
        }

    def _token_rows(self, layers: int, heads: int) -> Iterator[dict[str, Any]]:
        for head in all_heads(layers, heads):
            for share in SHARES:
                for rank, each in enumerate(self.top_tokens(share, head), 1):
                    row = {"label": head.key(), "share": share, "rank": rank, "token": each.token}
                    yield row | {"times_uniform": each.value, "interval": each.half, "occurrences": each.occurrences}

    def _act_rows(self, layers: int, heads: int) -> Iterator[dict[str, Any]]:
        for head in all_heads(layers, heads):
            for tenth, count in enumerate(self.act_counts[head].tolist()):
                acts = [
                    f"{act.number + 1}: {act.tokens[act.query]} → {act.tokens[act.key]}"
                    for act in self.acts(head, tenth)
                ]
                yield {"label": head.key(), "from": tenth / TENTHS, "inputs": count, "examples": "; ".join(acts)}
