"""The corpora that ship with the project (CC0, written for it)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from bertviz_core.corpora.source import Source, from_path

FOLDER = Path(__file__).parent.parent / "assets" / "corpora"

# kind of corpus -> {name shown, used in permalinks and on the command line -> file}
SAMPLES: dict[str, dict[str, str]] = {
    "text": {"encyclopedia": "encyclopedia.txt"},
    "treebank": {"treebank": "treebank.conllu"},
    "coreference": {"coreference": "coreference.conll"},
}


@cache  # hashed once: a page asks for each sample many times
def sample(name: str) -> Source:
    """The sample called `name`; raises KeyError for another name."""
    files = {known: file for kind in SAMPLES.values() for known, file in kind.items()}
    return replace(from_path(FOLDER / files[name]), name=name)


def find_source(name: str) -> Source:
    """A sample by its name, else a file; raises InputError when there is neither."""
    known = any(name in kind for kind in SAMPLES.values())
    return sample(name) if known and not Path(name).exists() else from_path(name)
