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
from bertviz_core.models.checkpoint import DEMO
from bertviz_core.models.checkpoint import find_checkpoint as find_model
from bertviz_core.settings import Settings

COUNT = find_model(DEMO).layers * find_model(DEMO).heads  # heads of the demo model


@cache
def result(analysis: str, model: str = DEMO, **settings: Any) -> Any:
    """What ships of an analysis of a model on the first sample of its kind; tests must not change it."""
    kind = ANALYSES[analysis]
    corpus, relevant = sample(next(iter(SAMPLES[kind.corpus]))), kind.relevant(Settings(**settings))
    with tempfile.TemporaryDirectory() as folder:
        stored = find(Store(Path(folder)), Request(analysis, find_model(model), corpus, relevant))
    assert stored is not None, "run python -m training.sample_results"
    return stored


def values(quantity: str) -> np.ndarray:
    """(layer, head) values of a surface pattern on the sample text."""
    return np.asarray(result("surface_patterns")[quantity])


def clearest(quantity: str) -> str:
    """The label of the head with the highest value."""
    highest = values(quantity).argmax()
    return Head(*map(int, np.unravel_index(highest, values(quantity).shape))).key()
