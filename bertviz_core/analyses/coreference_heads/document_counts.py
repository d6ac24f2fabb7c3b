"""Right guesses by document: mentions of one document are alike, so that intervals are over documents (docs/methods.md,
uncertainty)."""

import numpy as np

from bertviz_core.analyses.coreference_heads.guesses import BIN_NAMES, DISTANCE, FOLDS, GENDERS, TYPE_ROWS, by_type
from bertviz_core.analyses.document_sums import DocumentSums
from bertviz_core.analyses.proportions import effective_n, share, t_quantile, wilson

Sums = tuple[np.ndarray, np.ndarray, np.ndarray]  # right guesses, items, moments: see `proportions.effective_n`
TYPED = len(TYPE_ROWS) * FOLDS
ROWS = TYPED + len(BIN_NAMES) + len(GENDERS)
# Of the last axis of `pooled`.
COLUMNS = {
    "type": slice(0, len(TYPE_ROWS)),
    "distance": slice(len(TYPE_ROWS), len(TYPE_ROWS) + len(BIN_NAMES)),
    "gender": slice(len(TYPE_ROWS) + len(BIN_NAMES), None),
}


class CountSums(DocumentSums):
    """Rows are counts (window, system, group), of right guesses and as the last system of all items."""

    @staticmethod
    def expanded(rows: np.ndarray) -> np.ndarray:
        return rows.astype(np.float64)

    @staticmethod
    def moments(sums: np.ndarray) -> np.ndarray:
        """(4, system, row) from (document, system, group): sums over documents of 1 (where n > 0), n^2, n c and c^2 for
        c right guesses among n items."""
        counts = by_row(sums)
        correct, n = counts[:, :-1], counts[:, -1:]
        shared = (np.broadcast_to(each, correct.shape) for each in (n > 0, n * n))
        return np.stack([each.sum(0) for each in (*shared, n * correct, correct * correct)])


def by_row(counts: np.ndarray) -> np.ndarray:
    """(..., group) to (..., row): each type in each fold, "all" first; then the bins of distance, then the genders."""
    typed = by_type(counts)
    return np.concatenate([typed.reshape(*typed.shape[:-2], TYPED), counts[..., DISTANCE:]], -1)


def pooled(rows: np.ndarray) -> np.ndarray:
    """(..., row) to (..., column), both folds of each type added; COLUMNS says what the columns are."""
    typed = rows[..., :TYPED].reshape(*rows.shape[:-1], len(TYPE_ROWS), FOLDS).sum(-1)
    return np.concatenate([typed, rows[..., TYPED:]], -1)


def joint(shared: np.ndarray, own: np.ndarray) -> np.ndarray:
    """(4, ..., column) moments from those of the items (2, column) and those of the right guesses (2, ..., column)."""
    middle = (1,) * (own.ndim - 2)
    return np.concatenate([np.broadcast_to(shared.reshape(2, *middle, -1), own.shape), own])


def interval_by_document(
    correct: np.ndarray, n: np.ndarray, moments: np.ndarray, comparisons: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of shares: Wilson's interval of the effective counts, with the quantile of Student's t."""
    size, freedom = effective_n(correct, n, moments)
    return wilson(share(correct, n) * size, size, t_quantile(freedom, comparisons))
