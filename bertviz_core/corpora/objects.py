"""Corpora that are objects: texts, words, trees, records, and what other libraries hold. Each is recognized by what it
has, not by its class, and becomes the file with the same content, so that digests are equal. An iterator is read once,
and no more than an entry of it is in memory at a time."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple

from bertviz_core.corpora import parsed
from bertviz_core.corpora.authors_json import FIELDS
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.temporary import from_pieces
from bertviz_core.errors import InputError
from bertviz_core.numbers import plural

Tree = tuple[Sequence[str], Sequence[int], Sequence[str]]  # words, governors (from 1, 0 for the root), relations
ACCEPTED = (
    "Give a file, the name of a sample, a list of texts, of (words, governors, relations) or of dicts as a JSON corpus "
    "has them, or an object of spaCy, Stanza, conllu, datasets or pandas."
)
# What the columns of a table with trees are called.
WORDS = ("words", "tokens", "form")
GOVERNORS = ("head", "heads", "governors")
RELATIONS = ("deprel", "deprels", "relations", "relns")
NO_GOVERNOR = (None, "None", "_", "")  # as multi-word tokens have; `datasets` holds the governors of CoNLL-U as strings
NO_VALUE = ("None", "nan", "<NA>", "NaT")
MISSING = {"treebank": "no dependency trees", "coreference": "no chains of mentions"}


class Form(NamedTuple):
    """How the entries of a corpus are written.

    Attributes:
        unit: What the entries are, in the plural.
        write: From an entry and its number, from 1, to its text; empty for an entry without content.
        start: Text before the first entry.
        between: Text between two entries.
        end: Text after the last entry.
    """

    unit: str
    write: Callable[[Any, int], str]
    start: str = ""
    between: str = ""
    end: str = ""


def source_of_object(corpus: Any, kind: str) -> Source:
    """The source of an object for an analysis of a kind of corpora ("text", "treebank" or "coreference").

    Raises:
        InputError: The object is no corpus, or an entry is of another kind than the first, or cannot be written.
    """
    entries = _entries(corpus, kind)
    start = list(islice(entries, 1))
    if not start:
        raise InputError("The corpus is empty.", hint=ACCEPTED)
    entry_type = _entry_type(start[0], 1)
    form = _form(entry_type, kind)
    count = 0

    def pieces() -> Iterator[str]:
        nonlocal count
        yield form.start
        joint = ""
        for count, entry in enumerate(chain(start, entries), start=1):
            if (other := _entry_type(entry, count)) != entry_type:
                what = f"The entries are of different kinds: first {entry_type}, in entry {count} {other}."
                raise InputError(what, hint=ACCEPTED)
            if text := form.write(entry, count):
                yield joint + text
                joint = form.between
        yield form.end

    source = from_pieces(pieces(), "")
    return replace(source, name=f"{plural(count, form.unit)} in memory")


def _entries(corpus: Any, kind: str) -> Iterator[Any]:
    """The entries of an object, which may be a single document."""
    if isinstance(corpus, Mapping | Set):
        hint = 'Give a list of dicts, or one split of a DatasetDict: corpus=splits["train"].'
        what = f"An object of type {type(corpus).__name__} is not a corpus: it has no order, or several parts."
        raise InputError(what, hint=hint)
    if getattr(corpus, "column_names", None) is not None or hasattr(corpus, "itertuples"):
        return _rows(corpus, kind)
    if parsed.is_document(corpus) or _is_conllu(corpus):
        return iter([corpus])
    try:
        return iter(corpus)
    except TypeError as error:
        raise InputError(f"An object of type {type(corpus).__name__} is not a corpus.", hint=ACCEPTED) from error


def _rows(table: Any, kind: str) -> Iterator[dict[str, Any]]:
    """The rows of a `datasets.Dataset`, a DataFrame of pandas or a Table of Arrow; raises InputError where its columns
    are not a corpus's."""
    columns = list(map(str, table.columns if hasattr(table, "itertuples") else table.column_names))
    if kind == "treebank":
        _tree_columns(columns, "The table")
    elif kind == "text" and len([name for name in FIELDS if name in columns]) != 1:
        what = f"The table has the columns {', '.join(columns)}; one of them must be `text`, `words` or `tokens`."
        raise InputError(what, hint=f'Give the column to read: corpus=table["{columns[0] if columns else "text"}"].')
    if hasattr(table, "itertuples"):
        return (dict(zip(columns, row, strict=True)) for row in table.itertuples(index=False, name=None))
    if hasattr(table, "to_batches"):
        return (row for batch in table.to_batches() for row in batch.to_pylist())
    return iter(table)


def _is_conllu(value: object) -> bool:
    """Whether it is a sentence of the library conllu: a TokenList or a TokenTree."""
    return hasattr(value, "serialize") and hasattr(value, "metadata")


