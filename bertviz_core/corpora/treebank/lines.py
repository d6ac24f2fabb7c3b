"""Treebanks whose words are not numbered: the authors' `word head-label`, and Malt-TAB, `word tag head relation`."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bertviz_core.corpora.format_sampling import Block, Survey
from bertviz_core.corpora.source import Line
from bertviz_core.corpora.treebank import BrokenSentence, Sentence, check_tree, relation_name
from bertviz_core.corpora.treebank.conll import NO_WORDS
from bertviz_core.corpora.word_checks import is_left_out
from bertviz_core.numbers import small_int

NUMBERS = re.compile(r"[0-9]+(?:\W.*)?")  # of a score such as 3-1 or of a date: no relation
UNLABELED = "dep"  # the relation of a word in a file without relations


class Word(NamedTuple):
    """A word of a treebank's line.

    Attributes:
        governor: The word that governs it, from 1; 0 is the root.
        relation: Its relation to the governor.
        tag: Its part of speech; "_" for none.
    """

    form: str
    governor: int
    relation: str
    tag: str = "_"


@dataclass(frozen=True)
class LineFormat:
    """A format of one word a line.

    Attributes:
        name: The name of the format, for people.
        parse: From a line to its word; None for a line that is no word.
    """

    name: str
    parse: Callable[[str], Word | None]

    def word(self, text: str) -> str | None:
        """The word of a line; None for a line that is no word."""
        parsed = self.parse(text)
        return parsed and parsed.form

    def sentence(self, number: int, block: Sequence[Line]) -> Sentence:
        """A sentence, which may have several roots. Raises BrokenSentence."""
        words = []
        for line, text in block:
            if (word := self.parse(text)) is None:
                raise BrokenSentence(f"a line that is not `{self.name}`", line, repr(text[:40]))
            words.append(word)
        forms, governors, relations, tags = zip(*words, strict=True)
        if is_left_out(forms):
            raise BrokenSentence(NO_WORDS, block[0][0], forms[0])
        sentence = Sentence(number, block[0][0], forms, governors, relations, () if "_" in tags else tags)
        return check_tree(sentence, [line for line, _ in block], single_root=False)

    def fits(self, block: Block) -> bool:
        """Whether every line has the format, with a governor in the sentence and a relation that is a name."""
        words = list(map(self.parse, block.texts))
        size = len(words) if block.is_whole else max(len(words), 1000)
        return all(word and word.governor <= size and not NUMBERS.fullmatch(word.relation) for word in words)


def parse_labeled(text: str) -> Word | None:
    """A word of `word head-label`; a label may have more dashes."""
    pair = text.rsplit(maxsplit=1)
    if len(pair) < 2:
        return None
    number, _, relation = pair[1].partition("-")
    governor = small_int(number)
    return None if governor is None or not relation else Word(pair[0].strip(), governor, relation_name(relation))


def parse_tagged(text: str) -> Word | None:
    """A word of `word tag head`, or `word tag head relation`."""
    cells = [cell.strip() for cell in text.rstrip().split("\t")] if "\t" in text else text.split()
    governor = small_int(cells[2]) if len(cells) in (3, 4) else None
    if governor is None or cells[1].isdigit() or not cells[-1]:
        return None
    relation = cells[3] if len(cells) == 4 else UNLABELED if governor else "root"
    return None if relation == "_" else Word(cells[0], governor, relation_name(relation), cells[1] or "_")


LABELED = LineFormat("word head-label", parse_labeled)
TAGGED = LineFormat("word tag head", parse_tagged)


def has_labeled(survey: Survey) -> bool:
    """Whether at least half of the lines have the authors' format."""
    return 2 * survey.share_of_rows(parse_labeled) >= 1


def has_several(survey: Survey) -> bool:
    """Whether a file has more than a row, which may be any line of a text."""
    return survey.rows > 1


def is_labeled(survey: Survey) -> bool:
    """Whether every line of at least half of the sentences has the authors' format: a text may have such lines."""
    return has_several(survey) and 2 * survey.share_of_blocks(LABELED.fits) >= 1


def has_tagged(survey: Survey) -> bool:
    """Whether at least half of the sentences have the format, one of them with a root."""
    has_root = any(word and not word.governor for text in survey.texts if (word := parse_tagged(text)))
    return has_root and 2 * survey.share_of_blocks(TAGGED.fits) >= 1
