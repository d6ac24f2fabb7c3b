"""The chosen head and the heads that attend most like it, as a table."""

import pandas as pd

from bertviz_core.analyses.base.registry import display_label
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.heads import Head
from bertviz_core.plotting import BEHAVIORS


def nearest_title(head: Head) -> str:
    """The title of the heads that are most like a head."""
    return f"Head {head.label()} and the most similar heads"


def nearest_table(result: Clustering, head: Head) -> pd.DataFrame:
    """A row for the head and for each of its nearest heads: the divergence, the behavior, and what that rests on."""
    rows = []
    for other, divergence in [(head, 0.0), *result.nearest(head)]:
        row = {
            "head": other.label(),
            f"divergence, {result.unit}": divergence,
            "behavior": BEHAVIORS[result.behaviors[other]][-1],
        }
        for name in result.present:
            row[display_label(name)] = float(result[name][other])
        rows.append(row)
    return pd.DataFrame(rows)
