"""The store and the jobs, one of each for the server; and results by key, read from disk once."""

from __future__ import annotations

from typing import Any

import streamlit as st

from bertviz_core.engine import requests
from bertviz_core.engine.jobs import Job, Jobs
from bertviz_core.engine.requests import Request
from bertviz_core.engine.store import Store


@st.cache_resource(show_spinner=False)
def store() -> Store:
    return Store()


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    return Jobs()


def find(request: Request) -> Any | None:
    """The stored result or None; frozen, so that all sessions may share it."""
    key = request.key()
    try:
        return _read(key, request)
    except LookupError:
        return None


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
    return jobs().submit(request.key(), title, lambda progress: requests.compute(request, store(), progress=progress))
