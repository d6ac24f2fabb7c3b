"""Uploads in the store: checked files, each under a random token that opens it."""

import hashlib
import json
import re
import secrets
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import BinaryIO

from bertviz_core.corpora.source import Source
from bertviz_core.engine.store import DAY, Store
from bertviz_core.errors import InputError
from bertviz_core.settings import LOCAL, Access

TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")  # what secrets.token_urlsafe(32) returns
MINIMUM = 1 << 19  # bytes that a smaller upload counts as, so that limits bound the number of uploads too
LATEST = 20  # uploads that are listed


@dataclass(frozen=True)
class Upload:
    """An upload, without its bytes.

    Attributes:
        token: The secret that opens the upload.
        kind: The kind of corpus ("text", "treebank", "coreference", "pairs"), or "vectors".
        digest: The sha256 (hexadecimal) of the bytes; a part of cache keys, which opens nothing.
        size: Its size in bytes.
        contents: From each kind as which it can be read to what was read, in words.
    """

    token: str
    name: str
    kind: str
    digest: str
    size: int
    contents: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of corpus as which it can be read, its own first."""
        return tuple(dict.fromkeys((self.kind, *self.contents)))


class Uploads:
    """The uploads in a store. On a public server equal files are separate uploads, which end with their sessions.

    Attributes:
        access: How much may be uploaded, and for how long it stays.
    """

    def __init__(self, store: Store, access: Access = LOCAL) -> None:
        self.store, self.access = store, access
        self._lock = threading.Lock()

    def keep(self, data: bytes, name: str, kind: str, contents: dict[str, str] | None = None) -> Upload:
        """Store a checked file with its `contents`, see Upload; on a local app keep an equal stored one longer.

        Raises:
            InputError: There is no space for it.
        """
        new = Upload(
            token=secrets.token_urlsafe(32),
            name=name,
            kind=kind,
            digest=hashlib.sha256(data).hexdigest(),
            size=len(data),
            contents=contents or {},
        )
        expire = DAY * (1 if self.access.public else self.access.upload_days)
        with self._lock:
            if not self.access.public:
                same = (upload for upload in self.latest(kind) if (upload.name, upload.digest) == (name, new.digest))
                new = replace(new, token=next(same, new).token)
            others = (upload for upload in self.store.entries("upload") if upload.key != new.token)
            sizes = [new.size, *(upload.size for upload in others)]
            if sum(max(size, MINIMUM) for size in sizes) > self.access.uploads:
                hint = "Try again later, or ask its operator to set BERTVIZ_UPLOADS higher."
                raise InputError("This server has no space for more uploads.", where=name, hint=hint)
            self.store.write(f"upload/{new.token}", data, expire)
            self.store.write(f"name/{new.token}", json.dumps(asdict(new)).encode(), expire)
        return new

    def latest(self, kind: str) -> list[Upload]:
        """The last of a kind, oldest first."""
        entries = sorted(self.store.entries("upload"), key=lambda entry: entry.stored)
        uploads = (self.find(entry.key) for entry in entries)
        return [upload for upload in uploads if upload and kind in upload.kinds][-LATEST:]

    def find(self, token: str) -> Upload | None:
        """The upload of this token, or None; unknown, deleted and expired tokens are not distinguished."""
        if not TOKEN.fullmatch(token):
            return None
        return _description(self.store.read(f"name/{token}")) if f"upload/{token}" in self.store else None

    def source(self, token: str) -> Source:
        """The bytes of an upload by its token; raises InputError where there is none."""
        if upload := self.find(token):
            return self.source_of(upload)
        raise missing_upload()

    def source_of(self, upload: Upload) -> Source:
        """The bytes of an upload; reading them raises InputError once it has been deleted."""

        def opener() -> BinaryIO:
            if stream := self.store.open(f"upload/{upload.token}"):
                return stream
            raise missing_upload()

        return Source(upload.name, upload.digest, upload.size, opener, locator=f"upload:{upload.token}")

    def delete(self, token: str) -> None:
        """Delete an upload, if it exists."""
        self.store.delete(f"name/{token}", f"upload/{token}")


def _description(data: bytes | None) -> Upload | None:
    """The description from its JSON; None for one of another version."""
    with suppress(ValueError, TypeError):
        return Upload(**json.loads(data)) if data else None
    return None


def missing_upload() -> InputError:
    """The error for every token without an upload, whatever the reason."""
    what = "This upload is not on this server: it may have expired or been deleted."
    return InputError(what, hint="Upload the file again.")
