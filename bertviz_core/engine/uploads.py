"""Uploads, each under a random token that opens it; and the recently opened models of a local app."""

import hashlib
import json
import re
import secrets
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import BinaryIO

from bertviz_core.access import LOCAL, Access
from bertviz_core.corpora.source import Source
from bertviz_core.engine.store import DAY, Store
from bertviz_core.engine.store_disk import BYTES, OF_KIND, SIZE
from bertviz_core.errors import InputError, StoreError

TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")  # what secrets.token_urlsafe(32) makes
MINIMUM = 1 << 19  # bytes that an upload counts as at least, so that limits bound the number of uploads too
LATEST = 20  # uploads that are listed
MAX_MODELS, MODEL_DAYS = 8, 30  # of the names that are remembered


@dataclass(frozen=True)
class Upload:
    """Description of an upload, without its bytes.

    Attributes:
        token: Opens the upload.
        name: The file's name as its owner gave it.
        kind: Kind of corpus ("text", "treebank", "coreference"), or "vectors".
        digest: sha256 (hex) of the bytes; a part of cache keys, it opens nothing.
        size: In bytes.
    """

    token: str
    name: str
    kind: str
    digest: str
    size: int

    @property
    def charge(self) -> int:
        """Bytes that count against the limits."""
        return max(self.size, MINIMUM)


class Uploads:
    """The uploads in a store. On a public server equal files are separate uploads, which end with their sessions."""

    def __init__(self, store: Store, access: Access = LOCAL) -> None:
        self.store, self.access = store, access
        self._lock = threading.Lock()

    def keep(self, data: bytes, name: str, kind: str) -> Upload:
        """Store an upload, whose bytes the caller has checked; on one's own machine the same file again has its days
        start again. Raises InputError where all uploads would take more than they may."""
        new = Upload(secrets.token_urlsafe(32), name, kind, hashlib.sha256(data).hexdigest(), len(data))
        days = 1 if self.access.public else self.access.upload_days
        with self._lock:
            same = (new.name, new.digest)
            old = [] if self.access.public else self.latest(kind)
            new = next((upload for upload in old if (upload.name, upload.digest) == same), new)
            self._check_room(new)
            self.store.write(f"upload/{new.token}", data, expire=days * DAY)
            self.store.write(f"name/{new.token}", json.dumps(asdict(new)).encode(), expire=days * DAY)
        return new

    def latest(self, kind: str) -> list[Upload]:
        """The last uploads of a kind, oldest first."""
        query = f"SELECT value FROM Cache WHERE {OF_KIND} AND {BYTES} ORDER BY store_time DESC"
        with self.store.reading() as cache:
            rows = cache.sql(query, ("name/", "name0", time.time()))
        uploads = (upload for (value,) in rows if (upload := _read_description(value)) and upload.kind == kind)
        return [upload for upload, _ in zip(uploads, range(LATEST), strict=False)][::-1]

    def find(self, token: str) -> Upload | None:
        """The upload of this token, or None; unknown, deleted and expired tokens are not distinguished."""
        if not TOKEN.fullmatch(token):
            return None
        with self.store.reading() as cache:
            data = cache.get(f"name/{token}")
            return _read_description(data) if f"upload/{token}" in cache else None

    def source(self, token: str) -> Source:
        """The bytes of an upload by its token; raises InputError when it is not here (any more)."""
        upload = self.find(token)
        if upload is None:
            raise missing()
        return self.source_of(upload)

    def source_of(self, upload: Upload) -> Source:
        """The bytes of an upload, looked up at each reading: it may be deleted while a job reads it, and raises
        InputError then."""
        locator = f"upload:{upload.token}"
        return Source(upload.name, upload.digest, upload.size, lambda: self._open(upload.token), locator=locator)

    def delete(self, token: str) -> None:
        """Delete an upload; nothing happens where there is none."""
        with self.store.writing() as cache:
            cache.delete(f"name/{token}")
            cache.delete(f"upload/{token}")

    def models(self) -> list[str]:
        """Names of the models that were opened lately, the latest first; none where the store cannot be read."""
        try:
            with self.store.reading() as cache:
                names = json.loads(cache.get("models/latest") or b"[]")
        except (StoreError, ValueError):
            return []
        return [name for name in names if isinstance(name, str)]

    def remember_model(self, name: str) -> None:
        """Put a model first among the latest; nothing happens where the store cannot be written."""
        latest = [name, *(other for other in self.models() if other != name)][:MAX_MODELS]
        with suppress(StoreError):
            self.store.write("models/latest", json.dumps(latest).encode(), expire=MODEL_DAYS * DAY)

    def _open(self, token: str) -> BinaryIO:
        stream = self.store.open(f"upload/{token}")
        if stream is None:
            raise missing()
        return stream

    def _check_room(self, new: Upload) -> None:
        query = f"SELECT COALESCE(SUM(MAX({SIZE}, {MINIMUM})), 0) FROM Cache WHERE {OF_KIND} AND key != ? AND {BYTES}"
        with self.store.reading() as cache:
            ((others,),) = cache.sql(query, ("upload/", "upload0", f"upload/{new.token}", time.time()))
        if others + new.charge > self.access.uploads:
            raise InputError(
                "This server has no space for more uploads.",
                where=new.name,
                hint="Try again later, or ask its operator to set BERTVIZ_UPLOADS higher.",
            )


def _read_description(data: bytes | None) -> Upload | None:
    """The description that is stored as JSON; None for one of another version."""
    try:
        return Upload(**json.loads(data)) if data else None
    except (ValueError, TypeError):
        return None


def missing() -> InputError:
    """The error for every token without an upload, whatever the reason."""
    return InputError(
        "This upload is not on this server: it may have expired or been deleted.",
        hint="Upload the file again: results computed from it are kept.",
    )
