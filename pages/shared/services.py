"""The store and the jobs, one of each for the server; and results by key, read from disk once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from bertviz_core.access import Access, from_environment
from bertviz_core.analyses import ANALYSES
from bertviz_core.analyses.emergence import Emergence
from bertviz_core.analyses.results import renamed
from bertviz_core.corpora.source import Source
from bertviz_core.engine import emergence as training_emergence
from bertviz_core.engine import requests
from bertviz_core.engine.emergence import EmergenceRequest
from bertviz_core.engine.jobs import Job, Jobs
from bertviz_core.engine.requests import Request
from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import Uploads
from bertviz_core.errors import StoreError
from bertviz_core.models.checkpoint import Checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from bertviz_core.engine.progress import Progress
    from bertviz_core.models.encoding import Encoded
    from bertviz_core.models.loading import AttentionModel
    from bertviz_core.models.one_input import OneInput, Prediction


UNPACKED = 10  # text shrinks to a tenth at best


@st.cache_resource(show_spinner=False)
def store() -> Store:
    return Store()


@st.cache_data(ttl=10, show_spinner=False)  # a walk over all files
def store_size() -> int:
    """Bytes that the store takes on the disk."""
    return store().size()


@st.cache_resource(show_spinner=False)
def access() -> Access:
    """What this server lets its visitors reach, read once."""
    return from_environment()


@st.cache_resource(show_spinner=False)
def uploads() -> Uploads:
    return Uploads(store(), access())


def upload(token: str) -> Source:
    """An upload by its token; raises InputError when it is not here (any more)."""
    return bounded(uploads().source(token))


def bounded(source: Source) -> Source:
    """An upload may unpack to so many times the largest upload, and no more."""
    return replace(source, most=UNPACKED * st.get_option("server.maxUploadSize") * 2**20)


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    return Jobs()


def find(request: Request) -> Any | None:
    """The stored result or None; frozen, so that all sessions may share it. Its names are those of the request: who
    computed it may have had the same files under others."""
    key = request.key()
    store().mark_used(key)
    try:
        result = _read(key, request)
    except LookupError:
        return None
    corpora = {source.digest: source.name for source in (request.source, *request.others.values())}
    return renamed(result, corpora, {"name": request.checkpoint.name, "revision": request.checkpoint.revision})


@st.cache_resource(max_entries=64, show_spinner=False)
def _read(key: str, _request: Request) -> Any:
    """Cached by key alone; an absence is raised, because what raises is not cached."""
    result = requests.find(store(), _request)
    if result is None:
        raise LookupError(key)
    return result


def analyse(request: Request) -> Job:
    """Queue the computation, or join the one that runs."""
    title = request.analysis.replace("_", " ").capitalize()
    return _submit(request.key(), title, lambda progress: requests.compute(request, store(), progress=progress))


def model(checkpoint: Checkpoint, dtype: str) -> AttentionModel:
    """The model that single inputs run on, loaded once and kept while no other is asked for."""
    return _model(checkpoint.fingerprint(), dtype, checkpoint)


@st.cache_resource(max_entries=1, show_spinner="Loading the model")
def _model(fingerprint: str, dtype: str, _checkpoint: Checkpoint) -> AttentionModel:
    from bertviz_core.models.one_input import load_to_view

    return load_to_view(_checkpoint, dtype=dtype)


def attention(loaded: AttentionModel, example: Encoded) -> np.ndarray:
    """(layer, head, query, key) of one input; the last few inputs are remembered."""
    which = f"{loaded.checkpoint.fingerprint()}/{loaded.encoder.dtype}"
    key = (which, example.ids.tobytes(), example.types.tobytes())
    return _attention(key, loaded, example)


@st.cache_resource(max_entries=3, show_spinner=False)  # a large model's maps of 512 tokens are 400 MB
def _attention(key: tuple[str, bytes, bytes], _model: AttentionModel, _example: Encoded) -> np.ndarray:
    from bertviz_core.models.one_input import attention as run

    return run(_model, _example)


def predictions(loaded: AttentionModel, original: OneInput, masked: OneInput) -> tuple[Prediction, ...]:
    """What the model would put where `masked` differs from the original."""
    from bertviz_core.models.one_input import predict

    return predict(loaded, original, masked)


def analyse_all(wanted: list[Request]) -> Job:
    """Queue all of it as one job, or join the one that runs."""
    return _submit(
        all_key(wanted), "Everything", lambda progress: requests.compute_all(wanted, store(), progress=progress)
    )


def _submit(key: str, title: str, work: Callable[[Progress], Any]) -> Job:
    """Queue it, and remember that this reader asked for it."""
    st.session_state.setdefault("jobs", []).append(key)
    return jobs().submit(key, title, work)


def asked() -> list[Job]:
    """The jobs that this reader asked for, each once, the finished ones too until they are dropped."""
    keys = dict.fromkeys(st.session_state.get("jobs", ()))
    return [job for key in keys if (job := jobs().get(key)) is not None]


def drop(job: Job) -> None:
    """Forget that this reader asked for it."""
    st.session_state["jobs"] = [key for key in st.session_state["jobs"] if key != job.key]


def job_of(request: Request) -> Job | None:
    """The last job that would make this result: its own, one that shares its pass, or this reader's of everything."""
    together = ANALYSES[request.analysis].together()
    keys = [request.key(), *(request.for_analysis(other.name).key() for other in together)]
    wider = [job for job in asked() if not job.finished and request.key() in job.key.split("/")]
    return next(filter(None, [*wider, *map(jobs().get, keys)]), None)


def all_key(wanted: list[Request]) -> str:
    """The key of the job that computes all of these."""
    return "all/" + "/".join(request.key() for request in wanted)


@st.cache_resource(ttl=30, show_spinner=False)  # a header is read for each stored result
def emergences() -> list[tuple[str, dict[str, Any]]]:
    """(key, provenance) of every stored emergence."""
    return list(training_emergence.stored(store()))


@st.cache_resource(max_entries=8, show_spinner=False)
def emergence(key: str) -> Emergence:
    """By its key, or "demo"; an absence is raised as LookupError, because what raises is not cached."""
    result = training_emergence.shipped() if key == "demo" else training_emergence.read(store(), key)
    if result is None:
        raise LookupError(key)
    return result


def emerge(key: str, request: EmergenceRequest) -> Job:
    """Queue the whole training as one job, or join the one that runs."""
    with suppress(StoreError):  # the job will say so
        store().pin(request.parts(), days=1)  # while it waits
    return _submit(key, "Emergence", lambda progress: training_emergence.compute(request, store(), progress=progress))
