"""A model's stored results on the chosen corpora, or the offer to compute them; and the offer of the paper's model."""

from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import TypeVar

import streamlit as st

from bertviz_core import tasks
from bertviz_core.analyses.base.reading_warnings import USUAL_VOCABULARY, reading_warnings, split_warning
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Options, Request
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.run import chunks, runtime_estimate
from bertviz_core.analyses.run.compute import passes, shared
from bertviz_core.analyses.run.run_pass import can_compute, check_model
from bertviz_core.corpora.source import Source
from bertviz_core.emergence.training import training_of
from bertviz_core.errors import DownloadNeeded, ModelError, SettingsError
from bertviz_core.models.checkpoint import PAPER_LENGTH, PAPER_MODEL, Checkpoint, find_checkpoint, paper_model
from bertviz_core.numbers import plural
from bertviz_core.settings import LOCAL, Access
from pages.shared import jobs, messages, services, uploads
from pages.shared.frame import links
from pages.shared.state.choices import OverviewChoices
from pages.shared.state.selection import Selection
from pages.shared.state.session import PageEnd

MOST_PARAMETERS = 500_000_000  # of a training's checkpoints together, whose files are read once: about two seconds
MAX_COST = 20  # forward passes of an analysis that one job runs with all others
R = TypeVar("R", bound=Result)


def results(selection: Selection) -> dict[str, Result]:
    """The stored results of the selection, by analysis; nothing is computed."""
    requests = [selection.request(analysis.name) for analysis in selection.analyses()]
    # Where nothing is stored, the store is read with every run: not for what no job can compute.
    stored = {request.analysis: services.find(request) for request in requests if can_compute(request)}
    return {name: result for name, result in stored.items() if result is not None}


def with_corpus(selection: Selection, analysis: str) -> tuple[Result, Source] | None:
    """The stored result of an analysis of the selection, and its corpus; None where there is none."""
    if (kind := ANALYSES[analysis].corpus) not in selection.corpora:
        return None
    result = services.find(selection.of_weights("attention").request(analysis))
    return None if result is None else (result, selection.corpora[kind])


def request_of(selection: Selection, analysis: str, options: Options) -> tuple[Request, SettingsError | None]:
    """The request of an analysis with the options that are chosen; where what they need of other stored results is
    missing, the request without it, and what is missing."""
    request = selection.request(analysis, options.to_json())
    try:
        return options.completed(request, partial(with_corpus, selection)), None
    except SettingsError as problem:
        return selection.request(analysis, options.alone().to_json()), problem


def over_training(selection: Selection, analysis: str) -> list[tuple[int, Result]]:
    """The steps of the training that the model is a checkpoint of, each with its stored result of an analysis; empty
    where no training is known, or where it takes long to find out which results are of its weights."""
    training = training_of(selection.checkpoint, services.access())
    if training is None or sum(each.parameters() for each in training.checkpoints) > MOST_PARAMETERS:
        return []
    request = selection.request(analysis)
    requests = [replace(request, checkpoint=each) for each in training.checkpoints]
    found = zip(training.steps, map(services.find, requests), strict=True)
    return [(step, result) for step, result in found if result is not None]


def everything(selection: Selection) -> list[Request]:
    """A request for each analysis, without expensive ones, which only their own pages offer."""
    cheap = (analysis for analysis in selection.analyses() if analysis.cost(selection.checkpoint) <= MAX_COST)
    return [selection.request(analysis.name) for analysis in cheap]


def result_or_stop(request: Request, result_class: type[R]) -> R:
    """The stored result of a request, read-only; without one the page ends with the offer to compute it."""
    result = services.find(request)
    if not isinstance(result, result_class):
        offer(request)
        raise PageEnd
    warn([result])
    return result


def warn(shown: Iterable[Result]) -> None:
    """Draw what a reader of these results must know of their input, each warning once."""
    for warning in dict.fromkeys(line for result in shown for line in reading_warnings(result)):
        st.warning(messages.plain(warning), icon=":material/rule:")


def offer(request: Request) -> bool:
    """Draw the running job, or its error and the button that starts it; False where this model cannot compute it."""
    try:
        check_model(request)
    except ModelError as problem:
        messages.note(problem)
        return False
    if jobs.is_running(jobs.last_of(request), "Finished parts are kept." if ANALYSES[request.analysis].chunked else ""):
        return True
    share = chunks.share_done(services.store(), request) or 0.0
    time = duration(shared(request), 1 - share)
    if share:
        st.progress(share, text="An earlier job was stopped. Its finished parts are kept.")
        label = timed(f"Resume at {share:.0%}", time and f"{time} for the rest")
    else:
        _introduce(request)
        label = timed("Analyze", time)
    start_button(label, request.key(), ANALYSES[request.analysis].title, shared(request))
    return True


