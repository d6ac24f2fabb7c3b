"""The choice of a training, and its stored results or the offer to compute them."""

from collections.abc import Mapping
from typing import cast

import streamlit as st

from bertviz_core.corpora import describe_skipped
from bertviz_core.corpora.source import Source
from bertviz_core.emergence import series
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.training import find_training
from bertviz_core.models.checkpoint import DEMO_DECODER, Checkpoint, find_checkpoint, short_names
from bertviz_core.models.model_sources import trainings
from pages.shared import jobs, page, services, stored, widgets
from pages.shared.costly import renamed, shipped
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import EmergenceChoices
from pages.shared.state.selection import Selection

SHIPPED = EmergenceChoices.training
LOCAL = "Enter a local folder of checkpoint folders whose names end in their step: step-0000500, checkpoint-500. "
HUB = (
    "Or enter revisions of a hub model: `owner/name@step*` for all that begin so, `owner/name@step0,step1000` for two. "
)


def choose_training() -> str:
    """Draw the choice of the training."""
    now = session.current()
    access = services.access()
    if not now.trainings:
        now.trainings = [SHIPPED, *trainings(access)]
    name = session.page(EmergenceChoices).training
    if name not in now.trainings:
        now.trainings.append(name)
    options = page.options_popover()
    if not options.open:
        return name
    short = short_names(now.trainings)
    how = (LOCAL if access.folders is None else "") + (HUB if access.downloads != 0 else "")
    with options:
        return widgets.select(
            "Training",
            now.trainings,
            "training",
            name,
            accept_new_options=bool(how),
            format_func=lambda folder: short.get(folder, folder),
            help=f"`{SHIPPED}` ships with the project. {how}"
            "The corpora, mode and settings under the title apply to all other trainings.",
        )


def result_or_stop(name: str, selection: Selection) -> tuple[Emergence, Mapping[int, Checkpoint]]:
    """A training, and the checkpoints by their steps, of the one that ships only the last; the page ends where nothing
    is stored."""
    if name == SHIPPED:
        st.caption("The training of `demo-decoder` (4 × 8 heads) from random weights, on Wikipedia and novels.")
        return shipped(), {int(shipped().steps[-1]): find_checkpoint(DEMO_DECODER)}
    training = find_training(name, services.access())
    sources = selection.corpora["text"], selection.corpora["treebank"]
    passes = series.CheckpointRequests(training, *sources, selection.settings)
    emergence, missing = services.emergence(passes)
    requests = passes.requests()
    key = jobs.everything_key(requests)
    if missing and not jobs.is_running(jobs.last(key), "Results of finished passes are stored."):
        st.write(
            f"{len(training.steps)} checkpoints, steps {training.steps[0]:,} to {training.steps[-1]:,}. Each is run on "
            f"{plain(' and '.join(source.name for source in sources))}, on this machine. {len(missing)} of "
            f"{len(requests)} analyses are missing. Results are stored as each pass finishes, so a stopped job can "
            "resume. You can use other pages meanwhile."
        )
        stored.start_button(stored.timed("Analyze", stored.duration(missing)), key, "Emergence", requests)
    for line in describe_skipped(training.skipped.to_json()):
        st.caption(f":material/info: {plain(f'Left out of these numbers: {line}.')}")
    if emergence is None:
        raise session.PageEnd
    return _named(emergence, sources), dict(zip(training.steps, training.checkpoints, strict=True))


def _named(emergence: Emergence, sources: tuple[Source, ...]) -> Emergence:
    """A training with the corpora as this reader names them."""
    return cast(Emergence, renamed(emergence, {source.digest: source.name for source in sources}))
