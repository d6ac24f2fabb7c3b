"""The words of a sentence of CoNLL-U with their lemmas and features, and the sentence as it is written."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bertviz_core.corpora.source import Line
from bertviz_core.corpora.treebank.conll import rows_of

ID, FORM, LEMMA, TAG, FEATS, HEAD, RELATION, MISC = 0, 1, 2, 3, 5, 6, 7, 9  # columns, from 0
NO_SPACE = re.compile(r"(?:^|\|)SpaceAfter=No(?:$|\|)")
Row = tuple[int, list[str]]  # its line, from 1, and its cells


@dataclass(frozen=True, slots=True)
class FeatureWord:
    """A word with what CoNLL-U says of it.

    Attributes:
        line: Its line, from 1.
        form: What is written, or is meant by a part of a contraction.
        lemma: The form that dictionaries have; "_" for none.
        tag: Its part of speech; "_" for none.
        features: The values of its features by their names, as Sing by Number.
        governor: The word that governs it, from 1; 0 is the root.
        relation: Its relation to the governor.
        span: The characters of the text that are the word; None in a contraction that is not its words joined.
    """

    line: int
    form: str
    lemma: str
    tag: str
    features: Mapping[str, str]
    governor: int
    relation: str
    span: tuple[int, int] | None


@dataclass
class _Token:
    """What is written without a space in it: a word, or several that are contracted."""

    form: str
    has_space: bool
    rows: list[Row] = field(default_factory=list)

    def spans(self, start: int) -> Iterator[tuple[int, int] | None]:
        """The characters of each of its words in a text where it starts."""
        is_joined = "".join(cells[FORM] for _, cells in self.rows) == self.form
        for _, cells in self.rows:
            end = start + len(cells[FORM])
            yield (start, end) if is_joined else None
            start = end


def features_of(cell: str) -> dict[str, str]:
    """The values of features by their names.

    >>> features_of("Mood=Ind|Number=Sing"), features_of("_")
    ({'Mood': 'Ind', 'Number': 'Sing'}, {})
    """
    return dict(pair.split("=", 1) for pair in cell.split("|") if "=" in pair)


def words_and_text(block: Sequence[Line]) -> tuple[list[FeatureWord], str]:
    """The words of a sentence that is a tree, and its text: its tokens, each with a space after it but where the file
    says SpaceAfter=No."""
    words = []
    text = ""
    for token in _tokens(block):
        for (line, cells), span in zip(token.rows, token.spans(len(text)), strict=True):
            words.append(
                FeatureWord(
                    line=line,
                    form=cells[FORM],
                    lemma=cells[LEMMA],
                    tag=cells[TAG],
                    features=features_of(cells[FEATS]),
                    governor=int(cells[HEAD]),
                    relation=cells[RELATION],
                    span=span,
                )
            )
        text += token.form + " " * token.has_space
    return words, text.rstrip()


def _tokens(block: Sequence[Line]) -> list[_Token]:
    """The tokens of a sentence, without empty nodes."""
    tokens: list[_Token] = []
    end = 0  # the last word of the contraction
    for line, text in rows_of(block):
        cells = list(map(str.strip, text.split("\t")))
        cells[FORM] = " ".join(cells[FORM].split())
        number, _, last = cells[ID].partition("-")
        if not number.isdigit():
            continue
        if last or int(number) > end:
            tokens.append(_Token(cells[FORM], has_space=not NO_SPACE.search(cells[MISC])))
        if last:
            end = int(last)
        else:
            tokens[-1].rows.append((line, cells))
    return tokens
