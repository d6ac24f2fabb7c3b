"""Tasks of jobs as JSON, which any process can perform: models and files by location, results by the store."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bertviz_core.analyses import model_pass, requests
from bertviz_core.analyses.model_pass import LastModelCache
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.source import Source, from_path
from bertviz_core.engine.jobs import Progress
from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import Uploads
from bertviz_core.errors import BertvizError, DownloadNeeded, InputError
from bertviz_core.models import checkpoint, sources
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.paper_report import ReportRequest
from bertviz_core.settings import Settings, access_from_environment, app_execution

MEGABYTE = 10**6
Task = Mapping[str, Any]  # JSON: its "kind" names what performs it


def analyses(to_compute: Iterable[Request], store: Store) -> Task:
    """The task to compute and store what is not stored yet of these requests.

    Raises:
        InputError: a corpus is in this process's memory alone.
    """
    return {"kind": "analyses", "store": str(store.folder), "requests": [_request(request) for request in to_compute]}


def report(request: ReportRequest, store: Store) -> Task:
    """The task to compute and store what a report lacks; raises InputError as `analyses` does."""
    return {
        "kind": "report",
        "store": str(store.folder),
        "checkpoint": _checkpoint(request.checkpoint),
        "corpora": {kind: _source(source) for kind, source in request.corpora.items()},
        "settings": request.settings.to_json(),
        "max_cost": request.max_cost,
    }


def download(name: str, revision: str | None) -> Task:
    return {"kind": "download", "name": name, "revision": revision}


def hub_model(to_compute: Iterable[Request], store: Store) -> Task:
    """Compute and store those of these requests that their hub model can serve, once its files are on this machine."""
    return {**analyses(to_compute, store), "kind": "hub_model"}


def perform(task: Task, progress: Progress, models: LastModelCache) -> None:
    """Perform one task, and keep its model in `models` for the next one.

    Raises:
        BertvizError: What the user can fix.
        Cancelled: `progress` says so.
    """
    if task["kind"] == "download":
        _download(task["name"], task["revision"], progress)
        return
    store = Store(Path(task["store"]))
    if task["kind"] == "report":
        corpora = {kind: _open_source(source, store) for kind, source in task["corpora"].items()}
        model, settings = _open_checkpoint(task["checkpoint"]), Settings(**task["settings"])
        request = ReportRequest(model, corpora, settings, task["max_cost"])
        if failed := request.compute(store, app_execution(), progress, models.load):
            names = ", ".join(ANALYSES[name].title for name in failed)
            raise BertvizError(f"Not computed: {names}.", hint=next(iter(failed.values())))
        return
    fields = task["requests"]
    if task["kind"] == "hub_model":
        model = _download(fields[0]["checkpoint"]["name"], fields[0]["checkpoint"]["revision"], progress)
        fields = [each | {"checkpoint": _checkpoint(model)} for each in fields]
    to_compute = [_open_request(each, store) for each in fields]
    if task["kind"] == "hub_model":
        to_compute = list(filter(model_pass.can_compute, to_compute))
    requests.compute_all(to_compute, store, app_execution(), progress, models.load)


def _download(name: str, revision: str | None, progress: Progress) -> Checkpoint:
    access = access_from_environment()
    try:
        return checkpoint.find(name, revision, access)
    except DownloadNeeded as needed:
        progress.start(f"Downloading {needed.name}", round(needed.size / MEGABYTE), "MB")
    with sources.arriving(lambda size: setattr(progress, "done", min(round(size / MEGABYTE), progress.total))):
        return checkpoint.download(name, revision, access)


def _request(request: Request) -> dict[str, Any]:
    return {
        "analysis": request.analysis,
        "checkpoint": _checkpoint(request.checkpoint),
        "source": _source(request.source),
        "settings": request.settings.to_json(),
        "options": request.options,
        "others": {role: _source(source) for role, source in request.others.items()},
    }


def _open_request(fields: dict[str, Any], store: Store) -> Request:
    model, source = _open_checkpoint(fields["checkpoint"]), _open_source(fields["source"], store)
    others = {role: _open_source(source, store) for role, source in fields["others"].items()}
    return Request(fields["analysis"], model, source, Settings(**fields["settings"]), fields["options"], others)


def _checkpoint(model: Checkpoint) -> dict[str, Any]:
    return {"name": model.name, "folder": str(model.folder.absolute()), "revision": model.revision}


def _open_checkpoint(fields: dict[str, Any]) -> Checkpoint:
    return checkpoint.reopen(fields["name"], Path(fields["folder"]), fields["revision"])


def _source(source: Source) -> dict[str, Any]:
    if not source.locator:
        raise InputError(
            "The corpus is not in the store, so no job can read it.",
            where=source.name,
            hint="Upload it again, or name another folder for the store with BERTVIZ_STORE.",
        )
    return {name: getattr(source, name) for name in ("name", "digest", "locator", "max_unpacked")}


def _open_source(fields: dict[str, Any], store: Store) -> Source:
    """A corpus of a task; raises InputError where its bytes are missing or have changed since the job was queued."""
    kind, _, key = fields["locator"].partition(":")
    source = Uploads(store).source(key) if kind == "upload" else from_path(key)
    if source.digest != fields["digest"]:
        raise InputError(
            "The file has changed since the job was asked for.", where=fields["name"], hint="Start the job again."
        )
    return replace(source, name=fields["name"], max_unpacked=fields["max_unpacked"])
