"""Corpora that are objects: texts, words, trees, records, and what other libraries hold. Each is recognized by what it
has, not by its class, and becomes the file with the same content, so that digests are equal. An iterator is read once,
and no more than an entry of it is in memory at a time."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple, cast

from bertviz_core.corpora import pairs, parsed
from bertviz_core.corpora.authors_json import FIELDS
from bertviz_core.corpora.readers import as_text, is_surely_prose
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.temporary import from_pieces
from bertviz_core.errors import InputError
from bertviz_core.numbers import plural

Tree = tuple[Sequence[str], Sequence[int], Sequence[str]]  # words, governors (from 1, 0 for the root), relations
Row = tuple[Any, str, Any]  # a word, its governor's number or "_", the relation
ACCEPTED = (
    "Give a file, the name of a sample, a list of texts, of (words, governors, relations) or of dicts as a JSON corpus "
    "has them, or an object of spaCy, Stanza, conllu, datasets, pandas, polars or Arrow."
)
# What the columns of a table with trees are called.
WORDS = ("words", "tokens", "form")
GOVERNORS = ("head", "heads", "governors")
RELATIONS = ("deprel", "deprels", "relations", "relns")
NO_GOVERNOR = ("None", "_", "")  # as multi-word tokens have; `datasets` holds the governors of CoNLL-U as strings
MOST_PARTS = 3  # of a word between spaces, such as "10 000 km"; most of a list's entries have more: they are texts
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
    """The source of an object for an analysis of a kind of corpora ("text", "treebank", "coreference" or "pairs").

    Raises:
        InputError: The object is no corpus, or an entry is of another kind than the first, or cannot be written.
    """
    entries = _entries(corpus, kind)
    start = list(islice(entries, 1))
    if not start:
        raise InputError("The corpus is empty.", hint=ACCEPTED)
    entry_type = _entry_type(start[0], 1, kind)
    form = _form(entry_type, kind)
    count = 0

    is_prose, is_annotated = True, form.write not in (_tree, _tree_of_record)

    def pieces() -> Iterator[str]:
        nonlocal count, is_prose, is_annotated
        yield form.start
        joint = ""
        for count, entry in enumerate(chain(start, entries), start=1):
            if (other := _entry_type(entry, count, kind)) != entry_type:
                what = f"The entries are of different kinds: first {entry_type}, in entry {count} {other}."
                raise InputError(what, hint=ACCEPTED)
            if text := form.write(entry, count):
                is_prose = is_prose and is_surely_prose(text)
                is_annotated = is_annotated or _has_governor(text)
                yield joint + text
                joint = form.between
        yield form.end

    source = replace(from_pieces(pieces(), ""), name=f"{plural(count, form.unit)} in memory")
    if not is_annotated:
        what = "Entry 1 has no governor" + (", and neither has any other." if count > 1 else ".")
        raise InputError(what, hint="Give the number of each word's governor in its sentence, 0 for the root.")
    return as_text(source, is_prose=is_prose) if entry_type == "texts" and kind == "text" else source


def _entries(corpus: Any, kind: str) -> Iterator[Any]:
    """The entries of an object, which may be a single document."""
    if isinstance(corpus, Mapping | Set):
        hint = 'Give a list of dicts, or one split of a DatasetDict: corpus=splits["train"].'
        what = f"An object of type {type(corpus).__name__} is not a corpus: it has no order, or several parts."
        raise InputError(what, hint=hint)
    if hasattr(corpus, "with_format"):  # A formatted Dataset gives tables in place of records.
        corpus = corpus.with_format(None)
    if (columns := _column_names(corpus)) is not None:
        _check_columns(columns, kind)
        return _rows(corpus, columns)
    if parsed.is_document(corpus) or _is_conllu(corpus):
        return iter([corpus])
    try:
        return map(_plain_entry, iter(corpus))
    except TypeError as error:
        raise InputError(f"An object of type {type(corpus).__name__} is not a corpus.", hint=ACCEPTED) from error


def _column_names(table: Any) -> list[str] | None:
    """The columns of a `datasets.Dataset`, a DataFrame of pandas or polars, or what Arrow has of tables and batches.
    None for another object.

    Raises:
        InputError: It is a LazyFrame of polars, which has no rows yet.
    """
    if hasattr(table, "collect_schema") and hasattr(table, "collect"):
        raise InputError("A LazyFrame has no rows yet.", hint="Give what it computes: corpus=frame.collect().")
    if hasattr(table, "itertuples") or hasattr(table, "iter_rows"):
        return list(map(str, table.columns))
    names = getattr(table, "column_names", None)
    if names is None and (hasattr(table, "to_pylist") or hasattr(table, "read_next_batch")):
        names = getattr(getattr(table, "schema", None), "names", None)
    return None if names is None else list(map(str, names))


def _check_columns(columns: Sequence[str], kind: str) -> None:
    """Raise InputError where the columns of a table are not a corpus's."""
    if kind == "treebank":
        _tree_columns(columns, "The table")
    elif kind == "pairs" and not pairs.is_header(columns):
        raise InputError(f"The table has the columns {', '.join(columns)}: no pairs.", hint=pairs.EXPECTED)
    elif kind == "text" and len([name for name in FIELDS if name in columns]) != 1:
        what = f"The table has the columns {', '.join(columns)}; one of them must be `text`, `words` or `tokens`."
        raise InputError(what, hint=f'Give the column to read: corpus=table["{columns[0] if columns else "text"}"].')


