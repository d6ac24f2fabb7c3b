"""The corpora that ship with the project (CC0, written for it)."""

from __future__ import annotations

from pathlib import Path

from bertviz_core.corpora.source import Source, from_path

FOLDER = Path(__file__).parent.parent / "assets" / "corpora"

# name shown and used in permalinks and on the command line -> file
TEXT_SAMPLES = {"encyclopedia": "encyclopedia.txt"}


def sample(name: str) -> Source:
    """The sample called `name`; raises KeyError for another name."""
    source = from_path(FOLDER / TEXT_SAMPLES[name])
    return Source(name, source.digest, source.size, source.opener)


def find_source(name: str) -> Source:
    """A sample by its name, else a file; raises InputError when there is neither."""
    return sample(name) if name in TEXT_SAMPLES and not Path(name).exists() else from_path(name)
