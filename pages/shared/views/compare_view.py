"""The choice of two stored runs, the head that changed most, and their maps side by side."""

from operator import itemgetter
from typing import Any

import numpy as np
import streamlit as st

from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Result
from bertviz_core.comparison import Comparison, checkpoint_names, checkpoint_result, compare
from bertviz_core.comparison.change import differences, worded
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.emergence.series import shipped
from bertviz_core.heads import Head, all_heads
from bertviz_core.models import sources
from bertviz_core.models.checkpoint import DEMO, Checkpoint, short_names
from bertviz_core.plotting import DIVERGING, SEQUENTIAL
from bertviz_core.plotting.head_map import value_map
from bertviz_core.settings import Settings
from pages.shared import page, preview, services
from pages.shared.frame import Selection, choices, uploads
from pages.shared.memoize import memoize
from pages.shared.messages import plain

FURTHER_FILES = ("treebank", "vectors")  # that probes take beside their treebank


def choose(selection: Selection) -> tuple[str, str, str] | None:
    """Draw the choice of an analysis and of two of its runs: the name and the addresses; None where none has two."""
    known = {name: runs for name in ANALYSES if len(runs := _runs(name, selection.checkpoint)) > 1}
    if not known:
        return None
    titles = {name: ANALYSES[name].title for name in known}
    first = next(iter(known))
    look: dict[str, Any] = {"format_func": titles.__getitem__, "width": 175}
    analysis = choices.selectbox("Analysis", [*known], key="analysis", default=first, **look)
    addresses = [*known[analysis]]
    look = {"format_func": known[analysis].__getitem__, "width": 225}
    a = choices.selectbox("A", addresses, key="a", default=addresses[0], **look)
    b = choices.selectbox("B", addresses, key="b", default=addresses[1], **look)
    return analysis, a, b


def choose_quantity(comparison: Comparison) -> str:
    """The choice of the quantity that is shown, at first the one in which the most heads differ."""
    marked = {key: int(change.marked.sum()) for key, change in comparison.changes.items()}
    first = max(comparison.a, key=lambda key: marked.get(key, 0))
    look: dict[str, Any] = {"format_func": comparison.label, "width": 230, "follows": True}
    return choices.selectbox("Quantity", list(comparison.a), key="compared", default=first, **look)


def default_head(selection: Selection) -> Head | None:
    """The head that changed most in what the page is about to show, where the chosen model has heads so numbered."""
    with choices.unseen():
        if (chosen := choose(selection)) is None:
            return None
        a, b = (stored_run(chosen[0], run) for run in chosen[1:])
        if a is None or b is None or not (comparison := memoize(compare, a, b)).changes:
            return None
        moved = comparison.changes[choose_quantity(comparison)].by_size()
    known = set(all_heads(selection.checkpoint.layers, selection.checkpoint.heads))
    return next((head for head in moved if head in known), None)


def _runs(analysis: str, chosen: Checkpoint) -> dict[str, str]:
    """Address -> name of what this reader may see. Runs of the chosen model come first, then those of the demo model,
    plain ones first and mode paper last, which differs least; then checkpoints of the training that ships."""
    corpora = _corpora(analysis)
    access = services.access()
    models = None if access.folders is None else {DEMO, *sources.models(access)}
    stored_runs, ranked = services.runs(), []
    shown = short_names(sorted({run.provenance["model"]["name"] for run in stored_runs}))
    for run in stored_runs:
        origin = run.provenance
        read = [origin["corpus"]["digest"], *(other["digest"] for other in origin.get("others", {}).values())]
        visible = corpora.keys() >= set(read) and (models is None or origin["model"]["name"] in models)
        if run.analysis == analysis and visible:
            name = _name(origin, shown[origin["model"]["name"]], corpora)
            changed = origin["settings"] != Settings().to_json() or bool(origin["options"])
            others = origin["model"]["fingerprint"] != chosen.fingerprint(), origin["model"]["name"] != DEMO
            ranked.append(((*others, changed, origin["settings"]["mode"] == "paper", name), run.key[:16]))
    runs = {run_address: name for (*_, name), run_address in sorted(ranked, key=itemgetter(0))}
    return runs | checkpoint_names(memoize(shipped), analysis)


def _corpora(analysis: str) -> dict[str, str]:
    """Digest -> name of what this reader may see: samples, and uploads by their earliest name, expired ones too."""
    corpus = ANALYSES[analysis].corpus
    visible = [upload for kind in (corpus, *FURTHER_FILES) for upload in uploads.visible(kind).values()]
    own = {upload.digest: upload.name for upload in reversed(visible)}
    return own | {source.digest: source.name for source in map(sample, SAMPLES[corpus])}


def _name(origin: dict[str, Any], model: str, corpora: dict[str, str]) -> str:
    """The name of a run, as "demo, norms on encyclopedia": what differs from the defaults is named."""
    usual = origin | {"settings": Settings().to_json(), "options": {}, "others": {}}
    different = [(part, own) for part, (_, own) in differences(usual, origin).items()]
    texts = [worded(part, corpora.get(identity, value)) for part, (identity, value) in different]
    return f"{', '.join([model, *texts])} on {corpora[origin['corpus']['digest']]}"


def stored_run(analysis: str, run_address: str) -> Result | None:
    """A run's result; None where it is no longer in the store."""
    training = memoize(shipped)
    if run_address in checkpoint_names(training, analysis):
        return memoize(checkpoint_result, training, analysis, run_address)
    key = next((run.key for run in services.runs() if run.key.startswith(run_address)), "")
    return services.lookup(key, analysis, _corpora(analysis)) if key else None


def maps(comparison: Comparison, key: str, selection: Selection) -> None:
    """A and B on one scale, and B - A on a diverging scale centered on 0."""
    change = comparison.changes[key]
    low, high = (float(end([change.a, change.b])) for end in (np.nanmin, np.nanmax))
    limits = (min(0.0, low), high)
    largest = float(np.nanmax(np.abs(change.difference))) or 1.0
    shown = (
        ("a", f"A: {comparison.names[0]}", limits, SEQUENTIAL),
        ("b", f"B: {comparison.names[1]}", limits, SEQUENTIAL),
        ("difference", "B − A", (-largest, largest), DIVERGING),
    )
    for column, (name, title, ends, scale) in zip(st.columns(3, gap="medium"), shown, strict=True):
        with column:
            st.markdown(f"**{plain(title)}**")
            values = getattr(change, name)
            label = comparison.label(key)
            described = memoize(value_map, values, label, base=selection.base, limits=ends, scale=scale)
            alt = f"Map of all heads, layer by head: {title}, {label}"
            lines = preview.of_run(comparison.provenance if name == "a" else comparison.other, selection)
            page.head_map(described, f"compare-map-{name}", alt, selection, lines=lines)
