"""Heads that an expression finds, such as "previous > 0.5 and not entropy >= 2": a small language of its own.

    expression = term ("or" term)*
    term = factor ("and" factor)*
    factor = "not" factor | "(" expression ")" | side operator side (operator side)* | "published" ("=" | "!=") words
    words = a role in quotation marks, as "induction"
    side = a number, which may end in %, or a name as the pages show it: of a column, a behavior, a relation
    operator = one of < <= > >= = !=, also ≤ ≥ ≠; several in a row hold together, as in 0.2 < previous < 0.5

Nothing of it is run as Python. A head without a number that the expression names is never found.
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Annotated, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from typing_extensions import Doc

from bertviz_core.choices import Choices, Formerly, Longest
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head

MAX_CHARACTERS = 300
MAX_NAMED = 20  # heads in a line
MAX_DEPTH = 20  # parentheses inside each other
OPERATORS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}
EQUAL, UNEQUAL = ("=", "=="), ("!=", "≠")
TYPESET = {"≤": "<=", "≥": ">=", "≠": "!="}
TOKEN = re.compile(
    r"\s*(?:(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?:\s*%)?)(?![\w.])|(?P<sign><=|>=|!=|==|[<>=()≤≥≠])"
    r'|"(?P<quoted>[^"]*)"'
    r"|(?P<word>\[?[^\W\d]\w*\]?))",
    re.IGNORECASE | re.ASCII,
)
BETWEEN = r"[\s_()\[\],:×-]+"  # what may stand between the words of a name
WORDS = ("and", "or", "not")
EXAMPLE = "Write as in: previous > 0.5 and loss_change > 0.01"


@dataclass(frozen=True)
class HeadSearch(Choices):
    """The heads that a reader looks for, on the overview, in its address and by an option of its command."""

    find: Annotated[
        str,
        Longest(MAX_CHARACTERS),
        Formerly("heads"),
        Doc("Only heads that an expression finds, as 'previous > 0.5 and entropy < 2'."),
    ] = ""


class Token(NamedTuple):
    """A part of an expression.

    Attributes:
        kind: "number", "sign", "name", "word" of no known name, "quoted", one of WORDS, or "end".
        text: How it is written.
        start: Where it begins in the expression, from 0.
    """

    kind: str
    text: str
    start: int


def describe_found(found: pd.DataFrame, total: int) -> str:
    """Which of so many heads are found, in a line that names the first MAX_NAMED of them."""
    if found.empty:
        return f"None of {total} heads is found."
    labels = [Head.parse(key).label() for key in found["label"][:MAX_NAMED]]
    more = " …" if len(found) > MAX_NAMED else ""
    name = "head" if len(found) == 1 else "heads"
    return f"Found: {name} {', '.join(labels)}{more} ({len(found)} of {total})."


def find_rows(table: pd.DataFrame, text: str, names: Mapping[str, str]) -> np.ndarray:
    """Which rows of a table of heads an expression finds.

    Args:
        table: A row for each head.
        text: The expression; an empty one finds every head.
        names: From a name of a column, as `simplified` writes it, to the column.

    Returns:
        (head,) bool.

    Raises:
        SettingsError: The expression cannot be read; the message says what is wrong, and where.
    """
    if not text.strip():
        return np.ones(len(table), dtype=bool)
    if len(text) > MAX_CHARACTERS:
        raise SettingsError(f"An expression has at most {MAX_CHARACTERS} characters.", hint=EXAMPLE)
    return _Parser(table, text, dict(names)).read()


def columns_in(text: str, names: Mapping[str, str]) -> list[str]:
    """The columns whose `names` stand in an expression, in their order."""
    pattern = re.compile(rf"(?<!\w){_pattern(names).pattern}", re.IGNORECASE)
    return list(dict.fromkeys(names[simplified(match["name"])] for match in pattern.finditer(text)))


def simplified(name: str) -> str:
    """A name without what a writer may leave out: in lower case, words with one space between."""
    return " ".join(re.findall(r"[^\W_]+", name.lower()))


def _pattern(names: Iterable[str]) -> re.Pattern[str]:
    """What matches the longest of simplified names, however its words are written and joined."""
    ordered = sorted((name for name in names if name and name not in WORDS), key=len, reverse=True)
    written = "|".join(BETWEEN.join(map(re.escape, name.split())) for name in ordered) or "(?!)"
    return re.compile(rf"\s*(?P<name>\[?(?:{written})(?!\w)\]?)", re.IGNORECASE)


@dataclass
class _Parser:
    """Reads one expression from left to right."""

    table: pd.DataFrame
    text: str
    names: dict[str, str]
    tokens: list[Token] = field(default_factory=list)
    at: int = 0
    depth: int = 0

    def read(self) -> np.ndarray:
        self.known = _pattern(self.names)
        self.tokens = self._split()
        self.lacking = np.zeros(len(self.table), dtype=bool)
        found = self._expression()
        if self._next.kind != "end":
            raise self._error(f"{self._next.text!r} is not expected", self._next)
        return found & ~self.lacking

    def _split(self) -> list[Token]:
        tokens = []
        position = 0
        rest = self.text.rstrip()
        while position < len(rest):
            if name := self._name_at(position):
                tokens.append(name)
                position = name.start + len(name.text)
                continue
            match = TOKEN.match(rest, position)
            if match is None:
                start = position + len(rest[position:]) - len(rest[position:].lstrip())
                raise self._error(f"{rest[start]!r} cannot be read", Token("", "", start))
            kind = str(match.lastgroup)
            word = match[kind]
            kind = word.lower() if word.lower() in WORDS else kind
            tokens.append(Token(kind, word, match.start(match.lastgroup or 0)))
            position = match.end()
        return [*tokens, Token("end", "the end", len(rest))]

    def _name_at(self, position: int) -> Token | None:
        """The longest known name that begins here, with the bracket that closes one in it."""
        if not (match := self.known.match(self.text, position)):
            return None
        written, end = match["name"], match.end()
        is_open = written.count("(") > written.count(")")
        return Token("name", written + ")" * (is_open and self.text[end : end + 1] == ")"), match.start("name"))

    @property
    def _next(self) -> Token:
        return self.tokens[self.at]

    def _take(self, *texts: str) -> bool:
        """Whether the next token is one of these words or signs, which is then behind."""
        is_next = self._next.kind in texts or (self._next.kind == "sign" and self._next.text in texts)
        self.at += is_next
        return is_next

    def _expression(self) -> np.ndarray:
        found = self._term()
        while self._take("or"):
            found = found | self._term()
        return found

    def _term(self) -> np.ndarray:
        found = self._factor()
        while self._take("and"):
            found = found & self._factor()
        return found

    def _factor(self) -> np.ndarray:
        is_negative = False
        while self._take("not"):
            is_negative = not is_negative
        found = self._in_parentheses() if self._next.text == "(" else self._comparison()
        return ~found if is_negative else found

    def _in_parentheses(self) -> np.ndarray:
        opened = self._next
        self.at += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._error(f"More than {MAX_DEPTH} parentheses are inside each other", opened)
        found = self._expression()
        self.depth -= 1
        if not self._take(")"):
            raise self._error("This parenthesis is not closed", opened)
        return found

    def _comparison(self) -> np.ndarray:
        if self._next.kind == "name" and not is_numeric_dtype(self.table[self._column(self._next.text, self._next)]):
            return self._has_words()
        left = self._side()
        sign = self._next
        if not self._is_operator():
            raise self._error(f"Instead of {sign.text!r} one of {' '.join(OPERATORS)} is expected", sign)
        found = np.ones(len(self.table), dtype=bool)
        while self._is_operator():
            compare = OPERATORS[TYPESET.get(self._next.text, self._next.text)]
            self.at += 1
            right = self._side()
            found &= compare(left, right)
            left = right
        return found

    def _has_words(self) -> np.ndarray:
        """(head,) whether a column of words, several of which have commas between them, has the quoted ones."""
        column = self.table[self._column(self._next.text, self._next)]
        sign, role = self.tokens[self.at + 1], self.tokens[min(self.at + 2, len(self.tokens) - 1)]
        if sign.text not in EQUAL + UNEQUAL:
            raise self._error(f"Instead of {sign.text!r} one of = != is expected", sign)
        if role.kind != "quoted":
            raise self._error(f"Instead of {role.text!r} a role in quotation marks is expected", role)
        self.at += 3
        has = column.map(lambda words: simplified(role.text) in map(simplified, words.split(", "))).to_numpy()
        return np.asarray(has == (sign.text in EQUAL))

    def _is_operator(self) -> bool:
        return self._next.kind == "sign" and TYPESET.get(self._next.text, self._next.text) in OPERATORS

    def _side(self) -> np.ndarray:
        """(head,) the numbers of a column, or one number for all heads."""
        token = self._next
        if token.kind == "number":
            self.at += 1
            share = 100 if token.text.endswith("%") else 1
            return np.full(len(self.table), float(token.text.rstrip("%")) / share)
        if token.kind == "name":
            self.at += 1
            return self._numbers(token.text, token)
        words: list[str] = []
        while self._next.kind == "word" or (words and self._next.kind == "number" and self._next.text.isdigit()):
            words.append(self._next.text)
            self.at += 1
        if not words:
            raise self._error(f"Instead of {token.text!r} a number or the name of a column is expected", token)
        return self._numbers(" ".join(words), token)

    def _numbers(self, written: str, token: Token) -> np.ndarray:
        """(head,) the numbers of a column; heads without one are remembered."""
        column = self.table[self._column(written, token)]
        if not is_numeric_dtype(column):
            raise self._error(f'"{written}" holds words, not numbers: write {written} = "…"', token)
        values = column.to_numpy(dtype=float)
        self.lacking |= np.isnan(values)
        return values

    def _column(self, written: str, token: Token) -> str:
        name = simplified(written)
        if name in self.names:
            return self.names[name]
        close = get_close_matches(name, self.names, 1)
        meant = f"; is {close[0]!r} meant?" if close else ""
        raise self._error(f"There is no column {written!r}{meant}", token)

    def _error(self, what: str, token: Token) -> SettingsError:
        return SettingsError(f"{what} (at character {token.start + 1}).", hint=EXAMPLE)
