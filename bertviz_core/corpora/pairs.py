"""Minimal pairs: two sentences that differ in as little as makes one of them ungrammatical, read again on every pass.

A file has a JSON object on each line, as BLiMP has, a JSON list of them, or columns with a header, as MultiBLiMP has;
or it is a treebank, whose subjects and verbs give pairs.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from math import isnan
from typing import Any

from bertviz_core.corpora import Skipped, agreement, annotation_formats
from bertviz_core.corpora.annotated import Treebank
from bertviz_core.corpora.authors_json import json_list
from bertviz_core.corpora.format_sampling import Survey, survey
from bertviz_core.corpora.source import Line, Source, replace_surrogates
from bertviz_core.corpora.table_rows import cells_of, quoted_rows, tab_rows
from bertviz_core.errors import InputError
from bertviz_core.numbers import plural

# Names of fields and of columns, in lower case; the first that a file has counts.
GOOD = ("sentence_good", "good", "sen")
BAD = ("sentence_bad", "bad", "wrong_sen")
PHENOMENON = ("phenomenon", "uid", "linguistics_term")
TEMPLATE = ("template",)
UNNAMED = "all pairs"  # the phenomenon of a file that names none
MAX_PHENOMENA = 500  # with which tables and sums grow; BLiMP has 67
MAX_NAME = 200  # characters of a phenomenon
DELIMITERS = "\t,;"
JSON_PAIR = re.compile(r'(?:^|[\[{,])\s*"(?:' + "|".join(GOOD) + r')"\s*:', re.IGNORECASE)
EXPECTED = (
    "Give JSON lines with `sentence_good` and `sentence_bad`; columns with a header: good, bad and, for several kinds "
    "of pairs, phenomenon; or a treebank in CoNLL-U with features."
)
EQUAL = "a pair of equal sentences"
BROKEN = "a pair that cannot be read"


@dataclass(frozen=True)
class MinimalPair:
    """A sentence and its ungrammatical counterpart.

    Attributes:
        number: Its index among the pairs that are read, from 0.
        line: The line where it begins, or that of a treebank's verb, from 1.
        good: The grammatical sentence.
        bad: The other one.
        phenomenon: What the two differ in, as the file names it.
        template: The template that it was made from, or the sentence or the document of a treebank; empty where the
            file names none.
    """

    number: int
    line: int
    good: str
    bad: str
    phenomenon: str
    template: str = ""


def recognize(found: Survey) -> str:
    """The name of the format in which a file has minimal pairs; empty where it has none."""
    if not found.rows:
        return ""
    if 2 * found.share_of_rows(lambda row: row.lstrip().startswith("{") and JSON_PAIR.search(row)) >= 1:
        return "JSON lines"
    _, first = found.first
    if first.lstrip().startswith("[") and any(JSON_PAIR.search(row) for row in found.texts):
        return "a JSON list"
    return "columns" if _delimiter(first) else ""


def is_header(cells: Iterable[str]) -> bool:
    """Whether the cells of a row, or the names of columns, name both sentences of a pair."""
    names = set(_keys(cells))
    return not names.isdisjoint(GOOD) and not names.isdisjoint(BAD)


class PairCorpus:
    """A file of minimal pairs, or a treebank that gives pairs; opening one raises InputError for another file.

    Attributes:
        source: The file.
        treebank: The treebank that it is; None for a file of pairs.
        form: The name of its format.
        unit: What a pair's `template` is, in the plural.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.unit = "templates"
        found = survey(source)
        if not found.rows:
            raise source.error("The file is empty.", EXPECTED)
        self.form = recognize(found)
        self.treebank = None if self.form or not agreement.recognize(found) else Treebank(source)
        if self.treebank:
            self.form = f"a treebank ({self.treebank.form.name})"
            self.unit = "documents" if self.treebank.names_documents() else "sentences"
        elif not self.form:
            raise _no_pairs(found)

    def pairs(self, skipped: Skipped) -> Iterator[MinimalPair]:
        """Every pair; entries that are none, pairs of equal sentences, and what gives no pair are counted in `skipped`.

        Raises:
            InputError: No pair can be read, or there are too many phenomena.
        """
        return self._of_treebank(self.treebank, skipped) if self.treebank else self._of_entries(skipped)

    def _of_treebank(self, treebank: Treebank, skipped: Skipped) -> Iterator[MinimalPair]:
        found = None
        for number, found in enumerate(agreement.agreement_pairs(treebank, skipped)):
            template = str(found.document if self.unit == "documents" else found.sentence)
            yield MinimalPair(number, found.line, found.good, found.bad, found.phenomenon, template)
        if not found:
            counts = [(entry["count"], reason) for reason, entry in skipped.reasons.items()]
            why = (
                "".join(f" Most often there is {reason}: {count:,}." for count, reason in [max(counts)])
                if counts
                else ""
            )
            raise self.source.error(f"No subject and verb of the treebank give a pair.{why}", EXPECTED)

    def _of_entries(self, skipped: Skipped) -> Iterator[MinimalPair]:
        number = 0
        phenomena = set[str]()
        first: InputError | None = None
        for line, values in self._entries():
            try:
                pair = _pair(self.source, number, line, values)
            except InputError as error:
                skipped.add(f"{BROKEN}: {error.what}", f"line {line}", unit="pairs")
                first = first or error
                continue
            if pair.good == pair.bad:
                skipped.add(EQUAL, f"line {line}", unit="pairs")
                continue
            phenomena.add(pair.phenomenon)
            if len(phenomena) > MAX_PHENOMENA:
                what = f"There are more than {MAX_PHENOMENA} phenomena."
                raise self.source.error(what, "Check that no columns are swapped.", line)
            yield pair
            number += 1
        if not number:
            raise first or self.source.error("The file has no pair of different sentences.", EXPECTED)

    def _entries(self) -> Iterator[tuple[int, Any]]:
        """(line, what stands there) of every entry, broken ones too."""
        if self.form == "a JSON list":
            return json_list(self.source)
        lines = ((number, text) for number, text in self.source.lines() if text.strip())
        return _rows(self.source, lines) if self.form == "columns" else ((line, _parsed(text)) for line, text in lines)


