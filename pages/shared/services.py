"""What all sessions share: the store, uploads, models and queues of jobs, one of each; and results, read once."""

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import streamlit as st

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.run import compute
from bertviz_core.analyses.run.reading import read
from bertviz_core.corpora.source import Source
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.series import CheckpointRequests
from bertviz_core.engine.first_opening import FirstOpenings
from bertviz_core.engine.jobs import JobQueue
from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import Uploads
from bertviz_core.errors import BertvizError, ModelError
from bertviz_core.heads import Head
from bertviz_core.inputs import split_words
from bertviz_core.inputs.encoding import Encoded
from bertviz_core.inputs.segments import FirstSegments, Segments
from bertviz_core.models import guesses as word_guesses
from bertviz_core.models import loading, next_words, single_input
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.guesses import WordGuesses
from bertviz_core.models.loaded_models import LoadedModels
from bertviz_core.models.model import AttentionModel, with_weights
from bertviz_core.overview.sentence_values import sentence_values as compute_values
from bertviz_core.overview.stored_results import StoredResult, stored_results
from bertviz_core.settings import Settings, Weights, access_from_environment, app_offload
from bertviz_core.tasks import Worker
from bertviz_core.viewer.input_attention import InputAttention, InputView, apply_view
from pages.shared.costly import renamed
from pages.shared.turns import turns

LOOK_S = 0.2  # seconds between two looks at work that a page waits for
DELAY = 2.0  # seconds until work in the background begins, when the page has been drawn
T = TypeVar("T")
_singletons: dict[Callable[[], Any], Any] = {}
_lock = threading.RLock()


def _once(create: Callable[[], T]) -> Callable[[], T]:
    """A function that returns one `create()` for the whole server; Streamlit's caches can be emptied by any client."""

    def get() -> T:
        with _lock:
            if create not in _singletons:
                _singletons[create] = create()
            return _singletons[create]

    return get


store = _once(Store)
# What visitors of this server may access.
access = _once(lambda: replace(access_from_environment(), hub_seconds=0.0))  # A page turn waits for no network.
uploads = _once(lambda: Uploads(store(), access()))
loaded_models = _once(LoadedModels)
first_openings = _once(lambda: FirstOpenings(store()))
jobs = _once(lambda: JobQueue(Worker(), access()))  # those that run models
downloads = _once(lambda: JobQueue(Worker(), access()))  # in another process, so that neither waits for the other


def in_background(work: Callable[[], T]) -> Future[T]:
    """The future result of `work`, run a little later on a thread that does not delay the server's end."""
    result: Future[T] = Future()

    def run() -> None:
        time.sleep(DELAY)
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)
            raise

    threading.Thread(target=run, daemon=True).start()
    return result


@st.fragment(run_every=1.0)
def rerun_after(work: Future[Any]) -> None:
    """Run the page again when work in the background is done."""
    if work.done():
        st.rerun()


def queues() -> tuple[JobQueue, JobQueue]:
    """Both queues of jobs."""
    return jobs(), downloads()


def find(request: Request) -> Result | None:
    """The stored result of a request, with its names of files and of the model; None where there is none."""
    return lookup(request.key(), request.analysis, compute.names_of(request), request.checkpoint.names)


def lookup(key: str, analysis: str, names: dict[str, str], model: dict[str, Any] | None = None) -> Result | None:
    """The stored result of a key, read-only because all sessions share it, or None. It gets this reader's `names` of
    corpora, by digest, and of the `model`: another reader may have computed it under other names."""
    try:
        result = _read(store(), key, analysis)
    except LookupError:
        return None
    return renamed(result, names, model or {})


@lru_cache(maxsize=64)
def _read(store: Store, key: str, analysis: str) -> Result:
    """Raises LookupError where there is none, which is not cached; a page looks for a result of every analysis."""
    result = read(store, key, analysis)
    if result is None:
        raise LookupError(key)
    for value in (getattr(result, field.name) for field in fields(result)):
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    return result


def model(checkpoint: Checkpoint, dtype: str) -> AttentionModel:
    """A loaded model; while it is loaded a spinner is drawn. One that was never opened is first opened by a process
    with limits; raises ModelError where that fails."""
    place = st.empty()  # one place for all that is said meanwhile, so that what follows keeps its own, and its focus
    opening = first_openings().open(checkpoint, dtype)
    if not opening.done():
        spinner = st.spinner("Opening the model for the first time, apart from the server")
        with place.container(), spinner, turns.given_back():
            wait_for(opening)
    opening.result()
    with place.container(), st.spinner("Loading the model"):
        opened = load_model(checkpoint, dtype)
    place.empty()
    return opened


def load_model(checkpoint: Checkpoint, dtype: str) -> AttentionModel:
    """A model of this server's cache, which is loaded if it is not there."""
    return loaded_models().get(checkpoint, dtype, offload=app_offload())


def wait_for(work: Future[Any]) -> None:
    """Wait until work is done; the reader may go to another page meanwhile, at which Streamlit ends the run."""
    place = st.empty()
    while not work.done():
        place.empty()
        wait([work], LOOK_S)


