"""The groups that items are counted in, so that no count ever grows with the corpus.

An item is in one of the 3 types x 2 folds (the parity of its document's number), in one bin of distance, and, if it is
a pronoun that tells a gender, in that gender's group. One axis holds them all: (group,).
"""

from __future__ import annotations

import numpy as np

from bertviz_core.corpora.coreference.agreement import pronoun_gender
from bertviz_core.corpora.coreference.head_words import TYPES, mention_type
from bertviz_core.models.windows import Window

FOLDS = 2
BINS = (5, 10, 20, 40, 80)  # last distance, in words, of each bin but the last
BIN_NAMES = ("1-5", "6-10", "11-20", "21-40", "41-80", "81+")
GENDERS = ("masculine", "feminine", "neuter")
DISTANCE = len(TYPES) * FOLDS  # where the bins begin
GENDER = DISTANCE + len(BIN_NAMES)
GROUPS = GENDER + len(GENDERS)
TYPE_ROWS = ("all", *TYPES)
BREAKDOWNS = {"distance": (slice(DISTANCE, GENDER), BIN_NAMES), "gender": (slice(GENDER, GROUPS), GENDERS)}


def groups_of(window: Window) -> np.ndarray:
    """(item, group) bool."""
    document, heads = window.document, window.heads
    members = np.zeros((len(window.items), GROUPS), dtype=bool)
    for row, item in enumerate(window.items):
        head = heads[item.mention]
        kind = mention_type(document, head)
        distance = min(abs(head - heads[antecedent]) for antecedent in item.antecedents)
        members[row, kind * FOLDS + document.number % FOLDS] = True
        members[row, DISTANCE + int(np.searchsorted(BINS, distance))] = True
        gender = pronoun_gender(document.words[head]) if TYPES[kind] == "pronoun" else ""
        if gender:
            members[row, GENDER + GENDERS.index(gender)] = True
    return members


def by_type(counts: np.ndarray) -> np.ndarray:
    """(..., group) to (..., type, fold) with "all" as the first type, as TYPE_ROWS names them."""
    typed = counts[..., :DISTANCE].reshape(*counts.shape[:-1], len(TYPES), FOLDS)
    return np.concatenate([typed.sum(-2, keepdims=True), typed], -2)
