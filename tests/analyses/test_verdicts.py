"""Verdicts hold: on labels that were permuted at random, best heads are not said to be above a baseline."""

import os
from dataclasses import replace

import numpy as np
import pytest

from bertviz_core.analyses.dependency_heads.guesses import FOLDS
from bertviz_core.analyses.dependency_heads.relations import ALL, UAS, ShownRelations
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import find
from bertviz_core.corpora.files import sample
from bertviz_core.engine.store import Store
from bertviz_core.models.checkpoint import find as find_model

PERMUTATIONS = int(os.environ.get("BERTVIZ_PERMUTATIONS", "8"))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> ShownRelations:
    """The demo model on the sample treebank, as the page shows it at first."""
    store = Store(tmp_path_factory.mktemp("verdicts") / "store")
    found = find(store, Request("dependency_heads", find_model("demo"), sample("treebank")))
    assert found is not None
    shown: ShownRelations = found.show_default()
    return shown


def permuted(result: ShownRelations, chance: np.random.Generator) -> ShownRelations:
    """The counts where the relations of all words of the treebank change places at random, roots and punctuation aside;
    governors and guesses stay, so that every relation becomes a random sample of words."""
    rows_of = {name: row for row, name in enumerate(result.relations) if name not in (ALL, UAS)}
    words = [(s, i) for s in result.sentences for i, name in enumerate(s["relations"]) if name not in ("root", "punct")]
    labels = chance.permutation([s["relations"][i] for s, i in words])
    n, correct, by_offset = result.n.copy(), result.correct.copy(), result.offset_correct.copy()
    for row in (row for name, row in rows_of.items() if name != "punct"):
        n[:, row], correct[:, :, row], by_offset[:, row] = 0, 0, 0
    starts = dict(
        zip(
            (s["number"] for s in result.sentences),
            np.cumsum([0, *(len(s["words"]) for s in result.sentences)]).tolist(),
            strict=False,
        )
    )
    for (sentence, i), label in zip(words, labels.tolist(), strict=True):
        if label in rows_of:
            row, fold, governor = rows_of[label], sentence["number"] % FOLDS, sentence["governors"][i]
            n[fold, row] += 1
            correct[fold, :, row] += result.guesses[..., starts[sentence["number"]] + i] == governor - 1
            by_offset[:, row] += np.clip(i + 1 + result.offsets, 0, len(sentence["words"])) == governor
    return replace(result, n=n, correct=correct, offset_correct=by_offset)


def test_permuted_labels_give_at_most_five_percent_verdicts(stored: ShownRelations) -> None:
    chance, verdicts, families, in_sample = np.random.default_rng(16), [], 0, []
    for _ in range(PERMUTATIONS):
        other = permuted(stored, chance)
        frame = other.to_frame()
        frame = frame[~frame["relation"].isin((ALL, UAS, "punct"))]
        verdicts += frame["above_baseline"].tolist()
        families += bool(frame["above_baseline"].any())
        in_sample += (frame["low"] > frame["baseline_accuracy"]).tolist()
    print(
        f"{np.mean(verdicts):.2%} of {len(verdicts)} rows, {families} of {PERMUTATIONS} permutations; "
        f"on the same words {np.mean(in_sample):.2%}"
    )
    assert np.mean(verdicts) <= 0.05
    assert families <= 0.05 * PERMUTATIONS + 1
