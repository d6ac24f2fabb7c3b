"""Readers' uploads, each under a random token: whoever has the token reads it, whoever owns it deletes it; and the
models that a reader has opened lately, which no other reader is shown."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import BinaryIO

from bertviz_core.access import LOCAL, Access
from bertviz_core.corpora.source import Source
from bertviz_core.engine.store import DAY, Store
from bertviz_core.errors import InputError, StoreError

TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")  # what secrets.token_urlsafe(32) makes
MINIMUM = 1 << 19  # bytes that an upload counts as at least, so that limits bound the number of uploads too
MAX_MODELS, MODEL_DAYS = 8, 30  # of the names that are remembered of one reader


@dataclass(frozen=True, slots=True)
class Upload:
    """Description of an upload, without its bytes.

    Attributes:
        token: Opens the upload; links carry it.
        name: The file's name as its owner gave it.
        kind: Kind of corpus ("text", "treebank", "coreference"), or "vectors".
        digest: sha256 (hex) of the bytes; a part of cache keys, it opens nothing.
        size: In bytes.
        owner: sha256 (hex) of the owner's secret.
    """

    token: str
    name: str
    kind: str
    digest: str
    size: int
    owner: str

    @property
    def charge(self) -> int:
        """Bytes that count against the limits."""
        return max(self.size, MINIMUM)


def owner_of(secret: str) -> str:
    """What the store keeps of an owner's secret: enough to compare, too little to act as the owner."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Uploads:
    """The uploads in a store. Equal bytes of two readers are two uploads, of which neither touches the other."""

    def __init__(self, store: Store, access: Access = LOCAL) -> None:
        self.store, self.access = store, access
        self._lock = threading.Lock()

    def keep(self, data: bytes, name: str, kind: str, owner: str) -> Upload:
        """Store an upload; the same file of the same owner again has its days start again.

        Args:
            data: The bytes, checked by the caller.
            name: Name of the file.
            kind: What it is read as.
            owner: From `owner_of`.

        Raises:
            InputError: The owner's uploads, or all uploads, would take more than they may.
        """
        new = Upload(secrets.token_urlsafe(32), name, kind, hashlib.sha256(data).hexdigest(), len(data), owner)
        with self._lock:
            present = list(self)
            same = (new.name, new.kind, new.digest, new.owner)
            new = next((old for old in present if (old.name, old.kind, old.digest, old.owner) == same), new)
            self._check_room(new, [other for other in present if other.token != new.token])
            seconds = self.access.upload_days * DAY
            self.store.write(f"upload/{new.token}", data, expire=seconds)
            self.store.write(f"name/{new.token}", json.dumps(asdict(new)).encode(), expire=seconds)
        return new

    def find(self, token: str) -> Upload | None:
        """The upload of this token, or None: never there, deleted and expired look alike."""
        if not TOKEN.fullmatch(token):
            return None
        with self.store.reading() as cache:
            data = cache.get(f"name/{token}")
            present = data is not None and f"upload/{token}" in cache
        try:
            return Upload(**json.loads(data)) if present else None
        except (ValueError, TypeError):
            return None  # of another version

    def source(self, token: str) -> Source:
        """The bytes of an upload, looked up again at each reading: it may be deleted while a job reads it.

        Raises:
            InputError: The upload is not here, or not any more.
        """
        upload = self.find(token)
        if upload is None:
            raise missing()
        locator = f"upload:{token}"
        return Source(upload.name, upload.digest, upload.size, lambda: self._open(token), locator=locator)

    def of(self, owner: str) -> list[Upload]:
        """The uploads of one owner."""
        return [upload for upload in self if upload.owner == owner]

    def delete(self, token: str, owner: str) -> None:
        """Delete an upload; nothing happens where it belongs to another reader."""
        upload = self.find(token)
        if upload is not None and secrets.compare_digest(upload.owner, owner):
            with self.store.writing() as cache:
                cache.delete(f"name/{token}")
                cache.delete(f"upload/{token}")

    def models(self, owner: str) -> list[str]:
        """Names of the models that a reader has opened, the latest first; none where the store cannot be read."""
        try:
            with self.store.reading() as cache:
                names = json.loads(cache.get(f"models/{owner}") or b"[]")
        except (StoreError, ValueError):
            return []
        return [name for name in names if isinstance(name, str)]

    def remember_model(self, owner: str, name: str) -> None:
        """Put a model first among a reader's own; nothing happens where the store cannot be written."""
        latest = [name, *(other for other in self.models(owner) if other != name)][:MAX_MODELS]
        with suppress(StoreError):
            self.store.write(f"models/{owner}", json.dumps(latest).encode(), expire=MODEL_DAYS * DAY)

    def __iter__(self) -> Iterator[Upload]:
        for entry in self.store.entries():
            if entry.kind == "upload" and (upload := self.find(entry.key)) is not None:
                yield upload

    def _open(self, token: str) -> BinaryIO:
        stream = self.store.open(f"upload/{token}")
        if stream is None:
            raise missing()
        return stream

    def _check_room(self, new: Upload, others: list[Upload]) -> None:
        total = sum(other.charge for other in others)
        own = sum(other.charge for other in others if other.owner == new.owner)
        if own + new.charge > self.access.reader_uploads:
            raise InputError(
                f"Your uploads would take more than {self.access.reader_uploads / 1e6:,.0f} MB.",
                where=new.name,
                hint="Delete some that you no longer need.",
            )
        if total + new.charge > self.access.uploads:
            raise InputError(
                "This server has no space for more uploads.",
                where=new.name,
                hint="Try again later, or ask its operator to set BERTVIZ_UPLOADS higher.",
            )


def missing() -> InputError:
    """The one answer to every token that opens nothing."""
    return InputError(
        "This upload is not on this server: it may have expired or been deleted.",
        hint="Upload the file again: results computed from it are kept.",
    )
