"""What a model's stored results add up to, what is stored, and everything that is missing as one job."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core import exports, paper
from bertviz_core.analyses import runtime_estimate
from bertviz_core.analyses.behaviors import UNTRAINED, Thresholds, with_behavior
from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.model_pass import can_compute
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import passes
from bertviz_core.analyses.results import Results, corpus_size
from bertviz_core.heads import highest
from bertviz_core.overview.stored_results import SUFFIXES, summarized
from pages.shared import files, services, stored
from pages.shared.frame import catalogue
from pages.shared.frame.selection import Selection
from pages.shared.jobs import panel as job_panel
from pages.shared.jobs import reader_jobs

CLEAREST = (  # findings of single heads, for the overview
    "surface_patterns.previous",
    "surface_patterns.next",
    "surface_patterns.sink",
    "entropy.broad",
    "dependency_heads.relation",
    "coreference_heads.nearest",
)


def key_numbers(
    results: Results, labels: np.ndarray, named: Mapping[str, str], base: int
) -> list[tuple[str, str, str]]:
    """(label, this run, paper), labels (layer, head) naming behaviors."""
    rest = ", ".join(f"{(labels == name).sum()} {name}" for name in UNTRAINED)
    entries = [("Heads with a behavior", f"{with_behavior(labels)} of {labels.size}", f"and {rest}")]
    if isinstance(patterns := results.get("surface_patterns"), HeadAverages):
        head = highest(patterns["previous"])
        clearest = f"{head.label(base)}: {patterns['previous'][head]:.2f}"
        over = paper.HEADS_OVER_HALF["previous"]
        entries.append(("Previous token, clearest", clearest, f"paper: {over} heads over 0.5"))
        if "to_sep" in patterns.present:
            most = f"{patterns.layer_means('to_sep').max():.2f}"
            entries.append(("To [SEP], highest layer", most, f"paper: {max(paper.LAYER_MEANS['to_sep']):.2f}"))
    if "dependency_heads" in results or "coreference_heads" in results:
        entries.append(("Linguistic heads", str(len(named)), f"paper: names {len(paper.LINGUISTIC_HEADS)}"))
    elif isinstance(entropy := results.get("entropy"), HeadAverages):
        last = f"{entropy.layer_means('entropy')[-1]:.2f} nats"
        entries.append(("Mean entropy, last layer", last, f"paper: {paper.LAYER_MEANS['entropy'][-1]:.1f}"))
    return entries


def downloads(results: Results, thresholds: Thresholds, selection: Selection) -> None:
    """The table of all heads, as the command `overview` writes it."""
    table = summarized(results, thresholds)
    name = exports.slug(
        "overview", Path(selection.checkpoint.name).name, *sorted({o["corpus"] for o in table.origins.values()})
    )
    files.offer({s[1:].upper(): (f"{name}{s}", partial(table.to_bytes, s)) for s in SUFFIXES})


def panel(page: str, selection: Selection) -> None:
    """A row for each analysis and corpus; and what is missing, as one job."""
    table = [
        _row(selection.request(analysis.name).on(source))
        for analysis in ANALYSES.values()
        for source in stored.sources(analysis.corpus, page, selection)
    ]
    st.dataframe(table, hide_index=True, height="content", alt="Stored results by analysis and corpus")
    compute_missing(page, selection)


def _row(request: Request) -> dict[str, str]:
    result = services.find(request)
    origin = result.provenance if result is not None else {}
    lacking = "no masked-word head" if ANALYSES[request.analysis].masked_lm else "norms not known"
    return {
        "analysis": catalogue.entry(request.analysis).title,
        "corpus": request.source.name,
        "stored": "✓" if result is not None else "not yet" if can_compute(request) else lacking,
        "based on": corpus_size(origin),
    }


def compute_missing(page: str, selection: Selection) -> None:
    """What is missing as one job: the running one, or the offer to start it."""
    missing = [r for r in stored.everything(page, selection) if services.find(r) is None and can_compute(r)]
    if job_panel.is_running(reader_jobs.job(st.session_state.get("everything", "")), "Finished passes are stored."):
        return
    if not missing:
        apart = [a.title for a in ANALYSES.values() if a.cost(selection.checkpoint) > stored.MAX_COST]
        st.caption(f"All analyses are stored for these corpora. Run from its own page: {', '.join(apart)}.")
        return
    groups = passes(missing)
    st.write(
        f"{len(missing)} analyses are missing. One job runs them in {len(groups)} forward passes; analyses of one "
        "corpus share a pass. Results are stored as each pass finishes."
    )
    label = f"Run all ({runtime_estimate.text(runtime_estimate.seconds(services.store(), groups))})"
    st.button(label, type="primary", icon=":material/play_arrow:", on_click=_run_everything, args=(missing,))


def _run_everything(missing: list[Request]) -> None:
    st.session_state["everything"] = key = reader_jobs.everything_key(missing)
    reader_jobs.everything(key, missing)
