"""The choice of two stored runs, and the parts of the page that compares them."""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import numpy as np
import streamlit as st

from bertviz_core.analyses.proportions import ALPHA
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Result
from bertviz_core.comparison import Comparison, compare
from bertviz_core.comparison.change import Change
from bertviz_core.emergence.series import REQUIRED, checkpoint_names
from bertviz_core.heads import Head, all_heads
from bertviz_core.models import sources
from bertviz_core.models.checkpoint import DEMO, Checkpoint, short_names
from bertviz_core.numbers import number, p_value
from bertviz_core.plotting.head_map import value_map
from bertviz_core.plotting.style import DIVERGING, SEQUENTIAL
from bertviz_core.settings import Settings
from pages.shared import page, preview, services, stored
from pages.shared.frame import address, choices, uploads
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import probe_files

SHOWN = 15  # heads in the table
BEST = {"n_a": "n, A", "head_a": "best in A", "a": "A", "n_b": "n, B", "head_b": "best in B", "b": "B"}
BEST |= {"difference": "B − A", "low": "from", "high": "to"}  # the 95% interval's ends
Runs = dict[str, str]  # address -> name


def choose(selection: Selection) -> tuple[Result, Result]:
    """Draw the choice of an analysis and of two of its runs, at first of the chosen model; the page stops if
    there are fewer than two.

    Returns:
        The results of A and B.
    """
    known = _comparable(selection)
    if not known:
        st.info("No analysis has two stored results yet. Analyze in two modes, with norms, or with two models.")
        address.stop()
    analysis = _pick("analysis", {name: ANALYSES[name].title for name in known}, 0, 175)
    a, b = (_pick(label, known[analysis], default, 225) for label, default in (("a", 0), ("b", 1)))
    return _result(analysis, a), _result(analysis, b)


def default_head(selection: Selection) -> Head | None:
    """The head that changed most in what the page is about to show, where the chosen model has heads so numbered."""
    known = _comparable(selection)
    if not known:
        return None
    analysis = _ahead("analysis", known, 0)
    a, b = (_found(analysis, _ahead(name, known[analysis], default)) for name, default in (("a", 0), ("b", 1)))
    if a is None or b is None or not (comparison := memoize(compare, a, b)).changes:
        return None
    quantity = _ahead("compared", comparison.a, list(comparison.a).index(_opening(comparison)))
    return memoize(_changed_most, comparison, quantity, selection.checkpoint.layers, selection.checkpoint.heads)


def _ahead(name: str, options: Mapping[str, Any], default: int) -> str:
    """What a choice among options is about to be."""
    keys = list(options)
    chosen = choices.ahead(name, keys[default])
    return chosen if chosen in options else keys[default]


def _changed_most(comparison: Comparison, quantity: str, layers: int, heads: int) -> Head | None:
    moved = comparison.changes[quantity].by_size() if quantity in comparison.changes else []
    return next((head for head in moved if head in all_heads(layers, heads)), None)


def _comparable(selection: Selection) -> dict[str, Runs]:
    """Analysis -> its runs, where there are two."""
    return {name: runs for name in ANALYSES if len(runs := _runs(name, selection.checkpoint)) > 1}


def _pick(name: str, options: Mapping[str, str], default: int, width: int) -> str:
    """A choice among options (address -> label) that the address always has: the first runs change with the store."""
    label = name.upper() if len(name) == 1 else name.capitalize()
    keys = list(options)
    chosen = choices.selectbox(
        label, keys, key=name, default=keys[default], format_func=options.__getitem__, width=width
    )
    address.put(name, chosen)
    return chosen


def _runs(analysis: str, chosen: Checkpoint) -> Runs:
    """Address -> name of what this reader may see: own models and corpora, the samples, and the training that ships.
    Those of the chosen model come first, then those of the demo model; of these the plain ones, and mode paper last: it
    differs least."""
    corpora, access = _corpora(analysis), services.access()
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
    return runs | checkpoint_names(services.shipped_emergence(), analysis)


def _corpora(analysis: str) -> dict[str, str]:
    """Digest -> name of what this reader may see: corpora, and the further files of probes."""
    kinds = (kind for *_, kind in probe_files.FILES.values())
    files = {upload.digest: upload.name for kind in kinds for upload in uploads.visible(kind).values()}
    return files | stored.names(ANALYSES[analysis].corpus)


def _name(origin: dict[str, Any], model: str, corpora: dict[str, str]) -> str:
    """The name of a run, as "demo, norms on encyclopedia": what differs from the defaults is named."""
    usual = Settings(weights="norms").to_json() | {"weights": "attention"}
    settings = {"weights": "attention"} | origin["settings"]
    words = {"mode": "mode {}", "max_length": "at most {} tokens", "limit": "{} inputs", "seed": "seed {}"}
    different = [words.get(k, "{}").format(v) for k, v in settings.items() if v != usual[k]]
    different += [f"{name.replace('_', ' ')} {value}" for name, value in origin["options"].items()]
    different += [f"{role} {corpora[other['digest']]}" for role, other in origin.get("others", {}).items()]
    return f"{', '.join([model, *different])} on {corpora[origin['corpus']['digest']]}"


