"""The metrics of a HeadVis export as a map of heads: uploaded, drawn, and not stored."""

from dataclasses import replace

import streamlit as st

from bertviz_core.errors import InputError
from bertviz_core.head_atlas import headvis_reading
from pages.shared import messages, page
from pages.shared.messages import plain
from pages.shared.state.selection import Basis, Selection


def draw(selection: Selection) -> None:
    """Draw the choice of a file, then the map of one of its metrics with its source."""
    label = "scatter_data.json of a HeadVis export, such as those that Neuronpedia publishes; it is not stored"
    file = st.file_uploader(label, type="json", key="headvis-file")
    if file is None:
        return
    try:
        found = headvis_reading.read(file.getvalue(), file.name)
    except InputError as problem:
        messages.error(problem)
        return
    metric = st.selectbox("Metric", [*found.metrics], width=280, key="headvis-metric")
    if metric is None:
        return
    alt = f"Map of all heads, layer by head, of the metric {metric}"
    basis = Basis(found.source, "headvis", metric)
    own = replace(selection, basis=basis)
    page.head_map(found.map_of(metric), "headvis-map", alt, own, lines=b"", ringed=False)
    st.caption(f"{plain(found.source)}. Their definitions differ from those of pages here: docs/atlas.md.")
    model = selection.checkpoint
    if found.shape != (model.layers, model.heads):
        st.caption(plain(f"{model.label} has {model.layers} × {model.heads} heads: a click chooses one of its own."))
