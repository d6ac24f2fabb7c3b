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
from bertviz_core.corpora.upload_check import UploadCheck
from bertviz_core.emergence import Emergence
from bertviz_core.emergence.series import Series, checkpoint_result, shipped
from bertviz_core.engine.jobs import JobQueue
from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import Upload, Uploads
from bertviz_core.errors import ModelError
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.loading import LoadedModels
from bertviz_core.models.model import AttentionModel, observing
from bertviz_core.models.segments import FirstSegments, Segments
from bertviz_core.overview.stored_results import StoredResult, stored_results
from bertviz_core.settings import Access, Settings, Weights, access_from_environment
from bertviz_core.tasks.workers import Worker
from pages.shared.memoize import memoize

DELAY = 2.0  # seconds until work in the background begins: the page is drawn by then
UNPACKED = 10  # text shrinks to a tenth at best
T = TypeVar("T")
_singletons: dict[str, Any] = {}
_making = threading.RLock()


def _once(make: Callable[[], T]) -> Callable[[], T]:
    """One for the server, in no cache of Streamlit's: any client may ask for those to be emptied."""

    def get() -> T:
        with _making:
            if make.__name__ not in _singletons:
                _singletons[make.__name__] = make()
            service: T = _singletons[make.__name__]
            return service

    return get


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


@_once
def store() -> Store:
    return Store()


@st.cache_data(ttl=10, show_spinner=False)  # reads all folders
def store_size() -> int:
    """Bytes that the store takes on the disk."""
    return store().size()


@_once
def access() -> Access:
    """What visitors of this server may access, read once."""
    return access_from_environment()


@_once
def uploads() -> Uploads:
    return Uploads(store(), access())


def upload(upload: Upload) -> Source:
    """The bytes of an upload; it may unpack to at most UNPACKED times the largest upload."""
    return replace(uploads().source_of(upload), max_unpacked=UNPACKED * _max_upload())


def check(files: list[tuple[str, bytes]], kind: str, *, fixed: bool = False) -> UploadCheck:
    """Begin to check files (see UploadCheck)."""
    seconds = 10 if access().public else 60
    limits = {"max_size": _max_upload(), "max_unpacked": UNPACKED * _max_upload(), "seconds": seconds}
    return UploadCheck(files, kind, fixed=fixed, **limits)


def _max_upload() -> int:
    return int(st.get_option("server.maxUploadSize")) * 2**20  # in .streamlit/config.toml


@_once
def jobs() -> JobQueue:
    """The queue of what runs models."""
    return JobQueue(Worker(), access())


@_once
def downloads() -> JobQueue:
    """A queue, and a process, of their own: neither they nor analyses wait for each other."""
    return JobQueue(Worker(), access())


def find(request: Request) -> Result | None:
    """The stored result or None, with the names of files and model that the request has."""
    names = tuple((source.digest, source.name) for source in (request.source, *request.others.values()))
    return run(request.key(), request.analysis, names, (request.checkpoint.name, request.checkpoint.revision))


def run(
    key: str, analysis: str, names: tuple[tuple[str, str], ...], model: tuple[str, str | None] | None = None
) -> Result | None:
    """A stored result by its key, or None; read-only, because all sessions share it. Another reader may have computed
    it under other names: this reader's are those of corpora (digest, name), and of the model (name, revision)."""
    try:
        result = _read(key, analysis)
    except LookupError:
        return None
    store().mark_used(key)  # read from the cache of results it is used too
    return memoize(renamed, result, dict(names), dict(zip(("name", "revision"), model or (), strict=False)))


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


@_once
def loaded_models() -> LoadedModels:
    return LoadedModels()


def segments(source: Source, loaded: AttentionModel, settings: Settings) -> FirstSegments:
    """The first segments of a corpus; by its name too, since errors have it, and another reader's is private."""
    key = (loaded.checkpoint.fingerprint(), source.digest, source.name, repr(settings))
    return _segments(key, source, loaded, settings)


@st.cache_resource(max_entries=8, show_spinner=False)
def _segments(key: tuple[str, ...], _source: Source, _model: AttentionModel, _settings: Settings) -> FirstSegments:
    return FirstSegments(Segments(_source, _model.tokens, _settings))


def delete_upload(token: str) -> None:
    """Delete an upload, and what is remembered of its text."""
    uploads().delete(token)
    _segments.clear()


def attention(loaded: AttentionModel, example: Encoded, weights: Weights) -> np.ndarray:
    """(layer, head, query, key) of one input; the last few inputs are cached."""
    which = f"{loaded.checkpoint.fingerprint()}/{loaded.encoder.dtype}/{weights}"
    key = (which, example.ids.tobytes(), example.types.tobytes())
    return _attention(key, loaded, example, weights)


@st.cache_resource(max_entries=3, show_spinner=False)  # a large model's maps of 512 tokens are 400 MB
def _attention(
    key: tuple[str, bytes, bytes], _model: AttentionModel, _example: Encoded, _weights: Weights
) -> np.ndarray:
    from bertviz_core.models.single_input import attention as run

    return run(observing(_model, _weights), _example)


@st.cache_resource(ttl=30, show_spinner=False)  # a header is read for each stored result
def runs() -> tuple[StoredResult, ...]:
    """Headers of all stored results."""
    return tuple(stored_results(store()))


@st.cache_resource(max_entries=16, show_spinner=False)
def checkpoint_run(address: str, analysis: str) -> Result:
    """A checkpoint of the training that ships, as a result."""
    return checkpoint_result(shipped_emergence(), analysis, address)


@st.cache_resource(show_spinner=False)
def shipped_emergence() -> Emergence:
    """The emergence of the training that ships with the project."""
    return shipped()


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
    absent = set()

    def find(request: Request) -> Result | None:
        result = requests.find(store(), request)
        if result is None:
            absent.add(request.key())
        return result

    try:
        result = _series.assemble(find)
    except ModelError:
        result = None
    return result, [request for request in _series.requests() if request.key() in absent]
