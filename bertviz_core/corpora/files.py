"""Named files as one source; the corpora that ship with the project (CC0, written for it); and corpora in memory, as
the bytes of a file with the same content, so that digests are equal."""

import glob
import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from bertviz_core.corpora.source import Source, from_bytes, from_path, replace_surrogates
from bertviz_core.errors import InputError
from bertviz_core.numbers import plural

FOLDER = Path(__file__).parent.parent / "assets" / "corpora"
# kind of corpus -> {name shown, used in permalinks and on the command line -> file}
SAMPLES: dict[str, dict[str, str]] = {
    "text": {"encyclopedia": "encyclopedia.txt"},
    "treebank": {"treebank": "treebank.conllu"},
    "coreference": {"coreference": "coreference.conll"},
    "random": {"random": "random.txt"},  # what stands for sequences that are drawn
}
FILES = {name: FOLDER / file for kind in SAMPLES.values() for name, file in kind.items()}
Tree = tuple[Sequence[str], Sequence[int], Sequence[str]]  # words, governors (from 1, 0 for the root), relations
Corpus = str | Path | Source | Iterable[str] | Iterable[Tree] | Iterable[dict[str, Any]]
ACCEPTED = (
    "Give a file, the name of a sample, a list of texts, a list of (words, governors, relations), or a list of dicts "
    "as a JSON corpus has them."
)


@cache  # hashed once: pages ask many times
def sample(name: str) -> Source:
    """The sample called `name`; raises KeyError for another name."""
    return replace(from_path(FILES[name]), name=name)


def find_source(name: str) -> Source:
    """A sample by its name, else a file; raises InputError when there is neither."""
    return sample(name) if name in FILES and not Path(name).exists() else from_path(name)


def find_sources(names: Sequence[str]) -> Source:
    """A sample, or all files that the names match, in their order, as one source. Names are files, folders (without
    hidden files), or patterns such as `news/*.txt.gz`. Raises InputError for one without a file that can be read."""
    paths = list(dict.fromkeys(path for name in names for path in expand(name)))
    if len(paths) == 1:
        return find_source(str(paths[0]))
    sources = list(map(from_path, paths))
    digest = hashlib.sha256("\n".join(source.digest for source in sources).encode()).hexdigest()
    name = f"{sources[0].name} and {len(sources) - 1:,} more"
    return Source(name, digest, sum(source.size for source in sources), parts=tuple(sources))


def expand(name: str) -> list[Path]:
    """The files that a name matches, or the name itself. Raises InputError for a folder or a pattern without files."""
    path = Path(name)
    exists = False
    with suppress(OSError, ValueError):  # a name too long for a file, or with a NUL
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


def source_of(corpus: Corpus | None, kind: str) -> Source:
    """The source of a corpus as the library takes it: a file's path, a sample's name, a Source, or a list of texts
    (documents, with a paragraph a line), of (words, governors, relations), or of dicts (the authors' examples, or
    documents with `sentences` and `clusters`). None is the sample of the kind ("text", "treebank", "coreference", or
    "random", which takes no corpus). Raises InputError for another corpus, and for an entry that cannot be written."""
    if isinstance(corpus, Source):
        return corpus
    if kind == "random" and corpus is not None:
        raise InputError("This analysis draws its own sequences.", hint="Omit the corpus.")
    if corpus is None:
        return sample(next(iter(SAMPLES[kind])))
    if isinstance(corpus, str | Path):
        try:
            return find_source(str(corpus))
        except InputError as error:
            is_text = isinstance(corpus, str) and (" " in corpus or "\n" in corpus)
            hint = "A text itself is given in a list: [text]." if is_text else ACCEPTED
            raise InputError(error.what, where=error.where, hint=hint) from error
    try:
        entries: list[Any] = list(corpus)
    except TypeError as error:
        raise InputError(f"An object of type {type(corpus).__name__} is not a corpus.", hint=ACCEPTED) from error
    if not entries:
        raise InputError("The list is empty.", hint=ACCEPTED)
    if all(isinstance(entry, str) for entry in entries):  # a blank line between documents, none inside one
        documents = ("\n".join(line for line in _lines(text) if line.strip()) for text in entries)
        written = "\n\n".join(filter(None, documents)) + "\n\n"
        unit = "texts"
    elif all(isinstance(entry, dict) for entry in entries):
        written = _json(entries, kind)
        unit = "records"
    elif all(isinstance(entry, tuple | list) for entry in entries):
        written = "\n".join(map(_sentence, count(1), entries))
        unit = "trees"
    else:
        raise InputError("The entries of the list are of different kinds.", hint=ACCEPTED)
    return from_bytes(replace_surrogates(written).encode(), f"{plural(len(entries), unit)} in memory")


def _lines(text: str) -> list[str]:
    """The lines of a text, which end where those of a file do: see `Source.lines`."""
    return [line.rstrip("\r") for line in (text if "\n" in text else text.replace("\r", "\n")).split("\n")]


def _json(records: Sequence[dict[str, Any]], kind: str) -> str:
    try:
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
    except (TypeError, ValueError) as error:
        raise InputError(f"A dict is not valid JSON ({error}).", hint="Use strings, numbers and lists.") from error
    return "".join(f"{line}\n" for line in lines) if kind == "coreference" else f"[{', '.join(lines)}]"


def _sentence(number: int, tree: Any) -> str:
    """A tree in the authors' lines, `word head-label`."""
    try:
        words, governors, relations = tree
        rows = [(str(w), int(g), str(r)) for w, g, r in zip(words, governors, relations, strict=True)]
    except (TypeError, ValueError) as error:
        what = f"Entry {number} of the list is not (words, governors, relations) of one length."
        raise InputError(what, hint="Count governors from 1, with 0 for the root.") from error
    for word, _, relation in rows:
        if not word.strip() or len(relation.split()) != 1:
            raise InputError(f"Entry {number} of the list has an empty word or an empty relation.", hint="Name each.")
    return "".join(f"{' '.join(word.split())} {governor}-{relation}\n" for word, governor, relation in rows)