def _rows(table: Any, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of a table with these columns."""
    if hasattr(table, "itertuples"):
        return (dict(zip(columns, row, strict=True)) for row in table.itertuples(index=False, name=None))
    if hasattr(table, "iter_rows"):
        return (dict(zip(columns, row, strict=True)) for row in table.iter_rows())
    return (row for batch in batches for row in batch.to_pylist()) if (batches := _batches(table)) else iter(table)


def _batches(table: Any) -> Iterable[Any] | None:
    """The batches of a table, a batch or a reader of Arrow; None for another table."""
    if hasattr(table, "to_batches") or hasattr(table, "read_next_batch"):
        return cast(Iterable[Any], table.to_batches() if hasattr(table, "to_batches") else table)
    return [table] if hasattr(table, "to_pylist") else None


def _plain_entry(entry: Any) -> Any:
    """A value of Arrow, or a column of polars, as Python has it; another entry itself."""
    if hasattr(entry, "as_py"):
        return entry.as_py()
    return entry.to_list() if hasattr(entry, "to_list") and not hasattr(entry, "tolist") else entry


def _is_conllu(value: object) -> bool:
    """Whether it is a sentence of the library conllu: a TokenList or a TokenTree."""
    return hasattr(value, "serialize") and hasattr(value, "metadata")


def _entry_type(entry: object, number: int, kind: str) -> str:
    """What an entry of a kind of corpora is one of; raises InputError for an entry that can be none."""
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
            if kind == "pairs":
                return "pairs"
            return "lists of words" if all(isinstance(word, str) for word in content) else "trees"
    if _is_missing(entry):
        raise InputError(f"Entry {number} has no value.", hint="Drop what is missing: corpus=column.dropna().")
    raise InputError(f"Entry {number}, of type {type(entry).__name__}, is no part of a corpus.", hint=ACCEPTED)


def _plain(value: object) -> Any:
    """An array or a value of another library, or a date, as JSON has it; raises TypeError for another object."""
    if isinstance(value, list | tuple):
        return value
    for name in ("tolist", "to_list", "to_pylist", "as_py"):  # of numpy, polars and Arrow
        if hasattr(value, name):
            return getattr(value, name)()
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
        "pairs": Form("pairs", _pair),
        "documents": Form("documents", lambda entry, number: _text(parsed.to_lines(entry), number)),
    }
    if entry_type == "lists of words" and kind in MISSING:
        hint = "Give what has been annotated, as docs/library.md shows, or choose an analysis of text."
        raise InputError(f"Lists of words have {MISSING[kind]}.", hint=hint)
    annotated = {
        ("records", "treebank"): Form("records", _tree_of_record, between="\n"),
        ("records", "coreference"): Form("records", lambda entry, number: _json(entry, number) + "\n"),
        ("records", "pairs"): Form("pairs", lambda entry, number: _json(entry, number) + "\n"),
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
        return json.dumps(dict(record), ensure_ascii=False, default=_json_value)
    except (TypeError, ValueError) as error:
        what = f"Entry {number} is not valid JSON ({error})."
        raise InputError(what, hint="Use strings, numbers and lists.") from error


def _json_value(value: object) -> Any:
    """A value that JSON lacks, one that is missing in pandas as null."""
    return None if _is_missing(value) else _plain(value)


def _words(words: Any, number: int) -> str:
    content = list(_plain(words))
    if 2 * sum(len(word.split()) > MOST_PARTS for word in content) > len(content):
        what = f"Entry {number} is a list of texts, not of words, such as {content[0][:40]!r}."
        raise InputError(what, hint='Join the texts of a document: ["\\n".join(texts) for texts in corpus].')
    return _json({"words": content}, number) if content else ""


def _pair(sentences: Any, number: int) -> str:
    """A pair from (good, bad) or (good, bad, phenomenon)."""
    values = list(_plain(sentences))
    if len(values) not in (2, 3):
        what = (
            f"Entry {number} has {plural(len(values), 'values')}, not the two sentences of a pair and its phenomenon."
        )
        raise InputError(what, hint="Give (good, bad) or (good, bad, phenomenon).")
    return _json(dict(zip(("good", "bad", "phenomenon"), values, strict=False)), number) + "\n"


def _tree_columns(names: Iterable[str], owner: str) -> list[str]:
    """Those of the words, the governors and the relations; raises InputError where one is missing."""
    names = list(names)
    found = [next((name for name in known if name in names), "") for known in (WORDS, GOVERNORS, RELATIONS)]
    if not all(found):
        what = f"{owner} has no dependency trees: it has {', '.join(names) or 'nothing'}."
        raise InputError(what, hint="A row is a sentence, with lists `words`, `head` (0 for the root) and `deprel`.")
    return found


def _tree_of_record(record: Mapping[str, Any], number: int) -> str:
    """A tree from lists by name."""
    lists = [record[name] for name in _tree_columns(record, f"Entry {number}")]
    tags = record.get("upos")
    return _tree(lists, number, tags if isinstance(tags, list | tuple) else None)


def _tree(tree: Any, number: int, tags: Sequence[Any] | None = None) -> str:
    """A tree in the authors' lines, `word head-label`.

    Args:
        tree: The words, the governors and the relations.
        number: The number of the entry.
        tags: Parts of speech, by which rows of multi-word tokens are known beside their missing governors.
    """
    try:
        words, governors, relations = map(_plain, _plain(tree))
        rows = list(zip(words, map(_governor, governors), relations, strict=True))
    except (TypeError, ValueError) as error:
        raise _tree_error(tree, number) from error
    rows = _without_multiword_rows(rows, tags)
    for word, governor, relation in rows:
        _check_row(word, governor, relation, number)
    return "".join(f"{' '.join(str(word).split())} {governor}-{relation}\n" for word, governor, relation in rows)


def _tree_error(tree: Any, number: int) -> InputError:
    """What is wrong with an entry that is no tree."""
    parts = tree if isinstance(tree, list | tuple) else []
    are_lists = all(isinstance(part, list | tuple) and all(isinstance(w, str) for w in part) for part in parts)
    if parts and are_lists and (len(parts) != 3 or len(set(map(len, parts))) > 1):
        what = f"Entry {number} is a list of sentences, each a list of words."
        return InputError(what, hint="Give each sentence as an entry, or each document as one text.")
    if any(_is_missing(part) for part in parts):
        return InputError(f"Entry {number} has a value that is missing.", hint="Drop the entry, or fill it in.")
    what = f"Entry {number} is not (words, governors, relations) of one length."
    return InputError(what, hint="Count governors from 1, with 0 for the root.")


def _without_multiword_rows(rows: list[Row], tags: Sequence[Any] | None) -> list[Row]:
    """The rows of words: `datasets` has multi-word tokens such as "aux" before their words, without governor, relation
    and part of speech, and does not count them. Where what is left is no tree, all rows stay."""
    is_word = [governor != "_" or not (_is_missing(relation) or relation == "_") for _, governor, relation in rows]
    if tags is not None and len(tags) == len(rows):
        unnamed = ("_", "", None)
        is_word = [word or tag not in unnamed for word, tag in zip(is_word, tags, strict=True)]
    words = [row for row, kept in zip(rows, is_word, strict=True) if kept]
    numbers = [int(governor) for _, governor, _ in words if governor != "_"]
    is_tree = len(numbers) == len(words) and max(numbers, default=1) <= len(words) and numbers.count(0) == 1
    return words if is_tree else rows


def _check_row(word: Any, governor: str, relation: Any, number: int) -> None:
    """Raise InputError for a row without a word or a relation. Without a governor it stays, so that its sentence is
    skipped and counted."""
    if _is_missing(word) or (_is_missing(relation) and governor != "_"):
        lacking = "word" if _is_missing(word) else "relation"
        what = f"Entry {number} has a {lacking} that is missing ({word if lacking == 'word' else relation})."
        raise InputError(what, hint="Fill it in, or drop the entry.")
    if not str(word).strip() or len(str(relation).split()) != 1:
        raise InputError(f"Entry {number} has an empty word or an empty relation.", hint="Name each.")
    if str(relation).isdigit():
        what = f"Entry {number} has a number, {relation}, as a relation."
        raise InputError(what, hint="Give names; of `datasets`, those that int2str of the column's ClassLabel gives.")


def _has_governor(text: str) -> bool:
    """Whether a word of a tree as `_tree` writes it has a governor."""
    return any(not line.rpartition(" ")[2].startswith("_-") for line in text.splitlines())


def _is_missing(value: object) -> bool:
    """Whether it is None, or NaN and the like of numpy and pandas; the texts "None" and "nan" are words."""
    return not isinstance(value, str) and str(value) in NO_VALUE


def _governor(value: Any) -> str:
    if _is_missing(value) or value in NO_GOVERNOR:
        return "_"
    if int(value) != float(value):
        raise ValueError("a governor is a whole number")
    return str(int(value))
