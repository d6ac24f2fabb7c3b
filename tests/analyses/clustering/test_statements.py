"""What decides whether heads of one layer, or with one behavior, are alike."""

from dataclasses import replace

import numpy as np
import pytest

from bertviz_core.analyses.base.findings import SHOWN, UNDECIDED
from bertviz_core.analyses.clustering.statements import alike, layers_are_alike, within_and_between
from tests.oracles import clustering as reference
from tests.support.clusterings import on_a_line


def test_means_within_and_between_layers() -> None:
    result = on_a_line(np.random.default_rng(0).normal(size=6), (2, 3))
    expected = reference.closeness(result.divergence, result.shape[1])
    assert within_and_between(result.divergence, result.layers) == pytest.approx(expected)


def test_layers_that_lie_apart_are_clusters_and_layers_that_overlap_are_not() -> None:
    within_a_layer = np.arange(6) / 100
    apart = on_a_line(np.concatenate([within_a_layer, within_a_layer + 0.5]), (2, 6))
    answer = layers_are_alike(apart)
    assert answer.state == SHOWN
    # The mean of |i - j| over pairs of 0 to 5 is 7/3.
    assert answer.sentence.startswith("Two heads of one layer differ by 0.0233 nats on average")
    overlapping = on_a_line(np.concatenate([within_a_layer, within_a_layer[::-1]]), (2, 6))
    assert layers_are_alike(overlapping).state != SHOWN


@pytest.mark.parametrize(("documents", "segments", "words"), [(1, 1, "1 passage"), (3, 30, "3 documents"), (1, 30, "")])
def test_few_documents_decide_nothing(documents: int, segments: int, words: str) -> None:
    """How alike the heads are on one sentence says nothing of another; the passages of a single text are units."""
    apart = on_a_line(np.concatenate([np.arange(6) / 100, np.arange(6) / 100 + 0.5]), (2, 6))
    few = replace(apart, provenance=apart.provenance | {"documents": documents, "segments": segments})
    answer = layers_are_alike(few)
    assert answer.state == (UNDECIDED if words else SHOWN)
    assert (f"Only {words} (too few" in answer.sentence) == bool(words)


def test_without_two_heads_of_one_label_there_is_nothing_to_compare() -> None:
    result = on_a_line(np.arange(3) / 10, (3, 1))
    with pytest.raises(KeyError):
        alike(result, np.array(["a", "b", "c"]), "of one kind", "of different kinds")
