"""Dependency heads: which head finds which relation, in which direction (4.2; Table 1).

Definitions: docs/methods.md, section 6.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from bertviz_core.analyses.dependency_heads.gold_trees import SIDES, Rules, view_of_side
from bertviz_core.analyses.dependency_heads.guesses import MAX_SENTENCES, OFFSETS, UNIT, Guesses
from bertviz_core.analyses.dependency_heads.relations import ALL, UAS
from bertviz_core.analyses.dependency_heads.result import VIEWS, DependencyHeads, by_size, sentence_record
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.treebank import POSSESSIVES
from bertviz_core.models.annotated import Sentences
from bertviz_core.models.model import AttentionModel

RELEASE_POSSESSIVES = ("'s", "s'")


def accumulator(model: AttentionModel, request: Request) -> Guesses:
    """The accumulator for one pass; mode "as in the paper" takes first pieces and the release's `poss` rule.

    Option `possessives`: apply that rule in corrected mode too.
    """
    words = POSSESSIVES if request.options.get("possessives") else ()
    possessives = RELEASE_POSSESSIVES if request.settings.paper else words
    rules = Rules(VIEWS, possessives, request.settings.paper, model.causal)
    return Guesses(rules, model.layers, model.heads, model.device)


def finish(accumulator: Guesses, examples: Sentences, provenance: dict[str, Any]) -> DependencyHeads:
    """The result, with the first sentences and the guesses made in them."""
    values = {name: value.cpu().numpy() for name, value in accumulator.counts().items()}
    names, rows = _rows_of(list(accumulator.names), values["n"].sum(1), accumulator.rules.causal)
    sums = {name: np.stack([value[row].sum(0) for row in rows], 1) for name, value in values.items()}
    random = sums.pop("random").sum(0) / UNIT
    counts = {name: value.astype(np.int32) for name, value in sums.items()}
    numbers = [number for number in sorted(accumulator.by_sentence) if number < MAX_SENTENCES]
    sentences, joined = [accumulator.by_sentence[number][0] for number in numbers], accumulator.joined(numbers)
    longest = max(map(len, sentences), default=0)
    return DependencyHeads(
        provenance=provenance,
        views=[view for view, _ in names],
        relations=[relation for _, relation in names],
        n=counts["n"],
        correct=counts["correct"].swapaxes(1, 2),
        offsets=OFFSETS,
        offset_correct=counts["offsets"].sum(0).T,
        sentences=list(map(sentence_record, sentences)),
        guesses=joined["guesses"].astype(np.uint8 if longest <= 256 else np.uint16),
        weights=joined["weights"],
        **accumulator.classes.values(),
        random_correct=random if accumulator.rules.causal else None,
    )


def _rows_of(
    names: Sequence[tuple[str, str]], n: np.ndarray, causal: bool
) -> tuple[list[tuple[str, str]], list[list[int]]]:
    """The rows of the result, (view, relation), and which of the accumulator's `names` add up to each. Of a causal
    model the words of each of SIDES have views of their own, with the same relations."""
    rows: dict[tuple[str, str], list[int]] = {}
    for view in VIEWS:
        parts = (view, *(view_of_side(view, side) for side in SIDES if causal))
        members: dict[str, list[int]] = {}
        for row, (part, name) in enumerate(names):
            if part in parts:
                members.setdefault(name, []).append(row)
        order = by_size(list(members), np.array([n[own].sum() for own in members.values()]))
        for part in parts:
            of_part = {name: [row for row in own if part in (view, names[row][0])] for name, own in members.items()}
            rows[part, ALL] = list(chain.from_iterable(of_part.values()))
            counted = (own for name, own in of_part.items() if name.split(":")[0] != "punct")
            rows[part, UAS] = list(chain.from_iterable(counted))
            rows |= {(part, name): of_part[name] for name in order}
    return list(rows), list(rows.values())
