"""The choice of a training for the emergence page: the shipped one, or a folder of checkpoints."""

from collections import Counter
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.analyses import runtime_estimate
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import passes
from bertviz_core.analyses.results import renamed
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.series import Series
from bertviz_core.emergence.training_folder import find_training
from bertviz_core.models.allowed import trainings
from bertviz_core.models.checkpoint import Checkpoint, short_names
from pages.shared import jobs, messages, services, stored
from pages.shared.frame import address, choices
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize

SHIPPED = "small-bert"
ABOUT = "A small BERT (6 × 8 heads) trained from scratch on Wikipedia and novels. It is not the demo model."
HOW_TO_NAME = "Enter a local folder of checkpoint folders whose names end in their step: step-0000500, checkpoint-500. "


def result_or_stop(selection: Selection, options: DeltaGenerator) -> Emergence:
    """The chosen emergence, as far as it is stored; above it the offer to compute what is missing, or the running job.

    Args:
        selection: The choices of the header.
        options: Where the choice is drawn.

    Raises:
        BertvizError: A folder holds no training.
    """
    with options:
        chosen = _choose()
    if chosen == SHIPPED:
        st.caption(ABOUT)
        return services.shipped_emergence()
    training = find_training(chosen, services.access())
    treebank = selection.corpora["treebank"]
    series = Series(training, selection.corpora["text"], treebank, selection.settings)
    result, missing = services.emergence(series)
    if missing:
        _compute(series, missing)
    if result is None:
        address.stop()
    return memoize(_named, result, ((series.text.digest, series.text.name), (treebank.digest, treebank.name)))


def checkpoint(step: int) -> Checkpoint | None:
    """The model of a step; None of the training that ships, which has results alone."""
    chosen = st.session_state.get("training") or SHIPPED
    if chosen == SHIPPED:
        return None
    training = find_training(chosen, services.access())
    return dict(zip(training.steps, training.checkpoints, strict=True)).get(step)


def _named(result: Emergence, names: tuple[tuple[str, str], ...]) -> Emergence:
    """The emergence with this reader's names of its corpora: others may have uploaded the same under theirs."""
    named = renamed(result, dict(names))
    assert isinstance(named, Emergence)
    return named


def _choose() -> str:
    access = services.access()
    folders_limited = access.folders is not None
    folders: list[str] = st.session_state.setdefault("trainings", [*trainings(access)])
    if not folders_limited:
        folders += [folder for folder in _analyzed() if folder not in folders]
    requested = choices.ahead("training", SHIPPED)
    if requested not in (SHIPPED, *folders):
        folders.append(requested)
    names = short_names([SHIPPED, *folders])
    chosen = choices.selectbox(
        "Training",
        [SHIPPED, *folders],
        key="training",
        default=SHIPPED,
        accept_new_options=not folders_limited,
        format_func=lambda name: names.get(name, name),
        help=f"`{SHIPPED}` ships with the project. "
        + ("" if folders_limited else HOW_TO_NAME)
        + "The corpora, mode and settings under the title apply to all other trainings.",
    )
    return chosen or SHIPPED


def _analyzed() -> list[str]:
    """Folders of which two checkpoints or more were analyzed on a sample or on this reader's uploads."""
    names = stored.names("text")
    origins = [run.provenance for run in services.runs() if run.analysis == "surface_patterns"]
    models = {Path(origin["model"]["name"]) for origin in origins if origin["corpus"]["digest"] in names}
    folders = Counter(str(path.parent) for path in models if path.is_absolute())
    return sorted(folder for folder, count in folders.items() if count > 1 and Path(folder).is_dir())


def _compute(series: Series, missing: list[Request]) -> None:
    """The running job with Cancel, or the offer to start it."""
    requests = series.requests()
    key = jobs.everything_key(requests)
    if jobs.is_running(jobs.last(key), "Results of finished passes are stored."):
        return
    training = series.training
    steps = f"{len(training.steps)} checkpoints, steps {training.steps[0]:,} to {training.steps[-1]:,}"
    corpora = messages.plain(f"{series.text.name} and {series.treebank.name}")
    st.write(
        f"{steps}. Each is run on {corpora}, on this machine. {len(missing)} of {len(requests)} analyses are missing. "
        "Results are stored as each pass finishes, so a stopped job can resume. You can use other pages meanwhile."
    )
    for reason, entry in training.skipped.reasons.items():
        st.caption(f"{entry['count']} skipped, {messages.plain(reason)}: {messages.plain(', '.join(entry['where']))}")
    label = f"Analyze ({runtime_estimate.text(runtime_estimate.seconds(services.store(), passes(missing)))})"
    arguments = (key, requests, "Emergence")
    st.button(label, type="primary", icon=":material/play_arrow:", on_click=jobs.everything, args=arguments)
