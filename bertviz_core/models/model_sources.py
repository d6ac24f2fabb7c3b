"""Where models come from: folders that a server allows, by name and never by path, and the Hugging Face hub."""

import os
import re
import shutil
import stat
import time
from contextlib import suppress
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path

from bertviz_core.errors import DownloadNeeded, ModelError
from bertviz_core.models.checkpoint_files import TRAINED, lacks_files
from bertviz_core.models.hub_questions import Question
from bertviz_core.settings import Access

SECONDS = 30  # between two scans of the folders
HINT = "Choose from the list."
PATTERNS = ["*.json", "*.safetensors", "*.txt", "*.model"]  # patterns of the files that are downloaded
REVISION = re.compile(r"(?!.*(\.\.|//))\w[\w.+/-]{0,199}")  # what the hub's folder may use as the name of a file
SPARE = 10**9  # bytes that a download leaves free on the disk
# Parts of the names of errors that mean that the hub is out of reach.
UNREACHABLE = re.compile(r"Connect|Timeout|ReadError|Protocol|Proxy|Offline|LocalEntry")


def models(access: Access) -> dict[str, Path]:
    """Name -> folder of every model in the allowed folders, checkpoints of trainings aside."""
    return _scan(access.folders or (), int(time.monotonic() / SECONDS))[0]


def trainings(access: Access) -> dict[str, Path]:
    """Name -> folder of every training in the allowed folders."""
    return _scan(access.folders or (), int(time.monotonic() / SECONDS))[1]


def not_available(kind: str) -> ModelError:
    """The error for a "model" or "training" that visitors may not open, the same whether it exists or not."""
    return ModelError(f"No {kind} with this name is available.", hint=HINT)


@lru_cache(maxsize=4)
def _scan(roots: tuple[Path, ...], _now: int) -> tuple[dict[str, Path], dict[str, Path]]:
    """(models, trainings) by path below the allowed folder, or by its own name; none inside another, nor links out."""
    models: dict[str, Path] = {}
    trainings: dict[str, Path] = {}
    for root in roots:
        for parent, inner, _ in os.walk(root, followlinks=True):
            folder = Path(parent)
            below = folder.relative_to(root)
            name = below.as_posix() if below.parts else root.name
            inner[:] = sorted(
                each for each in inner if any((folder / each).resolve().is_relative_to(allowed) for allowed in roots)
            )
            if (folder / "config.json").is_file():
                models.setdefault(name, folder)
            elif any(TRAINED.search(each) and (folder / each / "config.json").is_file() for each in inner):
                trainings.setdefault(name, folder)
            elif len(below.parts) < 3:  # folders further down are not listed
                continue
            inner.clear()
    return models, trainings


def split_revision(name: str) -> tuple[str, str | None]:
    """The parts of `owner/name@revision`; the revision is None where there is none."""
    name, _, revision = name.partition("@")
    return name, revision or None


def with_revision(name: str, revision: str | None) -> str:
    """A hub name with its revision, `owner/name@revision`; the name alone without one."""
    return f"{name}@{revision}" if revision else name


def snapshot(name: str, revision: str | None, access: Access, download: bool = False) -> Path:
    """The folder of a hub model.

    Args:
        name: Its name on the hub.
        revision: A branch, tag or commit; None for the default one.
        access: Whether models may be downloaded, and how much.
        download: Whether it is downloaded where it is not on the disk.

    Raises:
        DownloadNeeded: The model is not on the disk, and may be downloaded.
        ModelError: There is no such model, or it cannot be had.
    """
    from huggingface_hub import snapshot_download

    full_name = with_revision(name, revision)
    if revision is not None and not REVISION.fullmatch(revision):
        raise _no_revision(full_name)
    incomplete = None
    try:
        folder = snapshot_download(
            name,
            revision=revision,
            allow_patterns=PATTERNS,
            token=access.hub_token,
            local_files_only=not download,
        )
        if download or not lacks_files(Path(folder)):
            return Path(folder)
        incomplete = Path(folder)  # Another program may have fetched the tokenizer alone.
    except Exception as error:
        if download:
            raise _failure(full_name, error) from error
    size = _size_of_rest(name, revision, access, incomplete)
    if size is None and incomplete:
        return incomplete  # The error of the folder says what is missing.
    check_room(full_name, size or 0, access)
    raise DownloadNeeded(full_name, size or 0)


def _size_of_rest(name: str, revision: str | None, access: Access, incomplete: Path | None) -> int | None:
    """Bytes that a download takes; None where the hub cannot say, of a model that is partly on the disk."""
    try:
        check_downloads(with_revision(name, revision), access)
        return download_size(name, revision, access)
    except OutOfReach:
        if incomplete is None:
            raise
        return None


class OutOfReach(ModelError):
    """The hub may not be asked, or cannot be reached."""


def check_downloads(name: str, access: Access) -> None:
    """Raises ModelError where nothing may be downloaded."""
    if access.downloads == 0:
        what = f"The model {name!r} is not on this machine, and downloads are off."
        raise OutOfReach(what, hint="Give a folder, or start the app without BERTVIZ_DOWNLOADS=off.")


