"""Runs that Compare can show once they are computed: run A but for its model, its corpus or a setting, and another
analysis of a run that is stored."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.comparison.change import differences, worded
from bertviz_core.comparison.result import checkpoint_names
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.corpora.source import Source
from bertviz_core.engine.uploads import Upload
from bertviz_core.errors import DownloadNeeded, InputError, ModelError
from bertviz_core.models.checkpoint import find_checkpoint, label_of, short_names
from bertviz_core.models.hub_questions import HubPending
from bertviz_core.overview.stored_results import StoredResult
from bertviz_core.settings import MODES, Settings
from pages.shared import services, stored, uploads
from pages.shared.costly import shipped
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import CompareChoices
from pages.shared.state.runs import RELATIVE, Run, Runs
from pages.shared.state.selection import Selection

TITLES = {"model": "Two models", "corpus": "Two corpora", "mode": "Two modes"}  # of what one click compares
LACKING = {
    "model": "Only one model is known here. Choose another one in the line under another page's title.",
    "corpus": "Only one corpus of this kind is known here. Add one in the line under another page's title.",
    "mode": "A checkpoint of a training that ships is computed in one mode.",
}


class Counterpart(NamedTuple):
    """Run A but for one thing.

    Attributes:
        part: What differs, a key of TITLES.
        address: As `b` of the page has it.
        name: In the list of runs.
    """

    part: str
    address: str
    name: str


def stored_run(address: str) -> StoredResult | None:
    """The stored run of an address; None for a checkpoint of the training that ships, and where there is none."""
    return next((run for run in services.runs() if address and run.key.startswith(address)), None)


def counterparts(a: str) -> list[Counterpart]:
    """What run A can be compared with: its corpus by other models, other corpora, and the other mode; empty where A is
    no stored run."""
    run = stored_run(a)
    return [] if run is None else [*_models(run), *_corpora(run), _other_mode(run)]


def _models(run: StoredResult) -> Iterator[Counterpart]:
    own = run.provenance["model"]["name"]
    known = list(dict.fromkeys([own, *session.current().models]))
    names = short_names(known)
    for model in known[1:]:
        name = f"{names[model]} on {run.provenance['corpus']['name']}"
        yield _counterpart(run, "model", model, name, identity=("name", model))
    for address, name in reversed(checkpoint_names(shipped(), run.analysis).items()):
        yield Counterpart("model", address, name)


def _corpora(run: StoredResult) -> Iterator[Counterpart]:
    kind = ANALYSES[run.analysis].corpus
    sources: dict[str, Source | Upload] = {name: sample(name) for name in SAMPLES[kind]}
    for address, each in (sources | uploads.visible(kind)).items():
        if each.digest != run.provenance["corpus"]["digest"]:
            name = f"{_model_of(run)} on {each.name}"
            yield _counterpart(run, "corpus", address, name, identity=("digest", each.digest))


def _other_mode(run: StoredResult) -> Counterpart:
    mode = "corrected" if run.provenance["settings"]["mode"] == "paper" else "paper"
    name = f"{_model_of(run)}, {worded('mode', mode)} on {run.provenance['corpus']['name']}"
    return _counterpart(run, "mode", mode, name)


def _counterpart(
    run: StoredResult, part: str, value: str, name: str, identity: tuple[str, str] | None = None
) -> Counterpart:
    """The stored run that is like another but for one part, in whose provenance that has an identity; without one a
    counterpart under an address of its own."""
    for each in services.runs():
        is_it = identity is None or each.provenance[part][identity[0]] == identity[1]
        if each.analysis == run.analysis and is_it and differences(run.provenance, each.provenance).keys() == {part}:
            return Counterpart(part, each.key[:16], name)
    return Counterpart(part, f"{RELATIVE}{part}={value}", name)


def _model_of(run: StoredResult) -> str:
    return label_of(run.provenance["model"]["name"])


def request_of(address: str, analysis: str, a: str, selection: Selection) -> Request | None:
    """The request of a run that is not stored under an address: A but for one thing, or this analysis of the model of
    another one's run; None where neither is known. Raises BertvizError where its model or corpus cannot be opened."""
    if address.startswith(RELATIVE):
        run = stored_run(a)
        if run is None or run.analysis != analysis:
            return None
        part, _, value = address.removeprefix(RELATIVE).partition("=")
        change = CHANGES.get(part)
        return None if change is None else change(_request(run, analysis, selection), value)
    run = stored_run(address)
    return None if run is None else _request(run, analysis, selection)


