"""Parts of the clustering page: thresholds of behaviors, and the heads most like the chosen one."""

from __future__ import annotations

from dataclasses import asdict

import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.behaviors import QUANTITIES, Thresholds
from bertviz_core.analyses.clustering.hover import unit_of
from bertviz_core.analyses.clustering.result import Closeness, Clustering
from bertviz_core.heads import Head, all_heads
from bertviz_core.plotting.style import BEHAVIORS
from pages.shared.derived import derived
from pages.shared.frame import choices
from pages.shared.frame.selection import Selection, head_options


def labeled(result: Clustering, thresholds: Thresholds, named: tuple[tuple[str, str], ...]) -> Clustering:
    """`Clustering.labeled`, of values that can be compared."""
    return result.labeled(thresholds, dict(named))


def pictured(result: Clustering, root: bool = False) -> Clustering:
    """The result with its embedding in two dimensions, of divergences or of their roots."""
    with st.spinner("Computing the embedding"):
        return derived(Clustering.embedded, result, result.mds_seed, root)


def summary(result: Clustering) -> tuple[Closeness, tuple[Head, Head, float] | None]:
    """How close heads of one layer are; and the two heads most alike, with their divergence."""
    return result.closeness, closest_pair(result)


def closest_pair(result: Clustering) -> tuple[Head, Head, float] | None:
    """The two heads most alike, with their divergence; None for a model of one head."""
    pairs = ((head, *near) for head in all_heads(*result.shape) for near in result.nearest(head, 1))
    return min(pairs, key=lambda pair: pair[2], default=None)


def thresholds() -> Thresholds:
    """Sliders in a popover; only labels change with them."""
    with st.popover("Behavior thresholds", icon=":material/tune:"):
        st.caption("A head has a behavior if its average exceeds the threshold; if several apply, the last one counts.")
        return Thresholds(**{name: _slider(name, default) for name, default in asdict(Thresholds()).items()})


def _slider(name: str, default: float) -> float:
    if name == "entropy":
        return choices.slider("entropy, nats", 0.0, 7.0, default, 0.05, key=f"over-{name}")
    return choices.slider(f"attention: {BEHAVIORS[name][-1]}", 0.0, 1.0, default, 0.05, key=f"over-{name}")


def papers_heads(selection: Selection) -> dict[str, str] | None:
    """The paper's linguistic heads, for the paper's model and where the reader wants them."""
    has_them = set(paper.LINGUISTIC_HEADS) <= set(head_options(selection.checkpoint))
    if not has_them or "bert-base" not in selection.checkpoint.name:
        return None
    return paper.LINGUISTIC_HEADS if choices.toggle("Mark the paper's linguistic heads", key="marked") else None


def neighbors(result: Clustering, selection: Selection) -> None:
    """The chosen head, and under it the heads of least divergence from it, with their behaviors."""
    st.subheader(f"Head {selection.label} and the most similar heads")
    rows = [
        {
            "head": head.label(selection.base),
            f"divergence, {unit_of(result)}": f"{value:.4g}",
            "behavior": BEHAVIORS[result.behaviors[head]][-1],
        }
        | {name.replace("_", " "): f"{result[name][head]:.3f}" for name in QUANTITIES}
        for head, value in [(selection.head, 0.0), *result.nearest(selection.head)]
    ]
    alt = f"Head {selection.label} and the heads with the smallest divergence from it"
    st.dataframe(rows, hide_index=True, alt=alt)