def _found(analysis: str, run_address: str) -> Result | None:
    """A run's result; None where it is no longer in the store."""
    if run_address in checkpoint_names(services.shipped_emergence(), analysis):
        return services.checkpoint_run(run_address, analysis)
    key = next((run.key for run in services.runs() if run.key.startswith(run_address)), "")
    return services.run(key, analysis, tuple(_corpora(analysis).items())) if key else None


def _result(analysis: str, run_address: str) -> Result:
    if (result := _found(analysis, run_address)) is None:
        services.runs.clear()  # which had it a few seconds ago
        st.info("This run is no longer in the store. Choose another one, or run its analysis again.")
        address.stop()
    return result


def quantity(comparison: Comparison) -> str:
    """The choice of the quantity that is shown, at first the one in which the most heads differ."""
    look: dict[str, Any] = {"format_func": comparison.label, "width": 230, "default": _opening(comparison)}
    return choices.selectbox("Quantity", list(comparison.a), key="compared", follows=True, **look)


def _opening(comparison: Comparison) -> str:
    marked = {key: int(change.marked.sum()) for key, change in comparison.changes.items()}
    return max(comparison.a, key=lambda key: marked.get(key, 0))


def notes(comparison: Comparison) -> None:
    """What a reader must know before believing a difference, and where no checkpoints are offered, why."""
    st.caption(plain(" ".join(comparison.notes)))
    if not checkpoint_names(services.shipped_emergence(), comparison.compared):
        titles = ", ".join(ANALYSES[name].title for name in REQUIRED)
        st.caption(f"Of its checkpoints a training stores only {titles}, so none can be compared here.")


def numbers(change: Change, selection: Selection) -> list[tuple[str, str, str]]:
    """(label, value, beside it): both means, how many heads differ, the chosen head."""
    marked, tested = str(int(change.marked.sum())), f"of {change.a.size}, adjusted p < {ALPHA}"
    if change.untested:
        marked, tested = "–", "not tested"
    entries = [
        ("Mean over heads, A", number(float(np.nanmean(change.a))), ""),
        ("Mean over heads, B", number(float(np.nanmean(change.b))), ""),
        ("Heads that differ", marked, tested),
    ]
    if selection.head in all_heads(*change.a.shape):
        difference = number(float(change.difference[selection.head]))
        entries.append((f"Head {selection.label}, B − A", difference, _interval(change, selection.head)))
    return entries


def _interval(change: Change, head: Head) -> str:
    """The 95% interval of one head's difference, where it is known."""
    return "" if np.isnan(change.low[head]) else f"{number(change.low[head])} to {number(change.high[head])}"


def maps(comparison: Comparison, key: str, selection: Selection) -> None:
    """A and B on one scale, and B - A on a diverging scale centered on 0."""
    change = comparison.changes[key]
    low, high = (float(end([change.a, change.b])) for end in (np.nanmin, np.nanmax))
    limits, largest = (min(0.0, low), high), float(np.nanmax(np.abs(change.difference))) or 1.0
    shown = (
        ("a", f"A: {comparison.names[0]}", limits, SEQUENTIAL),
        ("b", f"B: {comparison.names[1]}", limits, SEQUENTIAL),
        ("difference", "B − A", (-largest, largest), DIVERGING),
    )
    for column, (name, title, ends, scale) in zip(st.columns(3, gap="medium"), shown, strict=True):
        with column:
            st.markdown(f"**{plain(title)}**")
            values, label = getattr(change, name), comparison.label(key)
            described = memoize(value_map, values, label, base=selection.base, limits=ends, scale=scale)
            alt = f"Map of all heads, layer by head: {title}, {label}"
            lines = preview.of_run(comparison.provenance if name == "a" else comparison.other, selection)
            page.head_map(described, f"compare-map-{name}", alt, selection, lines=lines)


def table(change: Change, selection: Selection) -> None:
    """The heads with the largest differences; a check mark where the difference is marked."""
    rows = []
    for head in change.by_size()[:SHOWN]:
        shown, p = {"A": change.a, "B": change.b, "B − A": change.difference}, p_value(change.p[head])
        rows.append(
            {"head": head.label(selection.base)}
            | {name: number(float(values[head])) for name, values in shown.items()}
            | {"95% interval": _interval(change, head) or "–"}
            | {"p": p.removeprefix("= "), "differs": "✓" if change.marked[head] else ""}
        )
    st.dataframe(rows, hide_index=True, height="content", alt="Heads by the size of their difference")


def best(comparison: Comparison) -> None:
    """The best head of every quantity in A and in B, and the difference of the two."""
    frame = comparison.tables()["best"]
    frame["quantity"] = frame["quantity"].map(comparison.label)
    formats = {
        name: st.column_config.NumberColumn(label, format="%.3g") if frame[name].dtype.kind == "f" else label
        for name, label in BEST.items()
        if name in frame
    }
    st.dataframe(
        frame,
        hide_index=True,
        column_config=formats,
        alt="For each quantity the head with the highest value in A and B",
    )
