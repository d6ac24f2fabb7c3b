"""What the best head is named for: antecedents, with a passage that shows it."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from bertviz_core.analyses.base.found_heads import HeadRole
from bertviz_core.analyses.base.head_figures import HeadRow
from bertviz_core.analyses.base.shown_inputs import Example, OpenedWords
from bertviz_core.analyses.behaviors import COREFERENCE
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.document_figure import Guess, draw
from bertviz_core.analyses.coreference_heads.groups import TYPE_ROWS
from bertviz_core.analyses.coreference_heads.passages import cut_passage, first_guesses
from bertviz_core.analyses.coreference_heads.result import DocumentRecord
from bertviz_core.analyses.coreference_heads.statements import type_finding
from bertviz_core.corpora.coreference import Span
from bertviz_core.heads import DirectedHead

WIDTH = 420  # pixels of a line of a passage


def head_roles(counts: AntecedentCounts, row: HeadRow) -> Iterator[HeadRole]:
    """That the best head finds antecedents; `row` is its accuracy on all mentions."""
    best = counts.best()
    if row.head == best.head and counts.finds_antecedents():
        finding = type_finding(counts, TYPE_ROWS[0], best.direction)
        summary = f"finds antecedents in {100 * row.value:.0f} of 100"
        yield HeadRole(COREFERENCE, row, summary, finding, partial(_examples, counts, best))


def _examples(counts: AntecedentCounts, choice: DirectedHead, longest: int) -> list[Example]:
    """The clearest run of whole sentences; one that is long where no other is stored."""
    guesses = first_guesses(counts.stored, choice)
    found = []
    for number, document in enumerate(counts.stored.first_documents):
        own = guesses.take(guesses.items[:, 0] == number).guesses()
        found += [Passage(span, *cut_passage(document, own, span)) for span in dict.fromkeys(_spans(document, own))]
    short = [each for each in found if len(" ".join(each.part["words"])) <= longest]
    return [max(short or found, key=Passage.clearness).example(choice)] if found else []


def _spans(document: DocumentRecord, guesses: list[Guess]) -> Iterator[Span]:
    """The sentences from a mention's antecedent to the mention, of each right guess."""
    edges = [*document["sentences"], len(document["words"])]
    for guess in guesses:
        if guess.right:
            ends = [document["mentions"][mention][3] for mention in (guess.mention, guess.guessed)]
            yield max(edge for edge in edges if edge <= min(ends)), min(edge for edge in edges if edge > max(ends))


class Passage(NamedTuple):
    """A run of sentences.

    Attributes:
        span: Its words in the document.
        part: The same words, with positions from the first of them.
        guesses: Those of the head between mentions of the part.
    """

    span: Span
    part: DocumentRecord
    guesses: list[Guess]

    @property
    def right(self) -> list[Guess]:
        """The right guesses."""
        return [guess for guess in self.guesses if guess.right]

    def clearness(self) -> float:
        """What the clearest has most of: the attention of right guesses, less 1 for each wrong one."""
        wrong = len(self.guesses) - len(self.right)
        return sum(guess.weight for guess in self.right) - wrong

    def example(self, choice: DirectedHead) -> Example:
        """It as it is shown; the mentions with a right guess are pinned in the attention viewer."""
        words = tuple(self.part["words"])
        where = f"{self.part['name']}, words {self.span[0] + 1:,}–{self.span[1]:,}"
        pinned = tuple(self.part["mentions"][guess.mention][3] for guess in self.right)
        return Example(
            title=f"{where}: {len(self.right)} of {len(self.guesses)} guesses right",
            text=" ".join(words),
            svg=draw(self.part, self.guesses, WIDTH),
            opened=OpenedWords(words, where, pinned, choice.direction, every_line=True),
        )
