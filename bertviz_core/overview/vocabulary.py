"""The names that an expression of the finder can have: columns, behaviors, relations, and whatever else pages say."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results
from bertviz_core.analyses.behaviors import found_by_heads, linguistic
from bertviz_core.corpora.treebank import RENAMED
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head, first_number
from bertviz_core.numbers import NATS, number
from bertviz_core.overview.finder import MAX_CHARACTERS, TOKEN, WORDS, columns_in, find_rows, simplified
from bertviz_core.overview.head_columns import Column, columns, frame, of_head
from bertviz_core.overview.named_heads import roles_text
from bertviz_core.plotting import BEHAVIORS

LONGEST = 36  # characters of a term's name
ROLES = "published"  # the column of what papers have named heads, of models that they know
TRIES = 4  # beginnings of an unfinished expression that are read, the longest first
JOINS = re.compile(r"\b(?:and|or)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Term:
    """A number that every head has, as an expression, an axis or a list of completions names it.

    Attributes:
        name: What to write for it, as "dobj".
        label: Its name at length, with the unit.
        title: What it is a number of, as the title of an analysis; empty for the numbers of layer and head.
        column: Its column of `Vocabulary.table`.
    """

    name: str
    label: str
    title: str
    column: str

    @property
    def text(self) -> str:
        """Title and label, as on an axis."""
        return f"{self.title}: {self.label}" if self.title else self.label


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What an expression can name of the heads of a model.

    Attributes:
        heads: A row for each head, as `head_columns.frame` has it.
        table: The same with layers and heads counted as in labels, and with `searched_numbers`.
        names: From each name, as `simplified` writes it, to a column of `table`.
        terms: The numbers of every head, in the order of pages.
    """

    heads: pd.DataFrame
    table: pd.DataFrame
    names: dict[str, str]
    terms: tuple[Term, ...]

    def find(self, text: str) -> pd.DataFrame:
        """The rows of `heads` that an expression finds; raises SettingsError as `find` does."""
        return self.heads[find_rows(self.table, text, self.names)].reset_index(drop=True)

    def count(self, text: str) -> str:
        """How many heads an unfinished expression finds, by what can be read of it before an "and" or an "or"; empty
        where nothing can."""
        joins = [match.start() for match in JOINS.finditer(text[:MAX_CHARACTERS])]
        ends = (len(text), *joins[: -TRIES - 1 : -1])
        for end in (end for end in ends if text[:end].strip()):
            with suppress(SettingsError):
                return f"{len(self.find(text[:end]))} of {len(self.heads)} heads" + " so far" * (end < len(text))
        return ""

    def numbers(self, term: Term) -> np.ndarray:
        """(head,) numbers; NaN where a head has none."""
        return self.table[term.column].to_numpy(dtype=float)

    def term(self, name: str | None) -> Term | None:
        """The term of a name; None where no term has it."""
        return next((term for term in self.terms if term.name == name), None)

    def axes(self, chosen: Sequence[str | None], expression: str) -> tuple[Term, Term, Term]:
        """What is across, up and in color: of the names that are `chosen`, else what the expression names, else the
        first numbers of two analyses, and the layer."""
        first, *others = self.terms
        of_analyses = (first, next((term for term in others if term.title != first.title), first))
        named = columns_in(expression, self.names)
        asked = [term for column in named for term in self.terms if term.column == column]
        across, up, color = (self.term(name) for name in chosen)
        left, right = [*dict.fromkeys((*asked, *of_analyses))][:2]
        across = across or (left if left != up else right)
        return across, up or (right if right != across else left), color or self.terms[-2]

    def completions(self) -> list[dict[str, str]]:
        """For each term its `name` and `title`, the `range` of its numbers, and in `words` every name that it has."""
        words: dict[str, list[str]] = {}
        for name, column in self.names.items():
            words.setdefault(column, []).append(name)
        return [
            {
                "name": term.name,
                "title": term.title if term.label.removesuffix(NATS) == term.name else term.label,
                "range": _range(self.numbers(term)),
                "words": " | ".join(words[term.column]),
            }
            for term in self.terms
        ]


def vocabulary(results: Results) -> Vocabulary:
    """What an expression can name of the heads of these results."""
    heads = frame(results)
    shift = first_number() - 1
    table = heads.assign(layer=heads["layer"] + shift, head=heads["head"] + shift)
    searched = searched_numbers(heads, results)
    table = pd.DataFrame(dict(table) | {name: values for name, (_, values) in searched.items()})
    roles = roles_text(results)
    if roles:
        table = table.assign(**{ROLES: roles})
    original = {simplified(label): name for label, name in RENAMED.items() if name in searched}
    names = original | {simplified(name): name for name in searched} | names_of(heads, results)
    names = legend_words(results, names) | names | ({ROLES: ROLES} if roles else {})
    terms = [
        *map(_term, columns(results)),
        *(Term(name, name, title, name) for name, (title, _) in searched.items()),
        *(Term(name, name, "", name) for name in ("layer", "head")),
    ]
    return Vocabulary(heads, table, names, tuple(terms))


