"""Which training the page of emergence shows: the one that ships, a stored one, or a folder that a job can work on."""

from __future__ import annotations

from typing import Any

import streamlit as st

from bertviz_core.analyses.analysis import Kind
from bertviz_core.analyses.results import renamed
from bertviz_core.emergence.requests import EmergenceRequest
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.training_folder import Training, find_training
from bertviz_core.errors import StoreError
from bertviz_core.models.allowed import trainings
from pages.shared import boxes, services, stored
from pages.shared.frame import address
from pages.shared.frame.selection import Selection, seconds_to_analyze
from pages.shared.jobs import panel as job_panel
from pages.shared.jobs import reader_jobs

SHIPPED = "demo"
HOW_TO_NAME = (
    "Enter a local folder of checkpoint folders whose names end in their step: step-0000500, checkpoint-500.  "
)
PASSES = 3  # that a checkpoint costs, in those of an analysis alone: it is loaded once


def result_or_stop(selection: Selection) -> tuple[str, Emergence]:
    """The chosen emergence and what tells it from others; or the offer to compute it, or the running job.

    Raises BertvizError for a folder that holds no training.
    """
    selected = {
        f"{provenance['model']['name']} ({key[:8]})": key
        for key, provenance in services.emergences()
        if _mine(provenance)
    }
    chosen = _choose(selected)
    if chosen == SHIPPED or chosen in selected:
        return _kept(selected.get(chosen, SHIPPED))
    training = find_training(chosen, services.access())
    request = EmergenceRequest(
        training, selection.source, stored.sources("treebank", "emergence", selection)[0], selection.settings
    )
    key = request.key()
    try:
        return key, _named(services.emergence(key))
    except LookupError:
        _compute(key, request, selection)
    st.skeleton(height=420)
    st.stop()


def _kept(key: str) -> tuple[str, Emergence]:
    try:
        return key, _named(services.emergence(key))
    except LookupError as error:
        raise StoreError(
            "This training's result is damaged or no longer in the store.",
            hint="Enter its folder again: stored checkpoints are not recomputed.",
        ) from error


def _named(result: Emergence) -> Emergence:
    """With this reader's names of its corpora: others may have uploaded the same under theirs."""
    named: Emergence = renamed(result, stored.names("text") | stored.names("treebank"))
    return named


def _choose(kept: dict[str, str]) -> str:
    access = services.access()
    folders_limited = access.folders is not None
    typed: list[str] = st.session_state.setdefault("trainings", [*trainings(access)])
    asked = address.ahead("training", SHIPPED)
    if asked not in (SHIPPED, *kept, *typed):
        typed.append(asked)
    chosen = address.selectbox(
        "Training",
        [SHIPPED, *kept, *typed],
        key="training",
        default=SHIPPED,
        accept_new_options=not folders_limited,
        width=420,
        help="`demo` ships with the project. "
        + ("" if folders_limited else HOW_TO_NAME)
        + "The corpus, mode and settings in the sidebar apply to trainings that are not computed yet.",
    )
    return chosen or SHIPPED


def _mine(provenance: dict[str, Any]) -> bool:
    """Made from samples and this reader's uploads: other digests are their owners', even when the upload is gone."""
    corpora: dict[Kind, dict[str, Any]] = {
        "text": provenance["corpus"],
        "treebank": provenance["others"]["treebank"],
    }
    return all(origin["digest"] in stored.names(kind) for kind, origin in corpora.items())


def _compute(key: str, request: EmergenceRequest, selection: Selection) -> None:
    """The running job with Cancel, or the offer to start it."""
    job = reader_jobs.job(key)
    if job is not None and not job.finished:
        job_panel.running(job)
        return
    job_panel.ended(job, "Results of finished checkpoints are stored.")
    _say_what(request.training, request)
    first = Selection(request.training.first, selection.source, selection.settings, selection.head)
    minutes = len(request.training.steps) * seconds_to_analyze(first) * PASSES / 60
    label = f"Analyze (about {max(1, minutes):,.0f} min)"
    st.button(label, type="primary", icon=":material/play_arrow:", on_click=reader_jobs.emergence, args=(key, request))


def _say_what(training: Training, request: EmergenceRequest) -> None:
    steps = f"{len(training.steps)} checkpoints, steps {training.steps[0]:,} to {training.steps[-1]:,}"
    corpora = boxes.plain(f"{request.text.name} and {request.treebank.name}")
    st.write(
        f"{steps}. Each is run on {corpora}, on this machine. The results of a checkpoint are stored when it finishes, "
        "so a stopped job can resume. You can use other pages meanwhile."
    )
    for reason, entry in training.skipped.reasons.items():
        st.caption(f"{entry['count']} left out, {boxes.plain(reason)}: {boxes.plain(', '.join(entry['where']))}")
