"""The store and the jobs, one of each for the server; and results by key, read from disk once."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np
import streamlit as st

from bertviz_core.analyses import requests
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.results import Result, renamed
from bertviz_core.corpora.source import Source
from bertviz_core.emergence import Emergence
from bertviz_core.emergence.series import Series
from bertviz_core.engine.jobs import JobQueue
from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import Upload, Uploads
from bertviz_core.errors import ModelError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.loading import LoadedModels
from bertviz_core.models.model import AttentionModel, with_weights
from bertviz_core.models.segments import FirstSegments, Segments
from bertviz_core.models.single_input import OneInput
from bertviz_core.models.single_input import attention as maps_of
from bertviz_core.overview.stored_results import StoredResult, stored_results
from bertviz_core.settings import Settings, Weights, access_from_environment
from bertviz_core.tasks import Worker
from bertviz_core.viewer import InputAttention, InputView, apply_view
from pages.shared.memoize import memoize

DELAY = 2.0  # seconds until work in the background begins: the page is drawn by then
UNPACKED = 10  # text shrinks to a tenth at best
T = TypeVar("T")
_singletons: dict[str, Any] = {}
_making = threading.RLock()


def _once(name: str, make: Callable[[], T]) -> Callable[[], T]:
    """One for the server, in no cache of Streamlit's: any client may ask for those to be emptied."""

    def get() -> T:
        with _making:
            if name not in _singletons:
                _singletons[name] = make()
            service: T = _singletons[name]
            return service

    return get


store = _once("store", Store)
access = _once("access", access_from_environment)  # what visitors of this server may access
uploads = _once("uploads", lambda: Uploads(store(), access()))
loaded_models = _once("loaded_models", LoadedModels)
jobs = _once("jobs", lambda: JobQueue(Worker(), access()))  # of what runs models
downloads = _once("downloads", lambda: JobQueue(Worker(), access()))  # in a process of their own: neither waits


def in_background(work: Callable[[], T]) -> Future[T]:
    """What `work` will give, on a thread that begins a little later and does not delay the server's end."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)
            raise

    timer = threading.Timer(DELAY, run)
    timer.daemon = True
    timer.start()
    return done


def upload(upload: Upload) -> Source:
    """The bytes of an upload; it may unpack to at most UNPACKED times the largest upload."""
    return replace(uploads().source_of(upload), max_unpacked=UNPACKED * max_upload())


def max_upload() -> int:
    return int(st.get_option("server.maxUploadSize")) * 2**20  # in .streamlit/config.toml


def queues() -> tuple[JobQueue, JobQueue]:
    return jobs(), downloads()


def find(request: Request) -> Result | None:
    """The stored result or None, with the names of files and model that the request has."""
    names = {source.digest: source.name for source in (request.source, *request.others.values())}
    model = {"name": request.checkpoint.name, "revision": request.checkpoint.revision}
    return run(request.key(), request.analysis, names, model)


def run(key: str, analysis: str, names: dict[str, str], model: dict[str, str | None] | None = None) -> Result | None:
    """A stored result by its key, or None; read-only, because all sessions share it. Another reader may have computed
    it under other names: this reader's are those of corpora (digest, name), and of the model (name, revision)."""
    try:
        result = _read(key, analysis)
    except LookupError:
        return None
    store().mark_used(key)  # read from the cache of results it is used too
    return memoize(renamed, result, names, model or {})


@st.cache_resource(max_entries=64, show_spinner=False)
def _read(key: str, analysis: str) -> Result:
    """An absence is raised, because what raises is not cached."""
    result = requests.read(store(), key, analysis)
    if result is None:
        raise LookupError(key)
    for value in (getattr(result, field.name) for field in fields(result)):
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    return result


def model(checkpoint: Checkpoint, dtype: str) -> AttentionModel:
    """The model that single inputs run on, which readers share."""
    with st.spinner("Loading the model"):
        return loaded_models().get(checkpoint, dtype)


_by_content: dict[str | type, Callable[[Any], Any]] = {
    AttentionModel: lambda model: (model.checkpoint.fingerprint(), str(model.encoder.dtype)),
    Source: lambda source: (source.digest, source.name),  # errors have the name, and another reader's is private
    Encoded: lambda example: (example.ids.tobytes(), example.types.tobytes()),
    Settings: repr,
    InputView: repr,
    OneInput: lambda single: (
        *(single.digest(), single.layout.words.labels),
        *(single.layout.owner.tobytes(), single.layout.tokens.side.tobytes()),
    ),
}


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_by_content)
def segments(source: Source, model: AttentionModel, settings: Settings) -> FirstSegments:
    return FirstSegments(Segments(source, model.tokens, settings))


@st.cache_resource(max_entries=3, show_spinner=False, hash_funcs=_by_content)  # of 512 tokens they may be 400 MB
def attention(model: AttentionModel, example: Encoded, weights: Weights) -> np.ndarray:
    """(layer, head, query, key) of one input."""
    return maps_of(with_weights(model, weights), example)


@st.cache_resource(max_entries=3, show_spinner=False, hash_funcs=_by_content)
def viewed(model: AttentionModel, single: OneInput, weights: Weights, view: InputView) -> InputAttention:
    """What a view shows of one input; the last few are cached, and with them what `memoize` derives from them."""
    return apply_view(single.layout, attention(model, single.example, weights), view)


@st.cache_resource(ttl=30, show_spinner=False)  # a header is read for each stored result
def runs() -> tuple[StoredResult, ...]:
    return tuple(stored_results(store()))


def emergence(series: Series) -> tuple[Emergence | None, list[Request]]:
    """What the stored results of a training add up to, if any checkpoint has them all; and the requests without one."""
    requests = series.requests()
    stored = tuple(filter(store().has, (request.key() for request in requests)))
    key = (stored, repr(series.training))
    result, missing = _assembled(key, series)
    if len(missing) + len(stored) > len(requests):  # a damaged result may be computed again
        _assembled.clear(key, series)
    return result, missing


@st.cache_resource(max_entries=8, show_spinner=False)
def _assembled(key: tuple[tuple[str, ...], str], _series: Series) -> tuple[Emergence | None, list[Request]]:
    stored = {request.key(): requests.find(store(), request) for request in _series.requests()}
    try:
        result = _series.assemble(lambda request: stored.get(request.key()))
    except ModelError:
        result = None
    return result, [request for request in _series.requests() if stored[request.key()] is None]
