"""Strangers who close their tab give up the jobs they have asked for; on one's own machine jobs run to their end."""

from __future__ import annotations

from threading import Timer

import streamlit as st

from bertviz_core.engine.jobs import Jobs
from pages.shared import services

GRACE = 120.0  # seconds in which Streamlit gives a session back to a tab whose connection broke

_leaving: dict[str, Timer] = {}  # by asker: whose connection is closed


def note(asker: str) -> None:
    """Record that this session is there and has jobs; to be called whenever it runs."""
    if services.access().public:
        if leaving := _leaving.pop(asker, None):
            leaving.cancel()
        _connection(asker)


def _closed(connection: tuple[str, Jobs]) -> None:
    asker, jobs = connection
    _leaving[asker] = timer = Timer(GRACE, _leave, (asker, jobs))
    timer.daemon = True  # does not delay the server's end
    timer.start()


def _leave(asker: str, jobs: Jobs) -> None:
    if _leaving.pop(asker, None):
        jobs.leave_all(asker)


@st.cache_resource(scope="session", show_spinner=False, on_release=_closed)
def _connection(asker: str) -> tuple[str, Jobs]:
    """The session's connection, which Streamlit releases when it closes, and requests again in a session that comes
    back."""
    return asker, services.jobs()
