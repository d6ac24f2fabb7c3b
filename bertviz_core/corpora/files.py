"""Named files as one source; the corpora that ship with the project (CC0, written for it); and whatever the library
takes as a corpus."""

import glob
import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

from bertviz_core.corpora.objects import ACCEPTED, source_of_object
from bertviz_core.corpora.source import Source, from_path
from bertviz_core.errors import InputError

FOLDER = Path(__file__).parent.parent / "assets" / "corpora"
# kind of corpus -> {name shown, used in permalinks and on the command line -> file}
SAMPLES: dict[str, dict[str, str]] = {
    "text": {"encyclopedia": "encyclopedia.txt"},
    "treebank": {"treebank": "treebank.conllu"},
    "coreference": {"coreference": "coreference.conll"},
    "pairs": {"pairs": "pairs.tsv"},
    "random": {"random": "random.txt"},  # the file that stands for sequences that are drawn
    "vocabulary": {"vocabulary": "vocabulary.txt"},  # the file that stands for tokens that are drawn
}
NO_CORPUS = ("random", "vocabulary")  # the kinds of which no corpus is read
FILES = {name: FOLDER / file for kind in SAMPLES.values() for name, file in kind.items()}


class HasSentences(Protocol):
    """A Document of Stanza, which is not iterable.

    Attributes:
        sentences: Stanza's objects, read by `parsed.py`.
    """

    sentences: Any


Corpus = str | Path | Source | Iterable[Any] | HasSentences
T = TypeVar("T")


@cache  # hashed once: pages ask many times
def sample(name: str) -> Source:
    """The sample called `name`; raises KeyError for another name."""
    return replace(from_path(FILES[name]), name=name)


def find_source(name: str) -> Source:
    """A sample by its name, else a file; raises InputError when there is neither."""
    return sample(name) if name in FILES and not Path(name).exists() else from_path(name)


def find_sources(names: Sequence[str]) -> Source:
    """A sample, or all files that the names match, in their order, as one source.

    Names are files, folders (without hidden files), or patterns such as `news/*.txt.gz`.

    Raises:
        InputError: A name has no file that can be read.
    """
    paths = list(dict.fromkeys(path for name in names for path in expand(name)))
    if len(paths) == 1:
        return find_source(str(paths[0]))
    sources = list(map(from_path, paths))
    digest = hashlib.sha256("\n".join(source.digest for source in sources).encode()).hexdigest()
    name = f"{sources[0].name} and {len(sources) - 1:,} more"
    return Source(name, digest, sum(source.size for source in sources), parts=tuple(sources))


def expand(name: str) -> list[Path]:
    """The files that a name matches, or the name itself.

    Raises:
        InputError: A folder or a pattern has no files.
    """
    path = Path(name)
    exists = False
    with suppress(OSError, ValueError):  # The name may be too long for a file, or contain a NUL.
        exists = path.exists()
    if exists and path.is_dir():
        names = ((match, match.relative_to(path).parts) for match in path.rglob("*"))
        matches = [match for match, parts in names if not any(part.startswith(".") for part in parts)]
    elif exists or not glob.has_magic(name):
        return [path]
    else:
        matches = [Path(match) for match in glob.glob(name, recursive=True)]  # noqa: PTH207
    files = sorted(match for match in matches if match.is_file())
    if not files:
        raise InputError("There is no file.", where=name, hint="Name a file, a folder of files, or a pattern.")
    return files


def every_kind(**corpora: T) -> dict[str, T | None]:
    """These corpora by kind, and None for the kinds of which no corpus is read."""
    return {**corpora, **dict.fromkeys(NO_CORPUS)}


def source_of(corpus: Corpus | None, kind: str) -> Source:
    """The source of a corpus as the library takes it: a file's path, a sample's name, a Source, or an object as in
    `objects`. None is the sample of the kind ("text", "treebank", "coreference", "pairs", or one of NO_CORPUS, which
    take no corpus).

    Raises:
        InputError: The corpus is none of these, or an entry cannot be written.
    """
    if isinstance(corpus, Source):
        return corpus
    if kind in NO_CORPUS and corpus is not None:
        raise InputError("This analysis draws its own inputs.", hint="Omit the corpus.")
    if corpus is None:
        return sample(next(iter(SAMPLES[kind])))
    if not isinstance(corpus, str | Path):
        return source_of_object(corpus, kind)
    try:
        return find_source(str(corpus))
    except InputError as error:
        is_text = isinstance(corpus, str) and (" " in corpus or "\n" in corpus)
        hint = "A text itself is given in a list: [text]." if is_text else ACCEPTED
        raise InputError(error.what, where=error.where, hint=hint) from error
