"""Corpora that the caller has in memory, as the files that would hold them: equal content, equal digests."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from bertviz_core.corpora.files import SAMPLES, find_source, sample
from bertviz_core.corpora.source import Source, from_bytes
from bertviz_core.errors import InputError

Tree = tuple[Sequence[str], Sequence[int], Sequence[str]]  # words, governors (from 1, 0 for the root), relations
Corpus = str | Path | Source | Iterable[str] | Iterable[Tree] | Iterable[dict[str, Any]]

ACCEPTED = (
    "Give a file, the name of a sample, a list of texts, a list of (words, governors, relations), or a list of dicts "
    "as a JSON corpus has them."
)


def source_of(corpus: Corpus | None, kind: str) -> Source:
    """A corpus in any of the forms that the library takes.

    Args:
        corpus: A file's path, a sample's name, a Source, or a list: of texts (each a document; each of its lines a
            paragraph), of (words, governors, relations), or of dicts: the authors' examples for a text, documents with
            `sentences` and `clusters` for coreference. The sample of the kind where it is None.
        kind: "text", "treebank" or "coreference", which decides how dicts are written, or "random", which takes none.

    Raises:
        InputError: The corpus is none of these, or one of its entries cannot be written.
    """
    if isinstance(corpus, Source):
        return corpus
    if kind == "random" and corpus is not None:
        raise InputError("This analysis draws its own sequences.", hint="Omit the corpus.")
    if corpus is None:
        return sample(next(iter(SAMPLES[kind])))
    if isinstance(corpus, str | Path):
        return _file(corpus)
    try:
        entries = list(corpus)
    except TypeError as error:
        raise InputError(f"A {type(corpus).__name__} is no corpus.", hint=ACCEPTED) from error
    if not entries:
        raise InputError("The list is empty.", hint=ACCEPTED)
    forms: tuple[tuple[Any, Callable[[list[Any]], str], str], ...] = (
        (str, _documents, "texts"),
        (dict, lambda dicts: _json(dicts, kind), "records"),
        (tuple | list, _treebank, "trees"),
    )
    for form, write, unit in forms:
        if all(isinstance(entry, form) for entry in entries):
            return from_bytes(write(entries).encode("utf-8", "surrogatepass"), f"{len(entries):,} {unit} in memory")
    raise InputError("The entries of the list are of different kinds.", hint=ACCEPTED)


def _file(name: str | Path) -> Source:
    try:
        return find_source(str(name))
    except InputError as error:
        text = isinstance(name, str) and (" " in name or "\n" in name)
        hint = "A text itself is given in a list: [text]." if text else ACCEPTED
        raise InputError(error.what, where=error.where, hint=hint) from error


def _documents(texts: Sequence[str]) -> str:
    """A blank line between documents, none inside one."""
    documents = ["\n".join(line for line in text.splitlines() if line.strip()) for text in texts]
    return "\n\n".join(filter(None, documents)) + "\n\n"


def _json(records: Sequence[dict[str, Any]], kind: str) -> str:
    try:
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
    except (TypeError, ValueError) as error:
        raise InputError(f"A dict is no JSON ({error}).", hint="Use strings, numbers and lists.") from error
    return "".join(f"{line}\n" for line in lines) if kind == "coreference" else f"[{', '.join(lines)}]"


def _treebank(trees: Sequence[Any]) -> str:
    """The authors' lines, `word head-label`."""
    return "\n".join(_sentence(number, tree) for number, tree in enumerate(trees, start=1))


def _sentence(number: int, tree: Any) -> str:
    try:
        words, governors, relations = tree
        rows = [(str(w), int(g), str(r)) for w, g, r in zip(words, governors, relations, strict=True)]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Entry {number} of the list is not (words, governors, relations) of one length.",
            hint="Count governors from 1, with 0 for the root.",
        ) from error
    for word, _, relation in rows:
        if not word.strip() or len(relation.split()) != 1:
            raise InputError(f"Entry {number} of the list has an empty word or an empty relation.", hint="Name each.")
    return "".join(f"{' '.join(word.split())} {governor}-{relation}\n" for word, governor, relation in rows)
