"""What is found by chance: in shuffled treebanks and corpora of chains no finding is shown in more than 5%."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from bertviz_core.analyses.base.findings import SHOWN, decide
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.baselines import BASELINES, RANDOM
from bertviz_core.analyses.coreference_heads.groups import GROUPS, by_row
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads
from bertviz_core.analyses.dependency_heads.relations import RelationCounts

SHUFFLES, ALLOWED = 100, 0.05
LAYERS, HEADS, LENGTH = 4, 6, 12
OFFSETS = np.array([-2, -1, 1, 2])
TRUE_BY_CHANCE = "dependency_heads.overall"  # that no head parses is so of every shuffled treebank


@dataclass(frozen=True)
class Treebank:
    """Words of random sentences: every head's guesses (direction, layer, head, word), the words' places and folds."""

    guesses: np.ndarray
    place: np.ndarray
    fold: np.ndarray

    @classmethod
    def of(cls, sentences: int, chance: np.random.Generator) -> Treebank:
        place, number = np.tile(np.arange(LENGTH), sentences), np.repeat(np.arange(sentences), LENGTH)
        return cls(chance.integers(0, LENGTH, (2, LAYERS, HEADS, len(place))), place, number % 2)

    def counts(self, governors: np.ndarray, labels: np.ndarray) -> RelationCounts:
        """Right guesses by relation, every label shown (min_count 1)."""
        names = [name for name, _ in Counter(labels.tolist()).most_common()]
        rows = np.stack([np.ones(len(labels)), np.ones(len(labels)), *(labels == name for name in names)])
        folds = np.stack([rows * (self.fold == fold) for fold in (0, 1)])  # (fold, relation, word)
        right = (self.guesses == governors).astype(float)
        by_offset = np.stack([self.place + offset == governors for offset in OFFSETS]).astype(float)
        settings, options = {"mode": "corrected"}, {"view": "function-heads"}
        provenance = {"settings": settings, "corpus": {"name": "random"}, "options": options}
        correct = np.einsum("dlhw,frw->fdrlh", right, folds, optimize=True).round().astype(int)
        offset_correct = (by_offset @ rows.T).astype(int)
        relations = ["all", "UAS", *map(str, names)]
        # Sums by sentence, which are the units: words (relation, sentence), right guesses (..., relation, sentence)
        n = rows.reshape(len(rows), -1, LENGTH).sum(-1)
        fold = np.arange(n.shape[1]) % 2 == np.arange(2)[:, None]
        of_heads = np.einsum(
            "dlhsw,rsw->dlhrs", *(each.reshape(*each.shape[:-1], -1, LENGTH) for each in (right, rows))
        )
        of_offsets = np.einsum(
            "osw,rsw->ors", *(each.reshape(*each.shape[:-1], -1, LENGTH) for each in (by_offset, rows))
        )
        heads = [np.stack([(each * fold[i]).sum(-1) for i in (0, 1)]) for each in (n * of_heads, of_heads**2)]
        units = [np.stack([(each * fold[i]).sum(-1) for i in (0, 1)]) for each in (n > 0, n * n)]
        return RelationCounts(
            provenance,
            relations,
            folds.sum(2).astype(int),
            correct,
            OFFSETS,
            offset_correct,
            unit_moments=np.stack(units),
            head_moments=np.moveaxis(np.stack(heads), -1, 3),
            offset_moments=np.stack([(n * of_offsets).sum(-1), (of_offsets**2).sum(-1)]),
        )


@pytest.mark.parametrize("sentences", [8, 60])
def test_shuffled_treebanks(sentences):
    chance, shown = np.random.default_rng(sentences), Counter()
    for _ in range(SHUFFLES):
        treebank = Treebank.of(sentences, chance)
        words = len(treebank.place)
        labels = chance.zipf(1.6, words).clip(max=40)  # some relations have one word, some hundreds
        counts = treebank.counts(chance.integers(0, LENGTH, words), labels)
        shown.update(each.id for each in ANALYSES["dependency_heads"].findings(counts) if each.state == SHOWN)
        shown["marked"] += bool((decide(counts.gain()) == SHOWN)[2:].any())
    del shown[TRUE_BY_CHANCE]
    assert max(shown.values(), default=0) <= ALLOWED * SHUFFLES, shown


def test_a_head_that_finds_a_relation_is_shown():
    chance = np.random.default_rng(3)
    treebank = Treebank.of(60, chance)
    governors, labels = chance.integers(0, LENGTH, len(treebank.place)), chance.integers(0, 6, len(treebank.place))
    planted = treebank.guesses.copy()
    planted[0, 2, 3] = np.where(labels == 4, governors, planted[0, 2, 3])
    counts = Treebank(planted, treebank.place, treebank.fold).counts(governors, labels)
    relation = ANALYSES["dependency_heads"].findings(counts)[0]
    assert relation.state == SHOWN and relation.head == (2, 3) and " 4 (95%" in relation.sentence


def chains(documents: int, items: int, chance: np.random.Generator, planted: float = 0.0) -> AntecedentCounts:
    """Heads and baselines that guess among three candidates of shuffled chains, right alike and at random; one head is
    right in a further share of the items."""
    n = documents * items
    right = chance.random((2, LAYERS, HEADS, n)) < 1 / 3
    right[0, 1, 2] |= chance.random(n) < planted
    systems = chance.random((len(BASELINES), n)) < 1 / 3
    fold = np.repeat(np.arange(documents) % 2, items)
    document = np.repeat(np.arange(documents), items)
    group = (np.arange(GROUPS) == fold[:, None]).astype(int)  # (item, group): all of the first type
    row = by_row(group).T
    n = by_document(row, document)  # (row, document) items
    heads, of_systems = (by_document(each[..., None, :] * row, document) for each in (right, systems))
    moments = [np.stack([(n * c).sum(-1), (c * c).sum(-1)]) for c in (heads, of_systems)]
    exact = np.full((2, 1, len(document)), 1 / 3)
    return CoreferenceHeads(
        {"settings": {"mode": "corrected"}, "model": {"causal": False}, "options": {}},
        correct=np.moveaxis(right.astype(int) @ group, -1, 1)[:, None],
        group_n=group.sum(0),
        systems=list(BASELINES),
        system_correct=systems @ group,
        chance=exact @ group,
        moments=moments[0][:, :, None],
        system_moments=moments[1],
        item_moments=np.stack([(n > 0).sum(-1), (n * n).sum(-1)]),
        single=0,
        first_documents=[],
        items=np.zeros((0, 5), dtype=int),
        guess=np.zeros((2, LAYERS, HEADS, 0)),
        weight=np.zeros((2, LAYERS, HEADS, 0)),
    ).default_view()


def by_document(values: np.ndarray, document: np.ndarray) -> np.ndarray:
    """(..., document) sums of (..., item), the items of a document one after the other."""
    return values.reshape(*values.shape[:-1], document.max() + 1, -1).sum(-1)


CLOSE_BY_CHANCE = "coreference_heads.rule_based"  # as good as each other, heads and rules are close


@pytest.mark.parametrize(("documents", "items"), [(10, 3), (40, 20)])
def test_shuffled_chains(documents, items):
    chance, shown = np.random.default_rng(items), Counter()
    for _ in range(SHUFFLES):
        counts = chains(documents, items, chance)
        shown.update(each.id for each in ANALYSES["coreference_heads"].findings(counts) if each.state == SHOWN)
        shown["marked"] += bool(decide(counts.gain("nearest")) == SHOWN)
        shown["random"] += bool(decide(counts.gain(RANDOM)) == SHOWN)
        shown["linguistic"] += counts.finds_antecedents()
    del shown[CLOSE_BY_CHANCE]
    assert max(shown.values(), default=0) <= ALLOWED * SHUFFLES, shown


def test_a_head_that_finds_antecedents_is_shown():
    found = ANALYSES["coreference_heads"].findings(chains(40, 20, np.random.default_rng(5), planted=0.5))
    assert [finding.state for finding in found] == [SHOWN] * 2
    assert all(finding.head == (1, 2) for finding in found)
    assert ", head match " in found[0].sentence
