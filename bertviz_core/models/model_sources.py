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
from bertviz_core.models.checkpoint_files import TRAINED
from bertviz_core.settings import Access

SECONDS = 30  # between two scans of the folders
HINT = "Choose from the list."
PATTERNS = ["*.json", "*.safetensors", "*.txt", "*.model"]  # patterns of the files that are downloaded
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

    try:
        folder = snapshot_download(
            name,
            revision=revision,
            allow_patterns=PATTERNS,
            token=access.hub_token,
            local_files_only=not download,
        )
        return Path(folder)
    except Exception as error:
        if download:
            raise _failure(name, error) from error
        if access.downloads == 0:
            what = f"The model {name!r} is not on this machine, and downloads are off."
            raise ModelError(what, hint="Give a folder, or start the app without BERTVIZ_DOWNLOADS=off.") from error
    raise DownloadNeeded(name, check_room(name, revision, access))


def check_room(name: str, revision: str | None, access: Access) -> int:
    """Bytes that a download takes.

    Raises:
        ModelError: The hub cannot say, or a limit or the disk is too small.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.constants import HF_HUB_CACHE

    try:
        api = HfApi(token=access.hub_token)
        files = api.model_info(name, revision=revision, files_metadata=True, timeout=5.0).siblings or []
    except Exception as error:
        raise _failure(name, error) from error
    files = [file for file in files if any(fnmatch(file.rfilename, pattern) for pattern in PATTERNS)]
    if not any(file.rfilename.endswith(".safetensors") for file in files):
        what = f"The hub's {name!r} has no safetensors weights; pickled ones are never opened here."
        raise ModelError(what, hint="Look for a revision or a copy with model.safetensors.")
    size = sum(file.size or 0 for file in files)
    folder = Path(HF_HUB_CACHE)
    free = shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists())).free - SPARE
    limit = float("inf") if access.downloads is None else access.downloads - downloaded()
    left, where = min((free, "on the disk"), (limit, "for downloads"))
    if size > left:
        what = f"The model {name!r} takes {size / 1e6:,.0f} MB; {max(0, left) / 1e6:,.0f} MB are left {where}."
        raise ModelError(what, hint="Choose a smaller model, or one that is here already.")
    return size


def downloaded() -> int:
    """Bytes of the files in the hub's folder, those of broken-off downloads too; links count nothing."""
    from huggingface_hub.constants import HF_HUB_CACHE

    size = 0
    for path in (Path(parent, name) for parent, _, names in os.walk(HF_HUB_CACHE) for name in names):
        with suppress(OSError):  # The file has gone, or has a new name.
            status = path.lstat()
            size += status.st_size if stat.S_ISREG(status.st_mode) else 0
    return size


def _failure(name: str, error: Exception) -> ModelError:
    kind = type(error).__name__
    if kind in ("RepositoryNotFoundError", "RevisionNotFoundError", "HFValidationError"):
        return ModelError(f"The hub has no model {name!r}.", hint="Check the spelling (owner/name) and the revision.")
    if kind == "GatedRepoError":
        hint = "Accept its license on the hub, download it there with your token, and give its folder."
        return ModelError(f"The hub gives {name!r} only to those who have accepted its license.", hint=hint)
    problem = "the hub cannot be reached" if UNREACHABLE.search(kind) else "the download failed"
    what = f"The model {name!r} is not on this machine and {problem} ({getattr(error, 'strerror', None) or kind})."
    hint = "On a machine with a network save it with save_pretrained (model and tokenizer) into a folder, bring the "
    return ModelError(what, hint=f"{hint}folder here, and give its path as the model. `demo` always works.")