def revisions(name: str, access: Access) -> tuple[str, ...]:
    """The branches and tags of a hub model; raises ModelError where the hub cannot say."""
    if access.downloads == 0:
        raise _not_listed(name, "downloads are off")
    return _revisions(name, access.hub_token, seconds=access.hub_seconds)


@Question
def _revisions(name: str, token: bool | None) -> tuple[str, ...]:
    from huggingface_hub import HfApi

    try:
        refs = HfApi(token=token).list_repo_refs(name)
    except Exception as error:
        raise _refused(name, error) or _not_listed(name, _problem(error)) from error
    return tuple(dict.fromkeys(ref.name for ref in (*refs.branches, *refs.tags)))


def download_size(name: str, revision: str | None, access: Access) -> int:
    """Bytes that a download takes; raises ModelError where the hub cannot say."""
    files = _files(name, revision, access.hub_token, seconds=access.hub_seconds)
    if not any(file.endswith(".safetensors") for file in files):
        what = f"The revision {revision!r} of {name!r}" if revision else f"The hub's {name!r}"
        what += " has no safetensors weights; pickled ones are never opened."
        raise ModelError(what, hint="Look for a revision or a copy with model.safetensors.")
    return sum(files.values())


@Question
def _files(name: str, revision: str | None, token: bool | None) -> dict[str, int]:
    """The size in bytes of each file of a hub model that would be downloaded."""
    from huggingface_hub import HfApi

    try:
        info = HfApi(token=token).model_info(name, revision=revision, files_metadata=True, timeout=5.0)
    except Exception as error:
        raise _failure(with_revision(name, revision), error) from error
    files = {file.rfilename: file.size or 0 for file in info.siblings or []}
    return {file: size for file, size in files.items() if any(fnmatch(file, pattern) for pattern in PATTERNS)}


def check_room(name: str, size: int, access: Access) -> None:
    """Raises ModelError where a limit or the disk is too small for so many bytes."""
    from huggingface_hub.constants import HF_HUB_CACHE

    folder = Path(HF_HUB_CACHE)
    free = shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists())).free - SPARE
    limit = float("inf") if access.downloads is None else access.downloads - downloaded()
    left, where = min((free, "on the disk"), (limit, "for downloads"))
    if size > left:
        what = f"The model {name!r} takes {size / 1e6:,.0f} MB; {max(0, left) / 1e6:,.0f} MB are left {where}."
        raise ModelError(what, hint="Choose a smaller model, or one that is here already.")


def downloaded() -> int:
    """Bytes of the files in the hub's folder, those of broken-off downloads too; links count nothing."""
    from huggingface_hub.constants import HF_HUB_CACHE

    size = 0
    for path in (Path(parent, name) for parent, _, names in os.walk(HF_HUB_CACHE) for name in names):
        with suppress(OSError):  # The file has gone, or has a new name.
            status = path.lstat()
            size += status.st_size if stat.S_ISREG(status.st_mode) else 0
    return size


def _no_model(name: str) -> ModelError:
    hint = "Check the spelling (owner/name, or owner/name@revision)."
    return ModelError(f"The hub has no model {name!r}.", hint=hint)


def _no_revision(name: str) -> ModelError:
    """The error for a revision, of a name with one, that its model does not have."""
    name, revision = split_revision(name)
    hint = "Check its spelling among the branches and tags of the model, or omit it."
    return ModelError(f"The model {name!r} has no revision {revision!r} on the hub.", hint=hint)


def _refused(name: str, error: Exception) -> ModelError | None:
    """What the hub has answered, where it has."""
    kind = type(error).__name__
    if kind == "RevisionNotFoundError" and split_revision(name)[1]:
        return _no_revision(name)
    if kind in ("RepositoryNotFoundError", "RevisionNotFoundError", "HFValidationError"):
        return _no_model(name)
    if kind == "GatedRepoError":
        hint = "Accept its license on the hub, download it there with your token, and give its folder."
        return ModelError(f"The hub gives {name!r} only to those who have accepted its license.", hint=hint)
    return None


def _failure(name: str, error: Exception) -> ModelError:
    what = f"The model {name!r} is not on this machine and {_problem(error)}."
    hint = "On a machine with a network save it with save_pretrained (model and tokenizer) into a folder, bring the "
    hint += "folder here, and give its path as the model. `demo` always works."
    return _refused(name, error) or OutOfReach(what, hint=hint)


def _not_listed(name: str, why: str) -> ModelError:
    hint = f"Name those that are on this machine, with commas between them: {name}@step0,step1000."
    return ModelError(f"The revisions of {name!r} cannot be listed: {why}.", hint=hint)


def _problem(error: Exception) -> str:
    kind = type(error).__name__
    problem = "the hub cannot be reached" if UNREACHABLE.search(kind) else "the download failed"
    return f"{problem} ({getattr(error, 'strerror', None) or kind})"
