"""The files of the site of several models, in a folder or in a ZIP."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path, PurePosixPath
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from bertviz_core.engine.progress import Progress
from bertviz_core.errors import SettingsError
from bertviz_core.exports import write_bytes
from bertviz_core.head_atlas import headvis, numbers
from bertviz_core.head_atlas.analysis_pages import OVERVIEW, REPORT, analysis_pages, head_page, models_page, report_page
from bertviz_core.head_atlas.contents import ModelContents
from bertviz_core.head_atlas.overview_page import overview_page
from bertviz_core.head_atlas.page_frame import FILES, PAGES, WEB, shared_files
from bertviz_core.heads import counting_from

INDEX = "index.html"
MARK = f"{FILES}/{PAGES}"  # a folder with this file is such a site
UNFINISHED = (
    "The site is not whole. Make room or name another folder, then run the command again, which replaces these files."
)


def files(models: Sequence[ModelContents], progress: Progress, home: str = "") -> Iterator[tuple[str, bytes]]:
    """Every file of the site with its path; layers and heads count from 1, as in files everywhere.

    Args:
        models: One or several.
        progress: Hears of each head.
        home: The address of a page above the site, as from the site's folder, to which every page leads.

    Raises:
        SettingsError: Two models would have the same folder.
        Cancelled: `progress` says so.
    """
    names = [each.name.lower() for each in models]
    if len({*names, FILES, INDEX}) < len(names) + 2:
        what = "Two of these models would have the same folder in the site."
        where = ", ".join(each.checkpoint.name for each in models)
        raise SettingsError(what, where=where, hint="Name each model once, or rename a folder of one.")
    with counting_from(1):
        yield from shared_files()
        for place, each in enumerate(models, 1):
            progress.start_pass(place, len(models), each.checkpoint.label)
            for path, data in model_files(replace(each, home=home), progress):
                yield f"{each.name}/{path}", data
        yield INDEX, models_page(models, home)


def model_files(contents: ModelContents, progress: Progress) -> Iterator[tuple[str, bytes]]:
    """The files of a model, with paths in its folder."""
    tables = []
    progress.start("Writing pages of heads", len(contents.heads), "heads")
    for head in contents.heads:
        shown = contents.describe(head)
        yield f"heads/{head.key()}.html", head_page(contents, shown, contents.lines(shown))
        yield headvis.head_file(contents, head)
        tables.append(numbers.table_of(shown))
        progress.advance(1)
    progress.start("Writing pages of analyses")
    yield from headvis.files(contents)
    yield from numbers.files(contents, tables)
    for path, data in analysis_pages(contents):
        progress.advance(0)
        yield path, data
    yield REPORT, report_page(contents)
    yield OVERVIEW, overview_page(contents)


def check_folder(folder: Path) -> None:
    """Raise SettingsError, ahead of any work, for a folder that cannot be written, or has other files than those of
    such a site."""
    if folder.exists() and not folder.is_dir():
        raise SettingsError("This is a file, not a folder.", where=str(folder), hint="Name a folder for the site.")
    if not folder.parent.is_dir():
        raise SettingsError(f"There is no folder {str(folder.parent)!r}.", where=str(folder), hint="Create it first.")
    if not os.access(folder if folder.is_dir() else folder.parent, os.W_OK):
        what = "The folder cannot be written."
        raise SettingsError(what, where=str(folder), hint="Name one that you may write to.")
    if not (folder / MARK).exists() and any(path.is_symlink() or not path.is_dir() for path in folder.rglob("*")):
        what = "The folder has other files, among which those of a site would be lost."
        raise SettingsError(what, where=str(folder), hint="Name a new folder, an empty one, or that of an atlas.")


def check_home(address: str) -> None:
    """Raise SettingsError for an address that is neither one of the web nor one relative to the site."""
    if not address.startswith(WEB) and (":" in address or address.startswith(("/", "\\"))):
        hint = (
            "Write an address such as https://example.org/, or one from the folder of the site such as ../index.html."
        )
        raise SettingsError("Pages cannot lead to this address.", where=address, hint=hint)


def write(folder: Path, pages: Iterable[tuple[str, bytes]]) -> int:
    """Write the files into a folder, over those of an earlier site; returns how many bytes they have.

    Raises:
        SettingsError: A file cannot be written; those before it are left.
    """
    size = 0
    for path, data in pages:
        target = folder.joinpath(*PurePosixPath(path).parts)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(target, data)
        except OSError as error:
            what = f"The folder cannot be written ({error.strerror})."
            raise SettingsError(what, where=str(target.parent), hint=UNFINISHED) from error
        except SettingsError as error:
            raise SettingsError(error.what, where=error.where, hint=UNFINISHED) from error
        size += len(data)
    return size


def zipped(pages: Iterable[tuple[str, bytes]]) -> bytes:
    """The files in one ZIP, equal for equal files."""
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for path, data in pages:
            archive.writestr(ZipInfo(f"atlas/{path}"), data, ZIP_DEFLATED)
    return packed.getvalue()