def find(results: Results, text: str) -> pd.DataFrame:
    """The rows of `head_columns.frame` that an expression finds, in which layers and heads count as in labels.

    Raises:
        SettingsError: The expression cannot be read; the message says what is wrong, and where.
    """
    return vocabulary(results).find(text)


def searched_numbers(table: pd.DataFrame, results: Results) -> dict[str, tuple[str, np.ndarray]]:
    """Name -> the title and the (head,) numbers that an expression can name beside the columns of a table, such as the
    accuracy of a relation. A name that a column or an analysis before has, or that reads as something else, has the
    title of its own before it."""
    numbers: dict[str, tuple[str, np.ndarray]] = {}
    taken = {"", *WORDS, *names_of(table, results)}
    for each in of_head(results, Head(0, 0)):  # beside the numbers of all heads, whichever it is
        title = each.figure.title
        for name, values in each.figure.searched.items():
            own = name
            while simplified(own) in taken or _begins_with_number(own):
                own = f"{title} {own}"
            taken.add(simplified(own))
            numbers[own] = title, values.reshape(-1)
        taken |= {simplified(label) for label, name in RENAMED.items() if name in numbers}
    return numbers


def _begins_with_number(name: str) -> bool:
    """Whether an expression would read the beginning of a name as a number."""
    match = TOKEN.match(simplified(name))
    return match is not None and match.lastgroup == "number"


def names_of(table: pd.DataFrame, results: Results) -> dict[str, str]:
    """From each name of a column of numbers to the column: its own in the table, that of its quantity, its labels, its
    behavior on the map, and the title of an analysis whose main column it is. A name that several share is none,
    unless it is a column's own."""
    others: dict[str, set[str]] = {}
    known = columns(results)
    main = {name: column for column in reversed(known) if (name := column.analysis) not in _with_behaviors(known)}
    for each in known:
        written = [each.quantity, each.spec.label.removesuffix(NATS), each.spec.short]
        if behavior := _behavior(each):
            written += [ANALYSES[each.analysis].behaviors[each.quantity], behavior, f"{behavior} heads"]
        if main.get(each.analysis) is each:
            title = ANALYSES[each.analysis].title
            written += [title, title.removesuffix(" heads")]
        for name in written:
            others.setdefault(simplified(name), set()).add(_column(each))
    names = {name: columns.pop() for name, columns in others.items() if len(columns) == 1}
    return names | {simplified(str(name)): str(name) for name in table.select_dtypes("number")}


def legend_words(results: Results, names: dict[str, str]) -> dict[str, str]:
    """From the words of the map's legend for what heads find, as "objects", to the column of what one of them is best
    at; of `names` that are known."""
    found = found_by_heads(results)
    words: dict[str, str] = {}
    for label, best in linguistic(results).items():
        first = simplified(best.partition(",")[0])
        if first in names:
            words.setdefault(simplified(found[label]), names[first])
    return words


def _with_behaviors(known: list[Column]) -> set[str]:
    """The analyses of which several columns are behaviors: none of these is the main one."""
    named = [each.analysis for each in known if _behavior(each)]
    return {name for name in named if named.count(name) > 1}


def _behavior(column: Column) -> str:
    """The behavior of a column as the map's legend has it; empty for none."""
    behavior = ANALYSES[column.analysis].behaviors.get(column.quantity)
    return BEHAVIORS[behavior][-1] if behavior else ""


def _column(column: Column) -> str:
    return ANALYSES[column.analysis].export_name(column.quantity)


def _term(column: Column) -> Term:
    """A column under its behavior or its label, whichever is shorter, or by its name in tables where both are long."""
    label = column.spec.label.removesuffix(NATS)
    shortest = min(filter(None, (_behavior(column), label)), key=len)
    name = shortest if len(shortest) <= LONGEST else _column(column).replace("_", " ")
    return Term(name, column.spec.label, ANALYSES[column.analysis].title, _column(column))


def _range(values: np.ndarray) -> str:
    """The lowest and the highest of (head,) numbers; empty where there is none."""
    known = values[~np.isnan(values)]
    return f"{number(known.min())} to {number(known.max())}" if known.size else ""
