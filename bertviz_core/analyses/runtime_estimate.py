"""Estimates of running time, from the last pass of the same kind on this machine, else from a timed matrix product.

Seconds = loading + overhead of the analysis + tokens of the corpus x operations a token x seconds an operation.
"""

import json
import math
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache

import numpy as np

from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.recognition import estimate_word_count
from bertviz_core.engine.store import Store
from bertviz_core.errors import BertvizError, StoreError

LOADING = 3.0  # seconds of the first pass, before any was timed: libraries and the model
LOADING_NEXT = 0.8  # seconds, of each further pass: the model or another, the corpus, the results
PIECES = {"text": 1.3, "treebank": 1.3, "coreference": 2.6, "random": math.inf}  # tokens a word; windows overlap
LENGTHS = {
    "text": 1.0,
    "treebank": 0.13,
    "coreference": 1.0,
    "random": 1.0,
}  # of one input, as a share of the maximum length
SPEED = 0.75  # of the multiplication that is measured, what a pass of a wide model reaches
NARROW = 250.0  # dimensions; so narrow a model reaches half of it
WIDTHS = ("hidden_size", "dim", "d_model", "n_embd")


def seconds(store: Store | None, groups: Iterable[Sequence[Request]]) -> float | None:
    """Estimated seconds of all passes together, each a group of requests; None where a corpus cannot be read."""
    try:
        return sum(_seconds(store, group, LOADING_NEXT if number else LOADING) for number, group in enumerate(groups))
    except BertvizError:
        return None


def text(length: float | None) -> str:
    """A duration for people, as "about 40 s" or "about 12 min"."""
    if length is None:
        return "unknown time"
    return f"about {length:,.0f} s" if length < 100 else f"about {length / 60:,.0f} min"


def record(store: Store, together: Sequence[Request], loading: float, running: float) -> None:
    """Store what a pass took, for later estimates; nothing happens where the store cannot be written."""
    with suppress(StoreError, BertvizError):
        rate = max(running - _overhead(together), running / 5) / (_corpus_tokens(together[0]) * _work(together))
        store.write(_name(together), json.dumps([loading, rate]).encode())


def operations(request: Request) -> float:
    """Of a token's forward pass: two for each weight of a layer, and two products of attention; then the statistics,
    which take some for each head and key. The narrower a model, the more of its time is spent on other things."""
    checkpoint, length = request.checkpoint, _tokens_per_input(request)
    width = next((int(checkpoint.config[name]) for name in WIDTHS if name in checkpoint.config), 0)
    weights = 12 * checkpoint.layers * width**2 if width else checkpoint.parameters()
    attention = 4 * checkpoint.layers * width * length
    statistics = 60 * checkpoint.layers * checkpoint.heads * length
    return float(2 * weights + attention + statistics) * (1 + NARROW / width if width else 1.0)


def _seconds(store: Store | None, together: Sequence[Request], loading: float) -> float:
    """Estimated seconds of one pass, whose loading takes so long where no pass was timed."""
    rate = 1 / (SPEED * multiplications())
    with suppress(StoreError, ValueError, TypeError):
        if store and (data := store.read(_name(together))):
            loading, rate = json.loads(data)
    return loading + _overhead(together) + _corpus_tokens(together[0]) * _work(together) * rate


def _work(together: Sequence[Request]) -> float:
    """Operations of a pass per token."""
    return operations(together[0]) * max(ANALYSES[each.analysis].cost(each.checkpoint) for each in together)


def _overhead(together: Sequence[Request]) -> float:
    return sum(ANALYSES[request.analysis].overhead for request in together)


def _tokens_per_input(request: Request) -> float:
    return max(8.0, LENGTHS.get(ANALYSES[request.analysis].corpus, 1.0) * request.settings.max_length)


def _corpus_tokens(request: Request) -> float:
    tokens = estimate_word_count(request.source) * PIECES[ANALYSES[request.analysis].corpus]
    limit = request.settings.limit
    return tokens if limit is None else max(1.0, min(tokens, limit * _tokens_per_input(request)))


def _name(together: Sequence[Request]) -> str:
    """Name in the store of what the last pass of this kind took: seconds of loading, seconds an operation."""
    names = "+".join(sorted({request.analysis for request in together}))
    settings = together[0].settings
    options = json.dumps([request.options for request in together if request.options]).replace("/", "")
    return f"pace/{names}/{settings.dtype}/{settings.weights}/{settings.max_length}/{options}"


@cache
def multiplications() -> float:
    """Operations a second of a product of two matrices on this machine, measured once, in hundredths of a second."""
    matrix = np.random.default_rng(0).standard_normal((768, 768), dtype=np.float32)
    matrix @ matrix
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        matrix @ matrix
        best = min(best, time.perf_counter() - start)
    return float(2 * len(matrix) ** 3 / best)
