"""Estimates of running time, from the last pass of the same kind on this machine, else from a timed matrix product.

Seconds = loading + overhead of the analysis + tokens of the corpus x operations a token x seconds an operation.
"""

import json
import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from time import perf_counter

import numpy as np

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.corpora import recognition
from bertviz_core.engine.store import Store
from bertviz_core.errors import BertvizError, StoreError
from bertviz_core.inputs.segments import INPUTS
from bertviz_core.models import configuration

LOADING = 3.0  # seconds to load libraries and the model for the first pass
LOADING_NEXT = 0.8  # seconds to load the model for each further pass
PIECES = {"text": 1.3, "treebank": 1.3, "coreference": 2.6, "random": math.inf}  # tokens a word; windows overlap
SENTENCE = 0.13  # length of a treebank's sentence as a share of the maximum length, which other inputs fill
SPEED = 0.75  # speed of a pass of a wide model, as a share of that of a matrix product
NARROW = 250.0  # width of a model whose passes have half that speed


def seconds(store: Store | None, groups: Iterable[Sequence[Request]]) -> float | None:
    """Estimated seconds of all passes together, each a group of requests; None where a corpus cannot be read."""
    total = 0.0
    for number, together in enumerate(groups):
        loading = LOADING_NEXT if number else LOADING
        rate = 1 / (SPEED * multiplications())
        with suppress(StoreError, ValueError, TypeError):
            if store and (data := store.read(_name(together))):
                loading, rate = json.loads(data)
        try:
            overhead, work = _work(together)
        except BertvizError:
            return None
        total += loading + overhead + work * rate
    return total


def duration(store: Store, groups: Iterable[Sequence[Request]], left: float = 1.0) -> str:
    """The time of all passes, or of the share left, as "about 40 s" or "about 12 min"; that of loading without any."""
    length = seconds(store, groups)
    if length is None:
        return "unknown time"
    length = left * (length or LOADING)
    return f"about {length:,.0f} s" if length < 100 else f"about {length / 60:,.0f} min"


def record(store: Store, together: Sequence[Request], loading: float, running: float) -> None:
    """Store what a pass took, for later estimates; nothing happens where the store cannot be written."""
    with suppress(BertvizError):
        overhead, work = _work(together)
        rate = max(running - overhead, running / 5) / work
        store.write(_name(together), json.dumps([loading, rate]).encode())


def _work(together: Sequence[Request]) -> tuple[float, float]:
    """Seconds of a pass that do not depend on the corpus, and its operations."""
    request = together[0]
    analyses = [ANALYSES[each.analysis] for each in together]
    tokens = recognition.estimate_word_count(request.source) * PIECES[analyses[0].corpus]
    if limit := request.settings.limit or (INPUTS if analyses[0].corpus == "random" else None):
        tokens = max(1.0, min(tokens, limit * _length(request)))
    cost = max(analysis.cost(request.checkpoint) for analysis in analyses)
    return sum(analysis.overhead for analysis in analyses), tokens * cost * operations(request)


def operations(request: Request) -> float:
    """Operations of one token's forward pass: two for each weight, two products of attention, and the statistics for
    each head and key; more for narrow models, which spend a larger share of their time on other things."""
    checkpoint = request.checkpoint
    length = _length(request)
    width = configuration.number(checkpoint.config, configuration.WIDTH)
    weights = 12 * checkpoint.layers * width**2 if width else checkpoint.parameters()
    attention = 4 * checkpoint.layers * width * length
    statistics = 60 * checkpoint.layers * checkpoint.heads * length
    return float(2 * weights + attention + statistics) * (1 + NARROW / width if width else 1.0)


def _length(request: Request) -> float:
    is_sentence = ANALYSES[request.analysis].corpus == "treebank"
    return max(8.0, (SENTENCE if is_sentence else 1.0) * request.settings.max_length)


def _name(together: Sequence[Request]) -> str:
    """Name in the store of what the last pass of this kind took: seconds of loading, seconds an operation."""
    names = "+".join(sorted({request.analysis for request in together}))
    settings = together[0].settings
    options = json.dumps([request.options for request in together if request.options]).replace("/", "")
    return f"pace/{names}/{settings.dtype}/{settings.weights}/{settings.max_length}/{options}"


@cache
def multiplications() -> float:
    """Operations a second of a matrix product on this machine, measured once, within hundredths of a second."""
    matrix = np.random.default_rng(0).standard_normal((768, 768), dtype=np.float32)
    times = []
    for _ in range(4):  # The first round starts the threads.
        start = perf_counter()
        matrix @ matrix
        times.append(perf_counter() - start)
    return float(2 * len(matrix) ** 3 / min(times))