def _request(run: StoredResult, analysis: str, selection: Selection) -> Request:
    """The request of a stored run, or of another analysis of its model, on the corpus of the header where that is of
    another kind."""
    origin = run.provenance
    same = run.analysis == analysis
    checkpoint = find_checkpoint(origin["model"]["name"], access=services.access())
    settings = Settings(**origin["settings"])
    if not same:
        limit = None if settings.limit == ANALYSES[run.analysis].limit else settings.limit
        settings = ANALYSES[analysis].relevant(replace(settings, limit=limit))
    options: dict[str, Any] = origin["options"] if same else {}
    source = _source(ANALYSES[analysis].corpus, origin["corpus"]["digest"], selection)
    return Request(analysis, checkpoint, source, settings, options)


def _source(kind: str, digest: str, selection: Selection) -> Source:
    """The corpus with a digest that this reader sees, else that of the header."""
    for name in SAMPLES[kind]:
        if sample(name).digest == digest:
            return sample(name)
    for upload in uploads.visible(kind).values():
        if upload.digest == digest:
            return uploads.source(upload)
    found = next((source for each, source in selection.corpora.items() if each == kind), None)
    if found is None:
        raise InputError("The corpus of this run is no longer here.", hint="Choose another run.")
    return found


def _on_model(request: Request, name: str) -> Request:
    return replace(request, checkpoint=find_checkpoint(name, access=services.access()))


def _on_corpus(request: Request, address: str) -> Request | None:
    kind = ANALYSES[request.analysis].corpus
    if address in SAMPLES[kind]:
        return replace(request, source=sample(address))
    upload = uploads.find(address, kind)
    return None if upload is None else replace(request, source=uploads.source(upload))


def _in_mode(request: Request, mode: str) -> Request | None:
    modes = {name: name for name in MODES}
    return replace(request, settings=replace(request.settings, mode=modes[mode])) if mode in modes else None


CHANGES: dict[str, Callable[[Request, str], Request | None]] = {
    "model": _on_model,
    "corpus": _on_corpus,
    "mode": _in_mode,
}


def find_runs(runs: Runs, selection: Selection) -> tuple[str, str, str, Request | None]:
    """The analysis, the addresses of both runs, and the request of the first that is not stored, None where both are.
    An address of nothing, or of what cannot be opened any more, is forgotten. Raises BertvizError where a model is
    downloaded first."""
    analysis, a, b = session.page(CompareChoices).chosen_runs(runs)
    for field, address in (("a", a), ("b", b)):
        if address in runs[analysis]:
            continue
        try:
            request = request_of(address, analysis, a, selection)
        except (DownloadNeeded, HubPending):
            raise
        except (InputError, ModelError):
            request = None
        if request is None:
            session.forget(field)
            return find_runs(runs, selection)
        if services.find(request) is None:
            return analysis, a, b, request
        session.current().replace(**{field: request.key()[:16]})  # it was computed a moment ago
        return find_runs(runs | {analysis: runs[analysis] | {request.key()[:16]: Run("")}}, selection)
    return analysis, a, b, None


def draw_ways(offered: list[Counterpart], b: str) -> None:
    """Draw a button for each of TITLES, which chooses the next counterpart of A of that kind."""
    for part, title in TITLES.items():
        addresses = [each.address for each in offered if each.part == part]
        following = addresses[(addresses.index(b) + 1) % len(addresses)] if b in addresses else "".join(addresses[:1])
        st.button(
            title,
            on_click=session.choose,
            kwargs={"b": following, "quantity": None},
            disabled=not following,
            help=None if following else LACKING[part],
        )


def offer(request: Request) -> None:
    """Say that a run is not stored, and draw the button that computes it, or its running job."""
    settings = request.settings
    words = [request.source.name, *[worded("mode", settings.mode)] * settings.paper]
    words += [worded("weights", settings.weights)] * (settings.weights == "norms")
    title = ANALYSES[request.analysis].title
    text = f"{request.checkpoint.label} has no run of {title} on {', '.join(words)} yet."
    st.markdown(f"**{plain(text)}**")
    stored.offer(request)
