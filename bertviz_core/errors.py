"""The errors of the project. Each says what happened, where, and what to do about it."""

from collections.abc import Sequence

QUOTED = 300  # characters of an input


def shorten(text: str, maximum: int = QUOTED) -> str:
    """A text of more than `maximum` characters without its middle, so that its beginning and end can be read."""
    if len(text) <= maximum:
        return text
    head = 2 * maximum // 3
    tail = len(text) - (maximum - head - 1)
    return f"{text[:head]}…{text[tail:]}"


class BertvizError(Exception):
    """An error that the user can fix; shown without a traceback, exit code 2 on the command line.

    Each of the texts is shortened.

    Attributes:
        what: What has happened, a full sentence.
        where: The file and the line; empty where there is none.
        hint: What to do next; empty where nothing can be done.
    """

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        self.what = shorten(what)
        self.where = shorten(where)
        self.hint = shorten(hint)
        super().__init__(self.what)

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        return f"{where}{self.what} {self.hint}".rstrip()


class InputError(BertvizError):
    """A file, a paste or an upload that cannot be read."""


class ModelError(BertvizError):
    """A model that cannot be found, loaded or run."""


class DownloadNeeded(ModelError):
    """The model, or some models of a training, are on the hub but not on this machine.

    Attributes:
        name: The name of the model or of the training.
        size: What the download takes, in bytes.
    """

    def __init__(self, name: str, size: int, models: Sequence[str] = ()) -> None:
        megabytes = f"{size / 1e6:,.0f} MB"
        what = f"The model {name!r} is not on this machine; downloading it takes {megabytes}."
        if models:
            lacking, them = f"{len(models):,} revisions of {name!r} are", "them"
            if len(models) == 1:
                lacking, them = f"One revision of {name!r} is", "it"
            what = f"{lacking} not on this machine; downloading {them} takes {megabytes}."
        super().__init__(what, hint="Confirm the download, or name a local folder.")
        self.name, self.size, self.models = name, size, [*models] or [name]


class SettingsError(BertvizError):
    """An option outside what the model or the analysis allows."""


class StoreError(BertvizError):
    """A store entry that cannot be read or written."""


class Cancelled(BertvizError):
    """The user asked a running job to stop."""

    def __init__(self) -> None:
        super().__init__("The job was cancelled.", hint="No result was stored; finished parts are kept.")


class QueueFull(BertvizError):
    """Too many jobs are queued, in all or by one reader."""


SMALLER = "Earlier results are kept. Choose a smaller model, fewer inputs or shorter ones."


class Unexpected(BertvizError):
    """One line for an exception that is not one of these, and that the user cannot fix; the caller logs the details."""

    def __init__(self, error: BaseException) -> None:
        what = "The job ran out of memory."
        hint = SMALLER
        if not isinstance(error, MemoryError):
            what = f"The job failed unexpectedly ({type(error).__name__}: {str(error)[:200]})."
            hint = "Earlier results are kept. The server's log has the details."
        super().__init__(what, hint=hint)