def _entry_type(entry: object, number: int) -> str:
    """What an entry is one of; raises InputError for an entry that can be none."""
    if isinstance(entry, str):
        return "texts"
    if parsed.is_document(entry):
        return "documents"
    if _is_conllu(entry):
        return "sentences"
    if isinstance(entry, Mapping):
        return "records"
    if isinstance(entry, list | tuple) or hasattr(entry, "tolist"):
        content = _plain(entry)
        if isinstance(content, list | tuple):
            return "lists of words" if all(isinstance(word, str) for word in content) else "trees"
    if str(entry) in NO_VALUE:
        raise InputError(f"Entry {number} has no value.", hint="Drop what is missing: corpus=column.dropna().")
    raise InputError(f"Entry {number}, of type {type(entry).__name__}, is no part of a corpus.", hint=ACCEPTED)


def _plain(value: object) -> Any:
    """An array or a number of numpy, or a date, as JSON has it; raises TypeError for another object."""
    if isinstance(value, list | tuple):
        return value
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"an object of type {type(value).__name__}")


def _form(entry_type: str, kind: str) -> Form:
    """How entries of a type are written for an analysis; raises InputError where they lack what it needs."""
    forms = {
        "texts": Form("texts", _text),
        "trees": Form("trees", _tree, between="\n"),
        "sentences": Form("sentences", lambda entry, number: entry.serialize()),
        "records": Form("records", _json, start="[", between=", ", end="]"),
        "lists of words": Form("examples", _words, start="[", between=", ", end="]"),
        "documents": Form("documents", lambda entry, number: _text(parsed.to_lines(entry), number)),
    }
    if entry_type == "lists of words" and kind in MISSING:
        hint = "Give what has been annotated, as docs/library.md shows, or choose an analysis of text."
        raise InputError(f"Lists of words have {MISSING[kind]}.", hint=hint)
    annotated = {
        ("records", "treebank"): Form("records", _tree_of_record, between="\n"),
        ("records", "coreference"): Form("records", lambda entry, number: _json(entry, number) + "\n"),
        ("documents", "treebank"): Form("documents", lambda entry, n: parsed.to_conllu(entry, f"entry {n}")),
        ("documents", "coreference"): Form("documents", lambda entry, number: parsed.to_chains(entry)),
    }
    return annotated.get((entry_type, kind), forms[entry_type])


def _text(text: str, number: int) -> str:
    """A document: a blank line after it, none inside."""
    lines = [line for line in _lines(text) if line.strip()]
    return "\n".join(lines) + "\n\n" if lines else ""


def _lines(text: str) -> list[str]:
    """The lines of a text, which end where those of a file do: see `Source.lines`."""
    return [line.rstrip("\r") for line in (text if "\n" in text else text.replace("\r", "\n")).split("\n")]


def _json(record: Mapping[str, Any], number: int) -> str:
    try:
        return json.dumps(dict(record), ensure_ascii=False, default=_plain)
    except (TypeError, ValueError) as error:
        what = f"Entry {number} is not valid JSON ({error})."
        raise InputError(what, hint="Use strings, numbers and lists.") from error


def _words(words: Any, number: int) -> str:
    return _json({"words": list(_plain(words))}, number) if len(words) else ""


def _tree_columns(names: Iterable[str], owner: str) -> list[str]:
    """Those of the words, the governors and the relations; raises InputError where one is missing."""
    names = list(names)
    found = [next((name for name in known if name in names), "") for known in (WORDS, GOVERNORS, RELATIONS)]
    if not all(found):
        what = f"{owner} has no dependency trees: it has {', '.join(names) or 'nothing'}."
        raise InputError(what, hint="A row is a sentence, with lists `words`, `head` (0 for the root) and `deprel`.")
    return found


def _tree_of_record(record: Mapping[str, Any], number: int) -> str:
    """A tree from lists by name. A row without a governor stays one, so that its sentence is skipped and counted."""
    words, governors, relations = (_plain(record[name]) for name in _tree_columns(record, f"Entry {number}"))
    return _tree((words, governors, relations), number)


def _tree(tree: Any, number: int) -> str:
    """A tree in the authors' lines, `word head-label`."""
    try:
        words, governors, relations = map(_plain, _plain(tree))
        rows = [(str(w), _governor(g), str(r)) for w, g, r in zip(words, governors, relations, strict=True)]
    except (TypeError, ValueError) as error:
        what = f"Entry {number} is not (words, governors, relations) of one length."
        raise InputError(what, hint="Count governors from 1, with 0 for the root.") from error
    for word, _, relation in rows:
        if not word.strip() or len(relation.split()) != 1:
            raise InputError(f"Entry {number} has an empty word or an empty relation.", hint="Name each.")
        if relation.isdigit():
            what = f"Entry {number} has a number, {relation}, as a relation."
            raise InputError(
                what, hint="Give names; of `datasets`, those that int2str of the column's ClassLabel gives."
            )
    return "".join(f"{' '.join(word.split())} {governor}-{relation}\n" for word, governor, relation in rows)


def _governor(value: Any) -> str:
    if value in NO_GOVERNOR:
        return "_"
    if int(value) != float(value):
        raise ValueError("a governor is a whole number")
    return str(int(value))
