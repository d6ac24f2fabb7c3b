"""A hub on loopback with one model, which has a revision for each step of a training."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import huggingface_hub
import pytest

from bertviz_core.models import model_sources

NAME = "owner/trained"


class Hub(ThreadingHTTPServer):
    """Serves folders as revisions of NAME, and remembers which paths it was asked for.

    Attributes:
        folders: From the name of each branch to a folder of files.
        asked: The method and path of each request.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folders = dict(folders)
        self.commits = {hashlib.sha1(name.encode()).hexdigest(): name for name in folders}
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def environment(self) -> dict[str, str]:
        """What another process needs in order to ask this hub."""
        return {"HF_ENDPOINT": self.address, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}

    def fetched(self, ending: str) -> int:
        """How many files with this ending have been downloaded."""
        return sum(request.startswith("GET") and request.endswith(ending) for request in self.asked)

    def commit(self, revision: str) -> str | None:
        revision = "main" if revision == "HEAD" else revision
        if revision in self.commits:
            return revision
        return next((commit for commit, name in self.commits.items() if name == revision), None)

    def files(self, commit: str) -> dict[str, bytes]:
        folder = self.folders[self.commits[commit]]
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


class Handler(BaseHTTPRequestHandler):
    """Answers what huggingface_hub asks for references, files and their sizes, as the hub's API does."""

    server: Hub

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def answer(self, with_body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        self.server.asked.append(f"{self.command} {path}")
        if path == f"/api/models/{NAME}/refs":
            return self.send_json(self.references(), with_body)
        file = re.fullmatch(f"/{NAME}/resolve/([^/]+)/(.+)", path)
        listing = re.fullmatch(f"/api/models/{NAME}(?:/(revision|tree)/([^/]+))?", path)
        if match := file or listing:
            revision = match[1] if file else match[2] or "main"
            if commit := self.server.commit(revision):
                return self.send_file(commit, file[2], with_body) if file else self.send_listing(commit, match[1])
        self.send_response(404)
        self.send_header("X-Error-Code", "RevisionNotFound" if NAME in path else "RepoNotFound")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def references(self) -> dict[str, Any]:
        refs = [{"name": n, "ref": f"refs/heads/{n}", "targetCommit": c} for c, n in self.server.commits.items()]
        return {"branches": refs, "tags": [], "converts": []}

    def send_listing(self, commit: str, kind: str | None) -> None:
        sizes = {name: len(data) for name, data in self.server.files(commit).items()}
        if kind == "tree":
            files = [{"type": "file", "path": n, "size": s, "oid": f"{commit}{n}"} for n, s in sizes.items()]
            return self.send_json(files, True)
        siblings = [{"rfilename": name, "size": size} for name, size in sizes.items()]
        self.send_json({"id": NAME, "sha": commit, "siblings": siblings}, True)

    def send_file(self, commit: str, name: str, with_body: bool) -> None:
        data = self.server.files(commit)[name]
        headers = {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "X-Repo-Commit": commit}
        self.send(data, headers, with_body)

    def send_json(self, value: Any, with_body: bool) -> None:
        self.send(json.dumps(value).encode(), {"Content-Type": "application/json"}, with_body)

    def send(self, data: bytes, headers: Mapping[str, str], with_body: bool) -> None:
        self.send_response(200)
        for name, text in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, text)
        self.end_headers()
        if with_body:
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Says nothing on standard error."""


@contextmanager
def serving(folders: Mapping[str, Path]) -> Iterator[Hub]:
    """A hub whose model has these folders as branches, as long as the context lasts."""
    with Hub(folders) as hub:
        threading.Thread(target=hub.serve_forever, daemon=True).start()
        try:
            yield hub
        finally:
            hub.shutdown()


def ask_here(hub: Hub, cache: Path, patch: pytest.MonkeyPatch) -> None:
    """This process asks that hub, and keeps what it downloads in `cache`."""
    constants = huggingface_hub.constants
    patch.setattr(constants, "ENDPOINT", hub.address)
    patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.address + "/{repo_id}/resolve/{revision}/{filename}")
    patch.setattr(constants, "HF_HUB_OFFLINE", False)
    patch.setattr(constants, "HF_HUB_CACHE", str(cache))
    for answers in (model_sources._files, model_sources._revisions):
        answers.cache_clear()