def _no_pairs(found: Survey) -> InputError:
    """The error of a file that has no pairs."""
    what = "This is no file of minimal pairs: nothing names the good and the bad sentence."
    if "treebank" in annotation_formats.likely_kinds(found):
        what = "This treebank gives no minimal pairs: its subjects and verbs have no Number in the column FEATS."
    return found.source.error(what, EXPECTED, found.first[0])


def describe(source: Source, skipped: Skipped) -> str:
    """What a file of pairs contains, in a sentence."""
    corpus = PairCorpus(source)
    counts: dict[str, int] = {}
    for pair in corpus.pairs(skipped):
        counts[pair.phenomenon] = counts.get(pair.phenomenon, 0) + 1
    return (
        f"Read as {corpus.form}: {plural(sum(counts.values()), 'minimal pairs')} of "
        f"{len(counts):,} {'phenomenon' if len(counts) == 1 else 'phenomena'}."
    )


def _keys(names: Iterable[str]) -> list[str]:
    return [str(name).strip().lower() for name in names]


def _delimiter(row: str) -> str:
    """What stands between the columns of a header that names both sentences; empty where nothing does."""
    return next((mark for mark in DELIMITERS if is_header(cells_of(row, mark))), "")


def _parsed(text: str) -> Any:
    """The object of a line of JSON; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _rows(source: Source, lines: Iterator[Line]) -> Iterator[tuple[int, Any]]:
    """(line, cells by the names of their columns) of every row; a row that is itself a header, as in the second of
    several files, names the columns of what follows."""
    _, header = next(lines)
    delimiter = _delimiter(header)
    names = _keys(cells_of(header, delimiter))
    rows = tab_rows(source, lines, lambda: len(names)) if delimiter == "\t" else quoted_rows(source, lines, delimiter)
    for number, cells in rows:
        if is_header(cells):
            names = _keys(cells)
        else:
            yield number, dict(zip(names, cells, strict=False)) if len(cells) <= len(names) else None


def _pair(source: Source, number: int, line: int, values: Any) -> MinimalPair:
    """The pair of an entry; raises InputError for an entry that is none."""
    if not isinstance(values, Mapping):
        raise source.error("it is no JSON object, or has more cells than the header.", EXPECTED, line)
    named = {str(name).strip().lower(): value for name, value in values.items()}
    good, bad = (_text(source, line, named, names) for names in (GOOD, BAD))
    phenomenon = _name(named, PHENOMENON) or UNNAMED
    return MinimalPair(number, line, good, bad, phenomenon, _name(named, TEMPLATE))


def _text(source: Source, line: int, named: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """One of the two sentences, its words with single spaces between; raises InputError where it is missing."""
    value = next((named[name] for name in names if name in named), None)
    if not isinstance(value, str) or not value.strip():
        raise source.error(f"`{names[0]}` is missing or no text.", EXPECTED, line)
    return replace_surrogates(" ".join(value.split()))


def _name(named: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first of these fields that says something, as one line; empty without one."""
    values = (named[name] for name in names if named.get(name) not in (None, "") and not _is_nan(named[name]))
    texts = (" ".join(str(value).split()) for value in values)
    return replace_surrogates(next(texts, ""))[:MAX_NAME]


def _is_nan(value: Any) -> bool:
    """Whether a value is what tables have in an empty cell."""
    return isinstance(value, float) and isnan(value)


def differing_words(good: str, bad: str) -> tuple[list[int], list[int]]:
    """The words in which two sentences differ, as numbers of words between spaces, from 0, of each sentence.

    They are what stands between the common beginning and the common end, without words in it that are the same at the
    same place where both parts are equally long.

    >>> differing_words("These tall cats sleep .", "This tall cat sleep .")
    ([0, 2], [0, 2])
    >>> differing_words("Cats sleep .", "Cats that sleep .")
    ([], [1])
    """
    ours, theirs = good.split(), bad.split()
    if len(ours) == len(theirs):
        places = [place for place, words in enumerate(zip(ours, theirs, strict=True)) if words[0] != words[1]]
        return places, places
    start = _common(ours, theirs)
    end = _common(ours[start:][::-1], theirs[start:][::-1])
    return list(range(start, len(ours) - end)), list(range(start, len(theirs) - end))


def _common(ours: list[str], theirs: list[str]) -> int:
    """The number of words with which both begin."""
    return sum(1 for _ in takewhile(lambda words: words[0] == words[1], zip(ours, theirs, strict=False)))


def are_aligned(good: str, bad: str) -> bool:
    """Whether words are only replaced: the sentences have as many words, and none of those that differ stands in both.

    >>> are_aligned("Who did he hug after shocking her ?", "Who did he hug her after shocking ?")
    False
    """
    ours, theirs = good.split(), bad.split()
    places, _ = differing_words(good, bad)
    return len(ours) == len(theirs) and {ours[at] for at in places}.isdisjoint(theirs[at] for at in places)
