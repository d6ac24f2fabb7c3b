"""Figures 1 and 5 of a report: the attention of the clearest heads, each on a short input of its own."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np

from bertviz_core.analyses.base.result import Result, Results, result_of
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.groups import TYPE_ROWS
from bertviz_core.analyses.coreference_heads.passages import first_guesses
from bertviz_core.analyses.dependency_heads.figure import examples
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.corpora import Skipped
from bertviz_core.heads import Head
from bertviz_core.inputs.encoding import Encoded, encode_words
from bertviz_core.inputs.labels import Units, layout_of
from bertviz_core.inputs.tokens import SPACE_MARKS, Tokens
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import attention
from bertviz_core.overview import Segment, clearest, relation_heads
from bertviz_core.viewer import InputView, apply_view
from bertviz_core.viewer.figure import Panel

# Tokens or words of an input that is drawn
SHORTEST = 5
LONGEST = 22
ENDS = (".", "!", "?", "。", "！", "？", "؟", "।")  # of sentences
RELATIONS = 5
# Number of the figure, head, its role, input, red words without special tokens, whether these are on the right
Example = tuple[int, Head, str, Encoded, Sequence[int], bool]


@dataclass(frozen=True)
class Lines:
    """The attention of one head on one input. It is stored, so that a report on stored results runs no model."""

    figure: int  # number of the paper's figure
    title: str  # the head and its role
    where: str  # location of the input
    labels: list[str]  # of the tokens or words
    special: list[bool]  # whether they are special tokens
    red: list[int]  # rows whose lines are red
    red_keys: bool  # rows of the right column
    weights: np.ndarray  # (query, key)

    @property
    def panel(self) -> Panel:
        zeros = np.zeros(len(self.labels), dtype=np.int64)
        units = Units(tuple(self.labels), np.array(self.special), zeros, zeros)
        red = ((), self.red) if self.red_keys else (self.red, ())
        return Panel(self.title, units, units, self.weights, *red)


def lines_of(results: Results, model: AttentionModel, paper: bool) -> Iterator[Lines]:
    """Run the model on an input for each of the clearest heads; `paper` reads split words as the release does."""
    tokens = model.tokens
    drawn = list(_behaviors(results, tokens))
    if "dependency_heads" in results:
        drawn += _relations(result_of(results, RelationCounts), tokens)
    if "coreference_heads" in results:
        drawn += _antecedent(result_of(results, AntecedentCounts), tokens)
    for figure, head, role, example, red, red_keys in drawn:
        words = example.words
        view = InputView(words=words is not None, first_piece=paper)
        shown = apply_view(layout_of(example, tokens), attention(model, example), view)
        units = shown.queries
        title = f"{head.label()}: {role}"
        rows = [] if words is None else np.flatnonzero(np.isin(words[units.start], red)).tolist()
        labels = list(units.labels)
        special = units.special.tolist()
        yield Lines(figure, title, example.where, labels, special, rows, red_keys, shown.weights[head].copy())


def _behaviors(results: Results, tokens: Tokens) -> Iterator[Example]:
    """Figure 1: each behavior's head on a sentence of the segments in which it is clearest."""
    before, after = tokens.single
    for example in clearest(results):
        where, ids = _sentence(example.segments, tokens)
        if ids:
            framed = np.array([*before, *ids, *after], dtype=np.int64)
            encoded = Encoded(0, where, framed, np.zeros_like(framed))
            yield 1, example.head, f"{example.name}, {example.text}", encoded, (), False


def _sentence(segments: Sequence[Segment], tokens: Tokens) -> tuple[str, list[int]]:
    """(location, ids) of the first short sentence; without one, of the longest part of the first segment, cut."""
    beginning: tuple[str, list[int]] = ("", [])
    for segment in segments:
        ids, _ = tokens.ids(segment.tokens)
        special = np.isin(ids, tokens.special)
        stops = np.array([name.strip(SPACE_MARKS) in ENDS for name in segment.tokens])
        edges = [0, *(np.flatnonzero(special | stops) + 1).tolist(), len(ids)]
        parts = [[i for i, s in zip(ids[a:b], special[a:b], strict=True) if not s] for a, b in pairwise(edges)]
        short = next((part for part in parts if SHORTEST <= len(part) <= LONGEST), None)
        if short:
            return segment.where, short
        beginning = beginning if beginning[1] else (segment.where, max(parts, key=len)[:LONGEST])
    return beginning


def _relations(result: RelationCounts, tokens: Tokens) -> Iterator[Example]:
    """Figure 5: each clear relation in the short sentence in which its head is right and surest, its words red."""
    for relation in relation_heads(result, RELATIONS):
        direction, head = relation.choice
        sentences = examples(result, relation.choice, relation.name)
        surest = sorted(sentences, key=lambda each: (each.right / len(each.chosen), each.weight), reverse=True)
        inputs = ((each.sentence["words"], each.where, each.chosen) for each in surest)
        if drawable := _first_drawable(inputs, tokens, result):
            yield 5, head, f"{relation.name}, {relation.accuracy:.1%}", *drawable, bool(direction)


def _antecedent(result: AntecedentCounts, tokens: Tokens) -> Iterator[Example]:
    """Figure 5: the best coreference head on the sentences of a mention and its antecedent, the mention's head red."""
    best = result.best()
    guesses = first_guesses(result.stored, best)
    inputs = []
    for number, document in enumerate(result.stored.first_documents):
        starts = np.array([*document["sentences"], len(document["words"])])
        right = guesses.take((guesses.items[:, 0] == number) & guesses.right)
        for guess in right.guesses():
            word, other = (document["mentions"][mention][3] for mention in (guess.mention, guess.guessed))
            first = int(starts[starts <= min(word, other)].max())
            end = int(starts[starts > max(word, other)].min())
            inputs.append((guess.weight, document["words"][first:end], document["name"], [word - first]))
    inputs.sort(key=itemgetter(0), reverse=True)
    if drawable := _first_drawable((each[1:] for each in inputs), tokens, result):
        accuracy = result.accuracy[best.direction, TYPE_ROWS.index("all"), *best.head]
        yield 5, best.head, f"antecedents, {accuracy:.1%}", *drawable, False


def _first_drawable(inputs: Iterable[Any], tokens: Tokens, result: Result) -> tuple[Encoded, Sequence[int]] | None:
    """The first of some inputs (words, location, red words) with few words, and with a position for each token."""
    for words, where, red in inputs:
        if SHORTEST <= len(words) <= LONGEST:
            example = encode_words(words, tokens, 0, where, Skipped())
            if len(example) <= int(result.provenance["settings"]["max_length"]):
                return example, red
    return None
