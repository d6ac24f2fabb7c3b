"""What ships of the demo model: tests ask it which head to look at, so that they hold for any demo model."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import find
from bertviz_core.corpora.files import sample
from bertviz_core.engine.store import Store
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import DEMO
from bertviz_core.models.checkpoint import find as find_model

COUNT = find_model(DEMO).layers * find_model(DEMO).heads  # heads of the demo model


@cache
def values(quantity: str) -> np.ndarray:
    """(layer, head) values of a surface pattern on the sample text."""
    with tempfile.TemporaryDirectory() as folder:
        result = find(Store(Path(folder)), Request("surface_patterns", find_model(DEMO), sample("encyclopedia")))
    assert result is not None
    return np.asarray(result[quantity])


def clearest(quantity: str) -> str:
    """The label of the head with the highest value."""
    highest = values(quantity).argmax()
    return Head(*map(int, np.unravel_index(highest, values(quantity).shape))).label()