def _introduce(request: Request) -> None:
    """Draw what was read of the corpus, and what the analysis would do."""
    kind = ANALYSES[request.analysis].corpus
    if contents := uploads.contents(kind, request.source):
        st.write(f"“{messages.plain(request.source.name)}”: {messages.plain(contents)}")
        share = services.split_share(request.checkpoint, kind, request.source)
        if not share.done():
            services.rerun_after(share)
        elif warning := split_warning(request.source.name, share.result(), _vocabulary(request.checkpoint)):
            st.warning(messages.plain(warning), icon=":material/translate:")
    st.caption(
        "Nothing computed yet for this model and this corpus. The analysis runs on this machine, and its result is "
        "stored for later visits. You can use other pages meanwhile."
    )


def _vocabulary(checkpoint: Checkpoint) -> int:
    """How many tokens a model has, as its configuration says."""
    size = checkpoint.config.get("vocab_size")
    return size if isinstance(size, int) else USUAL_VOCABULARY


def offer_missing(selection: Selection) -> None:
    """Draw the job that runs all missing analyses, or the offer to start it."""
    requests = everything(selection)
    key = jobs.everything_key(requests)
    if jobs.is_running(jobs.last(key), "Finished passes are stored."):
        return
    missing = [request for request in requests if services.find(request) is None and can_compute(request)]
    if not missing:
        text = "Every analysis that one job can run is stored for these corpora."
        others = [selection.request(analysis.name) for analysis in selection.analyses()]
        expensive = [each for each in others if services.find(each) is None and can_compute(each)]
        if titles := ", ".join(ANALYSES[each.analysis].title for each in expensive):
            text += f" Start {titles} from {'its' if len(expensive) == 1 else 'their'} own page."
        st.caption(text)
        return
    st.write(
        f"Not stored yet: {plural(len(missing), 'analyses')}. One job takes {plural(len(passes(missing)), 'passes')}; "
        "analyses of one corpus may share a pass. Results are stored as each pass finishes."
    )
    st.caption(messages.plain(", ".join(dict.fromkeys(ANALYSES[each.analysis].title for each in missing))))
    start_button(timed("Run all", duration(missing)), key, "Everything", missing)


def duration(requests: list[Request], left: float = 1.0) -> str:
    """The estimated time of these requests together, or of the share that is `left`, as "about 40 s"; "" where it is
    not known."""
    return runtime_estimate.duration(services.store(), passes(requests), left)


def timed(label: str, time: str) -> str:
    """The label of a button that starts what takes a time, if that is known."""
    return f"{label} ({time})" if time else label


def start_button(label: str, key: str, title: str, requests: Sequence[Request]) -> None:
    """Draw the button that starts a job: to compute those of these requests that are not stored yet."""
    job = key, title, partial(tasks.analyses, requests, services.store())
    # With a key the button stays the same one when its label tells a time: a click just then is not lost.
    st.button(label, type="primary", icon=":material/play_arrow:", key=f"start {key}", on_click=jobs.submit, args=job)


def offer_papers_model(selection: Selection) -> None:
    """Draw the offer of the paper's model, its job or a link to it; nothing where the model is not available."""
    access = services.access()
    if access.downloads == 0 or selection.checkpoint.name == PAPER_MODEL:
        return
    settings = replace(selection.settings, max_length=min(selection.settings.max_length, PAPER_LENGTH))
    requests = everything(replace(selection, checkpoint=paper_model(), settings=settings))
    key = jobs.everything_key(requests)
    job = jobs.last(key)
    last_state = job.state if job and job.finished else ""
    answer = _hub_answer(last_state, access)
    if not answer.done():
        services.rerun_after(answer)
        return
    if (size := answer.result()) is None:
        return
    with st.container(border=True):
        st.markdown(f"**{PAPER_MODEL}**, the model of the paper: 12 × 12 heads")
        if jobs.is_running(job, "What was downloaded and computed is kept."):
            return
        if size == 0:
            links.to(OverviewChoices(), f"Open {PAPER_MODEL}", model=PAPER_MODEL)
            return
        time = duration(requests)
        after = f": {time} after the download" if time else ""
        st.caption(f"One job downloads it from the Hugging Face hub and runs every analysis{after}.")
        task = partial(tasks.download, [PAPER_MODEL], requests, services.store())
        # The job is nobody's, so that no reader's analyses wait for it.
        arguments = (key, PAPER_MODEL, task, services.downloads())
        label = f"Download {size / 1e6:,.0f} MB and analyze"
        st.button(label, on_click=jobs.submit, args=arguments, icon=":material/download:")


@st.cache_resource(ttl=600, show_spinner=False)
def _hub_answer(last_state: str, _access: Access) -> Future[int | None]:
    """Bytes to download, 0 for a model on this machine, None where it is not available; the same for all readers."""

    def ask() -> int | None:
        try:
            find_checkpoint(PAPER_MODEL, access=replace(_access, hub_seconds=LOCAL.hub_seconds))
        except DownloadNeeded as needed:
            return needed.size
        except Exception:  # Whatever the network, the disk or a library raises, there is nothing to offer.
            return None
        return 0

    return services.in_background(ask)
