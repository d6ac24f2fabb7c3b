"""Parts of the clustering page: thresholds of behaviors, and the heads most like the chosen one."""

from dataclasses import asdict

import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.behaviors import Thresholds
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.registry import label
from bertviz_core.plotting.style import BEHAVIORS
from pages.shared.frame import choices
from pages.shared.frame.selection import Selection, head_options
from pages.shared.memoize import memoize


def pictured(result: Clustering, root: bool = False) -> Clustering:
    """The result with its embedding in two dimensions, of divergences or of their roots."""
    with st.spinner("Computing the embedding"):
        return memoize(Clustering.embedded, result, result.mds_seed, root)


def thresholds(result: Clustering) -> Thresholds:
    """Sliders in a popover for what the result has; only labels change with them."""
    with st.popover("Behavior thresholds", icon=":material/tune:", key="thresholds", on_change="rerun"):
        st.caption("A head has a behavior if its average exceeds the threshold; if several apply, the last one counts.")
        chosen = ((name, default) for name, default in asdict(Thresholds()).items() if name in result.present)
        return Thresholds(**{name: _slider(name, default) for name, default in chosen})


def _slider(name: str, default: float) -> float:
    if name == "entropy":
        return choices.slider("entropy, nats", 0.0, 7.0, default, 0.05, key=f"over-{name}")
    return choices.slider(f"attention: {BEHAVIORS[name][-1]}", 0.0, 1.0, default, 0.05, key=f"over-{name}")


def papers_heads(selection: Selection) -> dict[str, str] | None:
    """The paper's linguistic heads, if the paper's model is chosen and the switch is on; else None."""
    has_them = set(paper.LINGUISTIC_HEADS) <= set(head_options(selection.checkpoint))
    if not has_them or "bert-base" not in selection.checkpoint.name:
        return None
    return paper.LINGUISTIC_HEADS if choices.toggle("Mark the paper's linguistic heads", key="marked") else None


def neighbors(result: Clustering, selection: Selection) -> None:
    """The chosen head, and under it the heads of least divergence from it, with their behaviors."""
    st.header(f"Head {selection.label} and the most similar heads")
    rows = [
        {
            "head": head.label(selection.base),
            f"divergence, {result.unit}": f"{value:.4g}",
            "behavior": BEHAVIORS[result.behaviors[head]][-1],
        }
        | {label(name): f"{result[name][head]:.3f}" for name in result.present}
        for head, value in [(selection.head, 0.0), *result.nearest(selection.head)]
    ]
    alt = f"Head {selection.label} and the heads with the smallest divergence from it"
    st.dataframe(rows, hide_index=True, alt=alt)
