"""What ships of the models that ship: tests ask it which head to look at, so that they hold for any demo model."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run.compute import find
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.engine.store import Store
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import DEMO, DEMO_DECODER
from bertviz_core.models.checkpoint import find_checkpoint as find_model
from bertviz_core.settings import Settings

COUNT = find_model(DEMO).layers * find_model(DEMO).heads  # heads of the demo model

OF_DECODERS = ("next_token",)  # analyses that the demo model, an encoder, does not allow


@cache
def result(analysis: str, model: str = "", **settings: Any) -> Any:
    """What ships of an analysis on the first sample of its kind, of a model; without one of the demo model, or of the
    demo decoder. Tests must not change it."""
    kind = ANALYSES[analysis]
    corpus, relevant = sample(next(iter(SAMPLES[kind.corpus]))), kind.relevant(Settings(**settings))
    checkpoint = find_model(model or (DEMO_DECODER if analysis in OF_DECODERS else DEMO))
    with tempfile.TemporaryDirectory() as folder:
        stored = find(Store(Path(folder)), Request(analysis, checkpoint, corpus, relevant))
    assert stored is not None, "run python -m training.sample_results"
    return stored


def values(quantity: str) -> np.ndarray:
    """(layer, head) values of a surface pattern on the sample text."""
    return np.asarray(result("surface_patterns")[quantity])


def clearest(quantity: str) -> str:
    """The label of the head with the highest value."""
    highest = values(quantity).argmax()
    return Head(*map(int, np.unravel_index(highest, values(quantity).shape))).key()
