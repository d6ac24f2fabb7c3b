"""The groups that items are counted in: types of mentions, distances, genders (docs/methods.md, section 7)."""

from bisect import bisect_left
from typing import Literal, get_args

import numpy as np

from bertviz_core.corpora.coreference.mentions import PRONOUNS, TYPES, mention_type
from bertviz_core.inputs.annotated_words import DocumentWindow

# The axis of groups: 3 types x 2 folds, 3 types x the bins of distance, the genders. An item is in one group of each
# kind; in one of the genders only if it is a pronoun with that gender.
FOLDS = 2  # the two halves of a corpus, by parity of the document's number
BINS = (5, 10, 20, 40, 80)  # last distance, in words, of each bin but the last
BIN_NAMES = ("1-5", "6-10", "11-20", "21-40", "41-80", "81+")
GENDERS = ("masculine", "feminine", "neuter")
DISTANCE = len(TYPES) * FOLDS  # the number of the first type's first bin
GENDER = DISTANCE + len(TYPES) * len(BIN_NAMES)
GROUPS = GENDER + len(GENDERS)
TypeRow = Literal["all", "pronoun", "proper", "nominal"]
TYPE_ROWS: tuple[str, ...] = get_args(TypeRow)  # "all", then TYPES
TYPE_NAMES = {"all": "mentions", "pronoun": "pronouns", "proper": "proper names", "nominal": "nominal mentions"}
BREAKDOWNS = {"distance": BIN_NAMES, "gender": GENDERS}

TYPE_ROW_COUNT = len(TYPE_ROWS) * FOLDS  # the number of rows of types, see `by_row`
# Columns of `pooled`, its last axis: the types, then the bins of distance of each of TYPE_ROWS, then the genders.
COLUMN_ENDS = np.cumsum([len(TYPE_ROWS), len(TYPE_ROWS) * len(BIN_NAMES), len(GENDERS)]).tolist()
COLUMNS = {
    "type": slice(0, COLUMN_ENDS[0]),
    "distance": slice(COLUMN_ENDS[0], COLUMN_ENDS[1]),
    "gender": slice(COLUMN_ENDS[1], COLUMN_ENDS[2]),
}


def columns_of(breakdown: str, kind: str = "all") -> slice:
    """The columns of `pooled` of "type" or of one of BREAKDOWNS; those by distance are of one of TYPE_ROWS."""
    if breakdown != "distance":
        return COLUMNS[breakdown]
    start = COLUMNS["distance"].start + TYPE_ROWS.index(kind) * len(BIN_NAMES)
    return slice(start, start + len(BIN_NAMES))


def groups_of(window: DocumentWindow) -> np.ndarray:
    """(item, group) bool: the groups of each of a window's items."""
    document = window.document
    fold = document.number % FOLDS
    members = np.zeros((len(window.items), GROUPS), dtype=bool)
    for row, item in zip(members, window.items, strict=True):
        head = window.heads[item.mention]
        kind = mention_type(document, head)
        distance = min(abs(head - window.heads[mention]) for mention in item.antecedents)
        row[kind * FOLDS + fold] = True
        row[DISTANCE + kind * len(BIN_NAMES) + bisect_left(BINS, distance)] = True
        pronoun = PRONOUNS.get(document.words[head].lower())
        if TYPES[kind] == "pronoun" and pronoun and pronoun.gender:
            row[GENDER + GENDERS.index(pronoun.gender)] = True
    return members


def by_row(counts: np.ndarray) -> np.ndarray:
    """Counts (..., group) as (..., row): each of TYPE_ROWS in each fold; then each in each bin of distance; the
    genders."""
    rows = []
    for of_types, parts in ((counts[..., :DISTANCE], FOLDS), (counts[..., DISTANCE:GENDER], len(BIN_NAMES))):
        by_type = of_types.reshape(*of_types.shape[:-1], len(TYPES), parts)
        rows += [by_type.sum(-2), of_types]
    return np.concatenate([*rows, counts[..., GENDER:]], -1)


def pooled(rows: np.ndarray) -> np.ndarray:
    """Counts (..., row) as (..., column), both folds of each type added; see COLUMNS."""
    by_fold = rows[..., :TYPE_ROW_COUNT].reshape(*rows.shape[:-1], -1, FOLDS)
    return np.concatenate([by_fold.sum(-1), rows[..., TYPE_ROW_COUNT:]], -1)