def model_in_background(checkpoint: Checkpoint, dtype: str) -> AttentionModel:
    """A loaded model, for work in the background; raises ModelError as `model` does."""
    first_openings().open(checkpoint, dtype).result()
    return load_model(checkpoint, dtype)


_by_content: dict[str | type, Callable[[Any], Any]] = {
    AttentionModel: lambda model: (model.checkpoint.fingerprint(), str(model.encoder.dtype)),
    Source: lambda source: (source.digest, source.name),  # errors have the name, and another reader's is private
}


def split_share(checkpoint: Checkpoint, kind: str, source: Source) -> Future[float]:
    """The share of a corpus's words that a model splits; 0 where that cannot be known. Libraries of tokenizers take
    seconds to load, so this runs in the background."""
    return _split_share(checkpoint.fingerprint(), kind, source.digest, checkpoint, source)


@st.cache_resource(max_entries=32, show_spinner=False)
def _split_share(model: str, kind: str, digest: str, _checkpoint: Checkpoint, _source: Source) -> Future[float]:
    def compute_share() -> float:
        with suppress(BertvizError):
            first_openings().open(_checkpoint).result()
            return split_words.split_share(kind, _source, loading.load_tokens(_checkpoint))
        return 0.0

    return in_background(compute_share)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_by_content)
def segments(source: Source, model: AttentionModel, settings: Settings) -> FirstSegments:
    """The first segments of a text, as a model reads it."""
    return FirstSegments(Segments(source, model.tokens, settings))


@st.cache_resource(max_entries=3, show_spinner=False, hash_funcs=_by_content)  # of 512 tokens they may be 400 MB
def attention(model: AttentionModel, example: Encoded, weights: Weights) -> np.ndarray:
    """(layer, head, query, key) of one input."""
    return single_input.attention(with_weights(model, weights), example)


@st.cache_resource(max_entries=3, show_spinner=False, hash_funcs=_by_content)
def viewed(model: AttentionModel, single: single_input.OneInput, weights: Weights, view: InputView) -> InputAttention:
    """What a view shows of one input. What is memoized of it is cached as long as it is cached here."""
    return apply_view(single.layout, attention(model, single.example, weights), view)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=_by_content)
def sentence_values(model: AttentionModel, example: Encoded, settings: Settings) -> dict[str, np.ndarray]:
    """The (layer, head) numbers that decide behaviors, of one input."""
    return compute_values(model, example, settings)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_by_content)
def guesses(model: AttentionModel, single: single_input.OneInput, position: int, head: Head) -> WordGuesses:
    """What a model guesses for a token, with and without a head."""
    return word_guesses.guesses(model, single, position, head)


@st.cache_resource(max_entries=128, show_spinner=False, hash_funcs=_by_content)
def losses(
    model: AttentionModel, single: single_input.OneInput, places: Sequence[int], head: Head | None = None
) -> np.ndarray:
    """(place,) the loss of tokens of an input, nats; without a head where one is given."""
    return word_guesses.losses(model, single, places, head)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_by_content)
def expected_tokens(
    model: AttentionModel, single: single_input.OneInput, position: int
) -> tuple[next_words.ExpectedToken, ...]:
    """What a decoder expects after a token of an input."""
    return next_words.expected_tokens(model, single, position)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_by_content)
def split_logit(
    model: AttentionModel, single: single_input.OneInput, position: int, token: int
) -> next_words.LogitSplit:
    """What adds up to the logit of a token after another one."""
    return next_words.split_logit(model, single, position, token)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_by_content)
def probability_without(
    model: AttentionModel, single: single_input.OneInput, position: int, token: int, ablated: np.ndarray
) -> float:
    """The probability of a token after another one while heads, (layer, head) bool, are ablated."""
    return next_words.probability_without(model, single, position, token, ablated)


@st.cache_resource(ttl=30, show_spinner=False)  # it reads a header for each stored result
def runs() -> tuple[StoredResult, ...]:
    """Every stored or shipped result, read again every 30 seconds."""
    return tuple(stored_results(store()))


def emergence(series: CheckpointRequests) -> tuple[Emergence | None, list[Request]]:
    """The emergence of a training, None where no checkpoint has all results; and the requests without a result."""
    keys = [request.key() for request in series.requests()]
    stored = tuple(filter(store().has, keys))
    cache_key = (tuple(keys), stored, repr(series.training))
    result, missing = _assembled(cache_key, series)
    if len(missing) + len(stored) > len(keys):  # a damaged result may be computed again
        _assembled.clear(cache_key, series)
    return result, missing


@st.cache_resource(max_entries=8, show_spinner=False)
def _assembled(key: tuple[Hashable, ...], _series: CheckpointRequests) -> tuple[Emergence | None, list[Request]]:
    stored = {request.key(): compute.find(store(), request) for request in _series.requests()}
    missing = [request for request in _series.requests() if stored[request.key()] is None]
    try:
        return _series.assemble(lambda request: stored.get(request.key())), missing
    except ModelError:
        return None, missing
