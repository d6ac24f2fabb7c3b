"""Compute the training that ships for the page Emergence, from the checkpoints of train_demo_decoder.py.

    python -m training.sample_emergence RUN

Results of steps that were computed before are read from the store.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bertviz_core.analyses.run.compute import compute_all, find
from bertviz_core.corpora.files import sample
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.series import SHIPPED, CheckpointRequests
from bertviz_core.emergence.training import find_training
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.models.checkpoint import DEMO_DECODER
from bertviz_core.settings import Settings


def emergence_of(run: Path, store: Store) -> Emergence:
    """The emergence of the checkpoints in a folder, on the samples, under the name of the model that ships."""
    training = replace(find_training(run), name=DEMO_DECODER)
    passes = CheckpointRequests(training, sample("encyclopedia"), sample("treebank"), Settings())
    compute_all(passes.requests(), store, progress=Progress())
    return passes.assemble(partial(find, store))


def main(run: Annotated[Path, typer.Argument(help="The folder of the run.")]) -> None:
    """Write bertviz_core/assets/emergence/demo-decoder.safetensors."""
    result = emergence_of(run, Store())
    SHIPPED.parent.mkdir(exist_ok=True)
    SHIPPED.write_bytes(result.to_bytes())
    print(f"{len(result.steps)} steps, {SHIPPED.stat().st_size / 1e6:.1f} MB. {result.headline()}")


if __name__ == "__main__":
    typer.run(main)
